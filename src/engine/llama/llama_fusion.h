// The built-in FusionProvider: libmtmd's output rows, as one tensor per image segment.
//
// A row is what the language model takes for one image token: the projector's output and, in models with deepstack,
// the features added after its first layers. Kept in 32-bit floats: halves would not give the same bits back.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_FUSION_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_FUSION_H_

#include "afterimage/fusion.h"
#include "engine/llama/llama_prompt.h"

namespace afterimage {

class LlamaFusion : public FusionProvider {
 public:
  // REQUIRES: the runtime outlives it.
  explicit LlamaFusion(const LlamaRuntime& runtime) : runtime_(runtime) {}

  std::string name() const override { return "llama.mtmd/1"; }
  Result<std::vector<NamedTensor>> Capture(Prompt& prompt, size_t segment) override;
  Status Inject(Prompt& prompt, size_t segment, std::span<const NamedTensor> tensors) override;

 private:
  // The prompt as ours, if `segment` is one of its pictures.
  Result<LlamaPrompt*> PictureOf(Prompt& prompt, size_t segment) const;

  const LlamaRuntime& runtime_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_FUSION_H_
