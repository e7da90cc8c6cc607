#include "afterimage/kv.h"

#include <cassert>
#include <cstring>

namespace afterimage {

uint64_t KvLayout::bytes_per_token() const {
  uint64_t bytes = 0;
  for (const Layer& layer : layers) bytes += layer.k_row_bytes + layer.v_row_bytes;
  return bytes;
}

Status SpanKvSource::CopyTo(std::span<const std::span<std::byte>> parts) {
  size_t offset = 0;
  for (const std::span<std::byte> part : parts) {
    assert(part.size() <= rows_.size() - offset);
    std::memcpy(part.data(), rows_.data() + offset, part.size());
    offset += part.size();
  }
  return {};
}

}  // namespace afterimage
