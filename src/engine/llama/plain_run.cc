#include "engine/llama/plain_run.h"

#include <algorithm>

#include "engine/llama/llama_prompt.h"

namespace afterimage {
namespace {

Status RunText(LlamaRuntime& runtime, llama_seq_id id, std::span<const llama_token> tokens, llama_pos position,
               std::vector<float>* logits) {
  const auto batch = static_cast<size_t>(runtime.batch_tokens());
  for (size_t first = 0; first < tokens.size(); first += batch) {
    const size_t count = std::min(batch, tokens.size() - first);
    const bool last = first + count == tokens.size();
    if (Status status = runtime.DecodeText(id, tokens.subspan(first, count), position + static_cast<llama_pos>(first),
                                           last ? logits : nullptr);
        !status.ok()) {
      return status;
    }
  }
  return {};
}

Status RunSegments(LlamaPrompt& prompt, llama_seq_id id, const Clock& clock, PlainRun& run) {
  const std::span<const Segment> segments = prompt.segments();
  for (size_t i = 0; i < segments.size();) {
    const llama_pos position = segments[i].first_position;
    if (segments[i].kind == Segment::Kind::kImage) {
      const Result<std::span<const float>> output = [&] {
        const StageTimer timer(clock, run.encode_ms);
        return prompt.EncoderOutput(i);
      }();
      if (!output.ok()) return output.error();
      const StageTimer timer(clock, run.prefill_ms);
      const mtmd_input_chunk* chunk = prompt.image_chunk(i);
      if (Status status = prompt.runtime().DecodeImage(id, chunk, *output, position); !status.ok()) return status;
      ++i;
      continue;
    }
    std::vector<llama_token> tokens;
    for (; i < segments.size() && segments[i].kind == Segment::Kind::kText; ++i) {
      tokens.insert(tokens.end(), segments[i].tokens.begin(), segments[i].tokens.end());
    }
    const StageTimer timer(clock, run.prefill_ms);
    if (Status status = RunText(prompt.runtime(), id, tokens, position, i == segments.size() ? &run.logits : nullptr);
        !status.ok()) {
      return status;
    }
  }
  return {};
}

}  // namespace

Result<PlainRun> RunPlain(Prompt& prompt, const Clock& clock) {
  auto* ours = dynamic_cast<LlamaPrompt*>(&prompt);
  if (ours == nullptr) return Error{Errc::kInvalidArgument, "the prompt was made by another engine"};
  LlamaRuntime& runtime = ours->runtime();
  PlainRun run;
  const std::optional<llama_seq_id> id = runtime.TakeSequence();
  if (!id.has_value()) return Error{Errc::kBusy, "all sequences of the context are in use"};
  const Status status = RunSegments(*ours, *id, clock, run);
  runtime.Clear(*id);
  runtime.GiveBackSequence(*id);
  if (!status.ok()) return status.error();
  return run;
}

}  // namespace afterimage
