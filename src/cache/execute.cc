#include "cache/execute.h"

namespace afterimage {
namespace {

// A stored chunk as the engine reads it, with the time that took.
class ChunkSource final : public KvSource {
 public:
  ChunkSource(std::unique_ptr<StoredChunk> chunk, const Clock& clock) : chunk_(std::move(chunk)), clock_(clock) {}

  uint64_t size() const override { return chunk_->header().rows_bytes; }
  Status CopyTo(std::span<const std::span<std::byte>> parts) override {
    const StageTimer timer(clock_, ms_);
    Status status = chunk_->Read(parts, nullptr);
    failed_ = !status.ok();
    return status;
  }
  double ms() const { return ms_; }
  bool failed() const { return failed_; }

 private:
  std::unique_ptr<StoredChunk> chunk_;
  const Clock& clock_;
  double ms_ = 0;
  bool failed_ = false;
};

// The chunk, if it is still held and is what the prompt's segment needs. `info` is what the plan was made with.
Result<std::unique_ptr<StoredChunk>> Open(ChunkStore& store, const Digest& id, const ChunkInfo& info,
                                          ChunkHeader expected) {
  Result<std::optional<std::unique_ptr<StoredChunk>>> chunk = store.Get(id);
  if (!chunk.ok()) return chunk.error();
  if (!chunk->has_value()) return Error{Errc::kNotFound, "chunk " + id.Short() + " is no longer held"};
  const ChunkHeader& header = (**chunk)->header();
  if (header.numerics != info.numerics || header.logits_bytes != info.logits_bytes) {
    return Error{Errc::kNotFound, "chunk " + id.Short() + " was replaced a moment ago"};
  }
  expected.numerics = header.numerics;
  expected.logits_bytes = header.logits_bytes;
  if (expected.kind == ChunkHeader::Kind::kFusion) {  // the engine checks the tensors themselves
    expected.tensors = header.tensors;
    expected.rows_bytes = header.rows_bytes;
  }
  if (header != expected) {
    (void)store.Erase(id);
    return Error{Errc::kCorrupt, "chunk " + id.Short() + " does not hold the tokens or positions its id stands for"};
  }
  return std::move(**chunk);
}

}  // namespace

uint64_t Execution::bytes() const {
  uint64_t sum = 0;
  for (const Load& load : loads) sum += load.bytes;
  return sum;
}

double Execution::load_ms() const {
  double sum = 0;
  for (const Load& load : loads) sum += load.ms;
  return sum;
}

Status Executor::Execute(const Plan& plan, const StoredState& state, Prompt& prompt, Sequence& sequence,
                         Execution& execution) const {
  for (const size_t index : plan.fusion) {
    const SegmentState& segment = state.segments[index];
    const StageTimer timer(clock_, execution.fusion_ms);
    if (Status status = PutBackPicture(segment, index, prompt, execution); !status.ok()) {
      execution.unusable.push_back(segment.fusion_id);
      return status;
    }
  }
  return plan.n_segments == 0 ? Status() : PutBackRows(plan.n_segments, state, sequence, execution);
}

Status Executor::PutBackPicture(const SegmentState& segment, size_t index, Prompt& prompt, Execution& execution) const {
  ChunkHeader expected = segment.header;
  expected.kind = ChunkHeader::Kind::kFusion;
  expected.parent = {};
  expected.first_position = 0;
  expected.tokens.clear();
  expected.provider = engine_.fusion().name();
  double load_ms = 0;
  std::vector<NamedTensor> tensors;
  {
    const StageTimer timer(clock_, load_ms);
    Result<std::unique_ptr<StoredChunk>> chunk = Open(store_, segment.fusion_id, *segment.fusion, std::move(expected));
    if (!chunk.ok()) return chunk.error();
    std::vector<std::span<std::byte>> parts;
    for (const ChunkHeader::Tensor& tensor : (*chunk)->header().tensors) {
      size_t n = 1;
      for (const int64_t size : tensor.shape) n *= static_cast<size_t>(size);
      tensors.push_back({tensor.name, tensor.shape, std::vector<float>(n)});
      parts.push_back(std::as_writable_bytes(std::span(tensors.back().values)));
    }
    if (Status status = (*chunk)->Read(parts, nullptr); !status.ok()) return status;
  }
  if (Status status = engine_.fusion().Inject(prompt, index, tensors); !status.ok()) return status;
  execution.loads.push_back({segment.fusion->tier, segment.fusion->file_bytes, load_ms});
  execution.other_numerics = execution.other_numerics || segment.fusion->numerics != segment.header.numerics;
  return {};
}

Status Executor::PutBackRows(size_t n, const StoredState& state, Sequence& sequence, Execution& execution) const {
  std::vector<std::unique_ptr<KvSource>> sources;
  std::vector<ChunkSource*> files;  // those of `sources` that read when the engine asks
  std::vector<double> open_ms(n);
  std::vector<std::byte> leaf_rows;
  std::vector<float> logits;
  for (size_t i = 0; i < n; ++i) {
    const SegmentState& segment = state.segments[i];
    const StageTimer timer(clock_, open_ms[i]);
    Result<std::unique_ptr<StoredChunk>> chunk = Open(store_, segment.kv_id, *segment.kv, segment.header);
    Status status = chunk.ok() ? Status() : chunk.error();
    if (status.ok() && i + 1 == state.segments.size()) {
      // The logits must be there before the engine reads anything, and they lie behind the leaf's rows: one token's.
      leaf_rows.resize((*chunk)->header().rows_bytes);
      const std::span<std::byte> part = leaf_rows;
      status = (*chunk)->Read({&part, 1}, &logits);
      sources.push_back(std::make_unique<SpanKvSource>(leaf_rows));
      files.push_back(nullptr);
    } else if (status.ok()) {
      auto source = std::make_unique<ChunkSource>(std::move(*chunk), clock_);
      files.push_back(source.get());
      sources.push_back(std::move(source));
    }
    if (!status.ok()) {
      execution.unusable.push_back(segment.kv_id);
      return status;
    }
  }
  std::vector<KvSource*> chunks;
  for (const std::unique_ptr<KvSource>& source : sources) chunks.push_back(source.get());
  if (Status status = sequence.Inject(chunks, logits); !status.ok()) {
    for (size_t i = 0; i < n; ++i) {
      if (files[i] != nullptr && files[i]->failed()) execution.unusable.push_back(state.segments[i].kv_id);
    }
    // Nobody is to blame by name: none of them is tried again.
    if (execution.unusable.empty()) {
      for (size_t i = 0; i < n; ++i) execution.unusable.push_back(state.segments[i].kv_id);
    }
    return status;
  }
  for (size_t i = 0; i < n; ++i) {
    const ChunkInfo& info = *state.segments[i].kv;
    execution.loads.push_back({info.tier, info.file_bytes, open_ms[i] + (files[i] != nullptr ? files[i]->ms() : 0)});
    execution.other_numerics = execution.other_numerics || info.numerics != state.segments[i].header.numerics;
  }
  return {};
}

}  // namespace afterimage
