#include "engine/llama/llama_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/utf8.h"
#include "engine/llama/guarded.h"
#include "engine/llama/sampler.h"

namespace afterimage {
namespace {

std::string PieceOf(const llama_vocab* vocab, llama_token token) {
  std::array<char, 256> buffer;
  int32_t n = llama_token_to_piece(vocab, token, buffer.data(), buffer.size(), 0, /*special=*/false);
  if (n >= 0) return std::string(buffer.data(), static_cast<size_t>(n));
  std::string piece(static_cast<size_t>(-n), '\0');
  n = llama_token_to_piece(vocab, token, piece.data(), static_cast<int32_t>(piece.size()), 0, /*special=*/false);
  piece.resize(static_cast<size_t>(std::max(n, 0)));
  return piece;
}

Error NotFinite() { return Error{Errc::kInternal, "the model computed logits that are not finite"}; }

}  // namespace

LlamaSequence::~LlamaSequence() {
  // A place that could not be cleaned is not given to anybody again.
  if (Empty().ok()) runtime_.GiveBackSequence(id_);
}

Status LlamaSequence::Empty() {
  // Rows put back were looked at. Rows the model computed are looked at when they are captured; when they are not, the
  // logits computed over them show it: one value that is not a number makes them all so. (An infinity can hide behind a
  // weight of zero; a model that computes one is broken in ways we do not mend.)
  const bool computed_unseen = n_cells_computed_ > 0 && (logits_.empty() || !AllFinite(logits_));
  Status status;
  if (dirty_ || computed_unseen) {
    status = runtime_.Scrub(id_, stats_.tokens_reused + n_cells_computed_);
  } else {
    runtime_.Clear(id_);
  }
  n_done_ = 0;
  n_cells_computed_ = 0;
  dirty_ = false;
  logits_.clear();
  return status;
}

Status LlamaSequence::CheckChunks(std::span<KvSource* const> chunks, std::span<const float> logits) const {
  if (!runtime_.state_format().ok()) return runtime_.state_format().error();
  const std::span<const Segment> segments = prompt_.segments();
  if (n_done_ != 0) return Error{Errc::kInvalidArgument, "the sequence already holds state"};
  if (chunks.empty() || chunks.size() > segments.size()) {
    return Error{Errc::kInvalidArgument, fmt::format("{} chunks for {} segments", chunks.size(), segments.size())};
  }
  const bool whole = chunks.size() == segments.size();
  if (whole && logits.size() != static_cast<size_t>(runtime_.vocab_size())) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("a whole prompt needs its {} last logits, not {}", runtime_.vocab_size(), logits.size())};
  }
  if (!whole && !logits.empty()) return Error{Errc::kInvalidArgument, "logits belong to a whole prompt only"};
  if (!AllFinite(logits)) return Error{Errc::kCorrupt, "stored logits hold values that are not finite"};
  const uint64_t row_bytes = runtime_.state_format()->row_bytes();
  for (size_t i = 0; i < chunks.size(); ++i) {
    const uint64_t expected = static_cast<uint64_t>(segments[i].n_tokens) * row_bytes;
    if (chunks[i]->size() != expected) {
      return Error{Errc::kCorrupt,
                   fmt::format("chunk {} has {} bytes, its segment {}", i, chunks[i]->size(), expected)};
    }
  }
  return {};
}

Status LlamaSequence::Inject(std::span<KvSource* const> chunks, std::span<const float> logits) {
  if (Status status = CheckChunks(chunks, logits); !status.ok()) return status;
  std::unique_ptr<StagingBuffer> staging = runtime_.TakeStaging();
  Status status = Guarded("putting rows back", [&] { return Load(chunks, *staging); });
  runtime_.GiveBackStaging(std::move(staging));
  if (!status.ok()) return status;
  n_done_ = chunks.size();
  stats_.tokens_reused = prompt_.n_tokens_before(n_done_);
  logits_.assign(logits.begin(), logits.end());
  return {};
}

Status LlamaSequence::Load(std::span<KvSource* const> chunks, StagingBuffer& staging) {
  double total_ms = 0;
  double load_ms = 0;
  Status status;
  {
    const StageTimer total(clock_, total_ms);
    std::vector<StateCell> cells;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const std::vector<StateCell> own = prompt_.CellsOf(i);
      cells.insert(cells.end(), own.begin(), own.end());
    }
    StateBuilder builder(*runtime_.state_format(), cells, staging);
    size_t first = 0;
    for (size_t i = 0; i < chunks.size() && status.ok(); ++i) {
      const StageTimer load(clock_, load_ms);
      const auto count = static_cast<size_t>(prompt_.segments()[i].n_tokens);
      const std::vector<std::span<std::byte>> parts = builder.RowsOf(first, count);
      status = chunks[i]->CopyTo(parts);
      for (size_t part = 0; part < parts.size() && status.ok(); ++part) {
        const StateFormat::Layer& layer = runtime_.state_format()->layers[part / 2];
        if (!AllFinite(parts[part], part % 2 == 0 ? layer.k_type : layer.v_type)) {
          status = Error{Errc::kCorrupt, "stored rows hold values that are not finite"};
        }
      }
      first += count;
    }
    if (status.ok()) status = runtime_.LoadState(id_, builder.blob());
  }
  stats_.load_ms += load_ms;
  stats_.inject_ms += total_ms - load_ms;
  return status;
}

