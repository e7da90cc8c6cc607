#include "store/memory_chunk.h"

#include <cassert>
#include <cstring>
#include <utility>

namespace afterimage {
namespace {

class MemoryChunk : public StoredChunk {
 public:
  MemoryChunk(SharedChunk chunk, std::atomic<uint64_t>& bytes_read)
      : chunk_(std::move(chunk)), bytes_read_(bytes_read) {}

  const ChunkHeader& header() const override { return chunk_->header; }

  Status Read(std::span<const std::span<std::byte>> parts, std::vector<float>* logits) override {
    Scatter(chunk_->rows(), parts);
    if (logits != nullptr) {
      logits->resize(chunk_->logits().size() / sizeof(float));
      Scatter(chunk_->logits(), std::vector{std::as_writable_bytes(std::span(*logits))});
    }
    bytes_read_ += chunk_->bytes.size();
    return {};
  }

 private:
  const SharedChunk chunk_;
  std::atomic<uint64_t>& bytes_read_;
};

}  // namespace

SharedChunk CopyChunk(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits) {
  assert(rows.size() == header.rows_bytes && logits.size() == header.logits_bytes);
  auto chunk = std::make_shared<ChunkBytes>();
  chunk->header = header;
  const std::vector<std::byte> encoded = EncodeHeader(header);
  chunk->header_bytes = encoded.size();
  chunk->bytes.reserve(encoded.size() + rows.size() + logits.size());  // and so nothing is zeroed first
  for (const std::span<const std::byte> part : {std::span(encoded), rows, logits}) {
    chunk->bytes.insert(chunk->bytes.end(), part.begin(), part.end());
  }
  return chunk;
}

std::unique_ptr<StoredChunk> ReadFromMemory(SharedChunk chunk, std::atomic<uint64_t>& bytes_read) {
  return std::make_unique<MemoryChunk>(std::move(chunk), bytes_read);
}

void Scatter(std::span<const std::byte> bytes, std::span<const std::span<std::byte>> parts) {
  for (const std::span<std::byte> part : parts) {
    assert(part.size() <= bytes.size());
    if (!part.empty()) std::memcpy(part.data(), bytes.data(), part.size());
    bytes = bytes.subspan(part.size());
  }
  assert(bytes.empty());
}

}  // namespace afterimage
