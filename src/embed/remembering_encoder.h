// RememberingEncoder: a TextEncoder that keeps the vectors of the last texts it was asked for.
//
// A question is encoded when it is looked up and again when it is kept, by every layer that goes by its text; the model
// should see it once. Two threads that ask for the same new text at the same time may both encode it.
#ifndef AFTERIMAGE_EMBED_REMEMBERING_ENCODER_H_
#define AFTERIMAGE_EMBED_REMEMBERING_ENCODER_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "afterimage/text_encoder.h"

namespace afterimage {

class RememberingEncoder : public TextEncoder {
 public:
  // REQUIRES: capacity >= 1
  explicit RememberingEncoder(std::unique_ptr<TextEncoder> encoder, size_t capacity = 64);

  int dim() const override { return encoder_->dim(); }
  const std::string& identity() const override { return encoder_->identity(); }
  // Errors are not remembered.
  Result<std::vector<float>> Encode(std::string_view text) override;

 private:
  using Entry = std::pair<const std::string, std::vector<float>>;

  const std::unique_ptr<TextEncoder> encoder_;
  const size_t capacity_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::list<Entry> entries_;                                             // the last used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> at_;  // keys lie in entries_
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_REMEMBERING_ENCODER_H_
