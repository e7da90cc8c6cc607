#include "embed/remembering_encoder.h"

#include <cassert>

namespace afterimage {

RememberingEncoder::RememberingEncoder(std::unique_ptr<TextEncoder> encoder, size_t capacity)
    : encoder_(std::move(encoder)), capacity_(capacity) {
  assert(capacity_ >= 1);
}

Result<std::vector<float>> RememberingEncoder::Encode(std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = at_.find(text); found != at_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
  }
  Result<std::vector<float>> vector = encoder_->Encode(text);  // takes milliseconds; the others go on
  if (!vector.ok()) return vector;
  const std::lock_guard lock(mutex_);
  if (at_.contains(text)) return vector;
  entries_.emplace_front(text, *vector);
  at_.emplace(entries_.front().first, entries_.begin());
  if (entries_.size() > capacity_) {
    at_.erase(entries_.back().first);
    entries_.pop_back();
  }
  return vector;
}

}  // namespace afterimage
