// TextEncoder: turns a text into a unit vector; texts of like meaning get vectors of high cosine.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_TEXT_ENCODER_H_
#define AFTERIMAGE_TEXT_ENCODER_H_

#include <string>
#include <string_view>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  virtual int dim() const = 0;
  virtual const std::string& identity() const = 0;  // names weights and version; vectors of another are not comparable

  // A text longer than the encoder's context is cut. Errors: kInvalidArgument (not UTF-8), kInternal.
  virtual Result<std::vector<float>> Encode(std::string_view text) = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_TEXT_ENCODER_H_