Status LlamaSequence::Prefill() {
  while (n_done_ < prompt_.segments().size()) {
    n_cells_computed_ += prompt_.segments()[n_done_].n_tokens;
    const SequenceStats before = {.encode_ms = stats_.encode_ms, .prefill_ms = stats_.prefill_ms};
    if (Status status = PrefillSegment(n_done_); !status.ok()) {
      const Status emptied = Empty();
      stats_ = {};
      return emptied.ok() ? status : emptied;
    }
    stats_.tokens_computed += prompt_.segments()[n_done_].n_tokens;
    stats_.steps.push_back({n_done_, stats_.encode_ms - before.encode_ms, stats_.prefill_ms - before.prefill_ms});
    ++n_done_;
  }
  return {};
}

Status LlamaSequence::PrefillSegment(size_t index) {
  const Segment& segment = prompt_.segments()[index];
  if (segment.kind == Segment::Kind::kText) {
    const StageTimer timer(clock_, stats_.prefill_ms);
    const bool last = index + 1 == prompt_.segments().size();
    Status status = runtime_.DecodeText(id_, segment.tokens, segment.first_position, last ? &logits_ : nullptr);
    if (status.ok() && last && !AllFinite(logits_)) return NotFinite();
    return status;
  }
  ++(prompt_.has_encoder_output(index) ? stats_.images_put_back : stats_.images_encoded);
  const Result<std::span<const float>> output = [&] {
    const StageTimer timer(clock_, stats_.encode_ms);
    return prompt_.EncoderOutput(index);
  }();
  if (!output.ok()) return output.error();
  const StageTimer timer(clock_, stats_.prefill_ms);
  return runtime_.DecodeImage(id_, prompt_.image_chunk(index), *output, segment.first_position);
}

bool LlamaSequence::IsStop(const Sampling& sampling, llama_token token) const {
  return llama_vocab_is_eog(runtime_.vocab(), token) || std::ranges::count(sampling.stop_tokens, token) > 0;
}

Result<Answer> LlamaSequence::Generate(const Sampling& sampling, const TextCallback& on_text) {
  if (logits_.empty()) return Error{Errc::kInvalidArgument, "the prompt is not prefilled"};
  Result<Sampler> sampler = Sampler::Make(sampling);
  if (!sampler.ok()) return sampler.error();
  const StageTimer timer(clock_, stats_.decode_ms);
  Answer answer;
  Utf8Stream utf8;
  const auto emit = [&](const std::string& piece) {
    answer.text += piece;
    return piece.empty() || on_text == nullptr || on_text(piece);
  };
  for (;;) {
    const llama_token token = sampler->Pick(logits_);
    if (IsStop(sampling, token)) {
      answer.finish = Answer::Finish::kStop;
      break;
    }
    answer.tokens.push_back(token);
    const auto n_generated = static_cast<int>(answer.tokens.size());
    stats_.tokens_generated = n_generated;
    if (!emit(utf8.Push(PieceOf(runtime_.vocab(), token)))) {
      answer.finish = Answer::Finish::kCancelled;
      return answer;
    }
    if (n_generated == sampling.max_tokens) {
      answer.finish = Answer::Finish::kMaxTokens;
      break;
    }
    if (prompt_.n_tokens() + n_generated > runtime_.context_tokens()) {
      answer.finish = Answer::Finish::kContextFull;
      break;
    }
    const llama_pos position = prompt_.n_positions() + n_generated - 1;
    ++n_cells_computed_;
    if (Status status = runtime_.DecodeText(id_, std::span(&token, 1), position, &logits_); !status.ok()) {
      return status.error();
    }
    if (!AllFinite(logits_)) return NotFinite();
  }
  emit(utf8.Finish());
  return answer;
}

Result<std::vector<std::vector<std::byte>>> LlamaSequence::Capture(size_t first, size_t count) {
  if (!runtime_.state_format().ok()) return runtime_.state_format().error();
  if (count == 0 || first > n_done_ || count > n_done_ - first) {
    return Error{Errc::kInvalidArgument, "only segments that were prefilled can be captured"};
  }
  std::vector<std::vector<StateCell>> runs;
  for (size_t i = first; i < first + count; ++i) runs.push_back(prompt_.CellsOf(i));
  Result<std::vector<std::vector<std::byte>>> rows = runtime_.CaptureRows(id_, runs);
  dirty_ = dirty_ || !rows.ok();  // one reason is that they are not finite
  return rows;
}

}  // namespace afterimage
