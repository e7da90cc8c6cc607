// LlamaSequence: one prompt being answered in a LlamaRuntime.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_SEQUENCE_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_SEQUENCE_H_

#include <memory>
#include <span>
#include <vector>

#include "afterimage/clock.h"
#include "afterimage/engine.h"
#include "engine/llama/llama_prompt.h"
#include "engine/llama/llama_runtime.h"

namespace afterimage {

class LlamaSequence : public Sequence {
 public:
  // Takes over sequence `id` of the runtime. REQUIRES: runtime, prompt and clock outlive it.
  LlamaSequence(LlamaRuntime& runtime, LlamaPrompt& prompt, llama_seq_id id, const Clock& clock)
      : runtime_(runtime), prompt_(prompt), id_(id), clock_(clock) {}
  ~LlamaSequence() override;

  Status Inject(std::span<KvSource* const> chunks, std::span<const float> logits) override;
  Status Prefill() override;
  std::span<const float> logits() const override { return logits_; }
  Result<Answer> Generate(const Sampling& sampling, const TextCallback& on_text) override;
  Result<std::vector<std::vector<std::byte>>> Capture(size_t first, size_t count) override;
  const SequenceStats& stats() const override { return stats_; }

 private:
  Status CheckChunks(std::span<KvSource* const> chunks, std::span<const float> logits) const;
  Status Load(std::span<KvSource* const> chunks, StagingBuffer& staging);
  Status PrefillSegment(size_t segment);
  // Takes everything out of the context, and makes sure that nothing left behind can reach a later request.
  // Errors: that could not be done.
  Status Empty();
  bool IsStop(const Sampling& sampling, llama_token token) const;

  LlamaRuntime& runtime_;
  LlamaPrompt& prompt_;
  llama_seq_id id_;
  const Clock& clock_;
  size_t n_done_ = 0;          // segments in the context
  int n_cells_computed_ = 0;   // cells the model wrote, of the prompt or the answer
  std::vector<float> logits_;  // after the last token in the context; empty until the prompt is whole
  bool dirty_ = false;         // rows in the context may hold values that are not finite
  SequenceStats stats_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_SEQUENCE_H_
