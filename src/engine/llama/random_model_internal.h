// The parts of WriteRandomModel: RandomGguf writes a file, the two Add functions say what is in it.
#ifndef AFTERIMAGE_ENGINE_LLAMA_RANDOM_MODEL_INTERNAL_H_
#define AFTERIMAGE_ENGINE_LLAMA_RANDOM_MODEL_INTERNAL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "afterimage/result.h"
#include "engine/llama/random_model.h"
#include "ggml.h"
#include "gguf.h"

namespace afterimage {

// RandomGguf: the keys and tensors of one GGUF file.
//
// Tensors are only described until Write makes their values, a megabyte at a time: a file of any size costs little
// memory. The values of a tensor depend on the seed and its name alone, not on the tensors around it.
class RandomGguf {
 public:
  explicit RandomGguf(uint64_t seed);

  void SetString(const std::string& key, const std::string& value);
  void SetUint(const std::string& key, int value);
  void SetFloat(const std::string& key, float value);
  void SetBool(const std::string& key, bool value);
  void SetStrings(const std::string& key, const std::vector<std::string>& values);
  void SetInts(const std::string& key, const std::vector<int32_t>& values);
  void SetFloats(const std::string& key, const std::vector<float>& values);

  // Values uniform around mean with the given standard deviation. Dimensions in ggml's order, fastest first; unused
  // ones are 1. Types: F32, F16, Q8_0 (whose mean is 0).
  void AddTensor(const std::string& name, ggml_type type, std::array<int64_t, 4> dimensions, double mean,
                 double deviation);
  // [inputs, outputs], scaled so that outputs are about as large as inputs.
  void AddMatrix(const std::string& name, ggml_type type, int64_t inputs, int64_t outputs);
  void AddNorm(const std::string& name, int64_t size);  // about 1
  void AddBias(const std::string& name, int64_t size);  // about 0
  // <name>.weight and <name>.bias
  void AddLinear(const std::string& name, ggml_type type, int64_t inputs, int64_t outputs);
  void AddLayerNorm(const std::string& name, int64_t size);

  // Writes under a temporary name and renames. Does nothing if path holds a file of the same keys, tensors and length.
  // Call once.
  Status Write(const std::string& path);

 private:
  struct Tensor {
    std::string name;
    ggml_type type;
    std::array<int64_t, 4> dimensions;
    double mean;
    double deviation;
  };
  struct FreeGguf {
    void operator()(gguf_context* context) const { gguf_free(context); }
  };

  // The bytes before the tensor data.
  std::vector<char> Header();

  const uint64_t seed_;
  std::unique_ptr<gguf_context, FreeGguf> gguf_;
  std::vector<Tensor> tensors_;
};

void AddLanguageModel(const RandomModelShape& shape, RandomGguf& file);

// REQUIRES: shape.family != kText
void AddVision(const RandomModelShape& shape, RandomGguf& file);

// The smallest vocabulary a language model can have: bytes, control tokens and one merge.
int MinVocabulary();

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_RANDOM_MODEL_INTERNAL_H_
