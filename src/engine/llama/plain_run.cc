#include "engine/llama/plain_run.h"

#include <algorithm>

#include "engine/llama/llama_prompt.h"

namespace afterimage {
namespace {

Status RunChunks(LlamaRuntime& runtime, llama_seq_id id, const mtmd_input_chunks* chunks, const Clock& clock,
                 PlainRun& run) {
  llama_pos position = 0;
  const size_t n_chunks = mtmd_input_chunks_size(chunks);
  for (size_t i = 0; i < n_chunks; ++i) {
    const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks, i);
    const llama_pos next = position + mtmd_input_chunk_get_n_pos(chunk);
    if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT) {
      const StageTimer timer(clock, run.prefill_ms);
      size_t n = 0;
      const llama_token* tokens = mtmd_input_chunk_get_tokens_text(chunk, &n);
      const auto batch = static_cast<size_t>(runtime.batch_tokens());
      for (size_t first = 0; first < n; first += batch) {
        const size_t count = std::min(batch, n - first);
        const bool last = i + 1 == n_chunks && first + count == n;
        if (Status status = runtime.DecodeText(id, {tokens + first, count}, position + static_cast<llama_pos>(first),
                                               last ? &run.logits : nullptr);
            !status.ok()) {
          return status;
        }
      }
    } else {
      Result<std::vector<float>> output = [&] {
        const StageTimer timer(clock, run.encode_ms);
        return runtime.Encode(chunk);
      }();
      if (!output.ok()) return output.error();
      const StageTimer timer(clock, run.prefill_ms);
      if (Status status = runtime.DecodeImage(id, chunk, *output, position); !status.ok()) return status;
    }
    position = next;
  }
  return {};
}

}  // namespace

Result<PlainRun> RunPlain(const Prompt& prompt, const Clock& clock) {
  const auto* ours = dynamic_cast<const LlamaPrompt*>(&prompt);
  if (ours == nullptr) return Error{Errc::kInvalidArgument, "the prompt was made by another engine"};
  LlamaRuntime& runtime = ours->runtime();
  PlainRun run;
  Result<mtmd::input_chunks_ptr> chunks = [&] {
    const StageTimer timer(clock, run.encode_ms);
    return ours->TokenizeWithPixels();
  }();
  if (!chunks.ok()) return chunks.error();
  const std::optional<llama_seq_id> id = runtime.TakeSequence();
  if (!id.has_value()) return Error{Errc::kBusy, "all sequences of the context are in use"};
  const Status status = RunChunks(runtime, *id, chunks->get(), clock, run);
  runtime.Clear(*id);
  runtime.GiveBackSequence(*id);
  if (!status.ok()) return status.error();
  return run;
}

}  // namespace afterimage
