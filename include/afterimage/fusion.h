// FusionProvider: the output of the vision encoder, taken out of an engine and put back.
//
// What the encoder and projector make of one picture (one image segment) is a list of named tensors. A prompt that
// holds them prefills that segment without running the encoder. The provider's name is stored with the tensors.
#ifndef AFTERIMAGE_FUSION_H_
#define AFTERIMAGE_FUSION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "afterimage/prompt.h"
#include "afterimage/result.h"

namespace afterimage {

struct NamedTensor {
  std::string name;
  std::vector<int64_t> shape;  // outermost first; 32-bit floats
  std::vector<float> values;
};

class FusionProvider {
 public:
  virtual ~FusionProvider() = default;

  // Names the meaning of the tensors, with its version: "llama.mtmd/1".
  virtual std::string name() const = 0;

  // The tensors of an image segment, encoding the picture if the prompt does not hold them yet.
  // Errors: kInvalidArgument if the segment is not a picture, kInternal if the encoder fails.
  virtual Result<std::vector<NamedTensor>> Capture(Prompt& prompt, size_t segment) = 0;

  // Gives the prompt the tensors of an image segment. Names and shapes must be those Capture returns for it.
  // Errors: kInvalidArgument, kCorrupt (other names or shapes); the prompt is then unchanged.
  virtual Status Inject(Prompt& prompt, size_t segment, std::span<const NamedTensor> tensors) = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_FUSION_H_
