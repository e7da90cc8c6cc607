#include "engine/llama/llama_fusion.h"

namespace afterimage {
namespace {

constexpr char kTensorName[] = "projector_output";

std::vector<int64_t> ShapeOf(const LlamaPrompt& prompt, size_t segment) {
  return {prompt.segments()[segment].n_tokens, prompt.runtime().image_row_floats()};
}

}  // namespace

Result<LlamaPrompt*> LlamaFusion::PictureOf(Prompt& prompt, size_t segment) const {
  auto* ours = dynamic_cast<LlamaPrompt*>(&prompt);
  if (ours == nullptr || &ours->runtime() != &runtime_) {
    return Error{Errc::kInvalidArgument, "the prompt was prepared by another engine"};
  }
  if (segment >= prompt.segments().size() || prompt.segments()[segment].kind != Segment::Kind::kImage) {
    return Error{Errc::kInvalidArgument, "the segment is not a picture"};
  }
  return ours;
}

Result<std::vector<NamedTensor>> LlamaFusion::Capture(Prompt& prompt, size_t segment) {
  const Result<LlamaPrompt*> ours = PictureOf(prompt, segment);
  if (!ours.ok()) return ours.error();
  const Result<std::span<const float>> output = (*ours)->EncoderOutput(segment);
  if (!output.ok()) return output.error();
  std::vector<NamedTensor> tensors;
  tensors.push_back({kTensorName, ShapeOf(**ours, segment), {output->begin(), output->end()}});
  return tensors;
}

Status LlamaFusion::Inject(Prompt& prompt, size_t segment, std::span<const NamedTensor> tensors) {
  const Result<LlamaPrompt*> ours = PictureOf(prompt, segment);
  if (!ours.ok()) return ours.error();
  const std::vector<int64_t> shape = ShapeOf(**ours, segment);
  if (tensors.size() != 1 || tensors[0].name != kTensorName || tensors[0].shape != shape ||
      tensors[0].values.size() != static_cast<size_t>(shape[0] * shape[1])) {
    return Error{Errc::kCorrupt, "stored encoder output is not of this picture's shape"};
  }
  if (!AllFinite(tensors[0].values)) {
    return Error{Errc::kCorrupt, "stored encoder output holds values that are not finite"};
  }
  (*ours)->PutBackEncoderOutput(segment, tensors[0].values);
  return {};
}

}  // namespace afterimage
