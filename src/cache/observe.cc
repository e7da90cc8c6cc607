// AddObservation: what was newly computed goes into the store, and what it took into the rates.
#include "cache/cache_impl.h"
#include "core/sha256.h"
#include "gates/picture_signature.h"

namespace afterimage {
namespace {

constexpr int kObservationsBetweenSaves = 16;

// Bits computed on top of state of other numerics are neither this engine's nor that one's: they get a name of their
// own, under which nobody who demands bit-identity will take them.
Digest MixedNumerics(const StoredState& state, size_t n_reused, const Execution& execution) {
  const Digest& own = state.segments.front().header.numerics;
  if (!execution.other_numerics) return own;
  Sha256 hash;
  hash.Add("mixed numerics").Add(own);
  for (size_t i = 0; i < state.segments.size(); ++i) {
    const SegmentState& segment = state.segments[i];
    if (i < n_reused) hash.Add(segment.kv->numerics);
    if (i >= n_reused && segment.fusion.has_value()) hash.Add(segment.fusion->numerics);
  }
  return hash.Finish();
}

}  // namespace

Status CacheImpl::AddObservation(StartedRequest& started_request) {
  auto& started = dynamic_cast<StartedRequestImpl&>(started_request);
  if (!started.observe_) return {};
  started.observe_ = false;
  const StageTimer timer(surroundings_.clock, started.report_.observe_ms);
  Learn(started);
  Status pictures = options_.fusion_layer ? KeepPictures(started) : Status();
  Status rows = keeps_rows() ? KeepRows(started) : Status();
  bool save = false;
  {
    const std::scoped_lock lock(mutex_);
    save = ++n_unsaved_ >= kObservationsBetweenSaves;
  }
  if (save) SaveRates();
  return pictures.ok() ? rows : pictures;
}

Status CacheImpl::KeepPictures(StartedRequestImpl& started) {
  Status first_error;
  for (const SequenceStats::Step& step : started.report_.stats.steps) {
    const Segment& segment = started.prompt_->segments()[step.segment];
    const SegmentState& state = started.state_.segments[step.segment];
    if (segment.kind != Segment::Kind::kImage || state.fusion.has_value()) continue;
    const Result<std::vector<NamedTensor>> tensors = engine_.fusion().Capture(*started.prompt_, step.segment);
    if (!tensors.ok()) return tensors.error();
    const ChunkHeader header = finder_->FusionHeader(segment, engine_.fusion().name(), *tensors);
    std::vector<std::byte> values;
    values.reserve(header.rows_bytes);
    for (const NamedTensor& tensor : *tensors) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span(tensor.values));
      values.insert(values.end(), bytes.begin(), bytes.end());
    }
    const Status status = store_->Put(header, values, {}, {.compute_ms = step.encode_ms});
    if (status.ok()) started.report_.bytes_stored += values.size();
    if (first_error.ok() && !status.ok()) first_error = status;
  }
  return first_error;
}

Status CacheImpl::KeepRows(StartedRequestImpl& started) {
  const std::vector<SequenceStats::Step>& steps = started.report_.stats.steps;
  if (!steps.empty()) {
    const size_t first = steps.front().segment;
    Result<std::vector<std::vector<std::byte>>> rows = started.sequence_->Capture(first, steps.size());
    if (!rows.ok()) return rows.error();
    const Digest numerics = MixedNumerics(started.state_, first, started.execution_);
    for (size_t i = 0; i < steps.size(); ++i) {
      ChunkHeader header = started.state_.segments[first + i].header;
      header.numerics = numerics;
      std::span<const std::byte> logits;
      if (first + i + 1 == started.state_.segments.size()) logits = std::as_bytes(std::span(started.logits_));
      header.logits_bytes = logits.size();
      // A chunk hangs under the one before it: where one cannot be kept, those after it could never be found.
      if (Status status =
              store_->Put(header, (*rows)[i], logits, {.compute_ms = steps[i].encode_ms + steps[i].prefill_ms});
          !status.ok()) {
        return status;
      }
      started.report_.bytes_stored += (*rows)[i].size() + logits.size();
    }
  }
  if (!started.new_request_) return {};
  RequestRow row;
  row.tenant = options_.tenant;
  row.compatibility = engine_.info().identity.compatibility.digest();
  row.pictures = started.pictures_;
  row.leaf = started.state_.leaf();
  row.payload = EncodeDonor(started.record_);
  std::vector<VectorRow> vectors;
  RecordIn(started, row, vectors);
  return disk_->PutRequest(std::move(row), std::move(vectors));
}

// What the layers will find it by. Vectors not made yet are made now, after the answer; for a picture of which only the
// digest is known, or whose encoder output would have to be computed for it, there is none.
void CacheImpl::RecordIn(StartedRequestImpl& started, RequestRow& row, std::vector<VectorRow>& vectors) {
  VectorMemo fresh(surroundings_.clock);
  LayerQuery query = MakeLayerQuery(started.record_, started.images_, started.pictures_, started.metadata_,
                                    started.own_prompt_ == nullptr ? started.memo_ : fresh);
  size_t n_pictures = 0;
  for (const Segment& segment : started.prompt_->segments()) {
    n_pictures += segment.kind == Segment::Kind::kImage ? 1 : 0;
  }
  for (const SequenceStats::Step& step : started.report_.stats.steps) {
    n_pictures -= started.prompt_->segments()[step.segment].kind == Segment::Kind::kImage ? 1 : 0;
  }
  if (n_pictures == 0) {
    query.input.encoder_output = [&] { return EncoderOutput(*started.prompt_, started); };
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].layer == nullptr) continue;
    slots_[i].layer->Record(query, row, vectors);
    // A layer that was not asked because it once took long would never be asked again: what its vector takes now tells.
    const double ms = query.memo->ms(slots_[i].key);
    if (started.report_.layers[i].status == LayerStatus::kSkip && ms > 0) {
      const std::scoped_lock lock(mutex_);
      rates_.Learn("lookup." + slots_[i].key, 1, ms);
    }
  }
  if (options_.image_gate != ImageGate::kNear || options_.loosest != ReuseClass::kApproximate) return;
  for (size_t i = 0; i < started.images_.size(); ++i) {
    const VectorRef ref = SignatureRef(started.pictures_[i]);
    row.vectors.push_back(ref);
    // A picture that was put back has been through here before.
    if (n_pictures > 0 || !started.images_[i]->has_pixels()) continue;
    std::vector<float>& signature = started.signatures_[i];
    if (signature.empty()) signature = SignatureOf(*started.images_[i]);
    vectors.push_back({ref, "signature", signature});
  }
}

void CacheImpl::Learn(const StartedRequestImpl& started) {
  const SequenceStats& stats = started.report_.stats;
  const std::span<const Segment> segments = started.prompt_->segments();
  const std::scoped_lock lock(mutex_);
  for (const SequenceStats::Step& step : stats.steps) {
    const Segment& segment = segments[step.segment];
    const bool image = segment.kind == Segment::Kind::kImage;
    rates_.Learn(image ? "prefill.image" : "prefill.text", segment.n_tokens, step.prefill_ms);
    // Which picture's output was put back the steps do not say.
    if (image && stats.images_put_back == 0 && step.encode_ms > 0)
      rates_.Learn("encode", segment.n_tokens, step.encode_ms);
  }
  for (const Execution::Load& load : started.execution_.loads) {
    rates_.Learn("load." + load.tier, static_cast<double>(load.bytes), load.ms);
  }
  for (const LayerReport& layer : started.report_.layers) {
    if (layer.threshold > 0 && layer.status != LayerStatus::kSkip) {
      rates_.Learn("lookup." + layer.key, 1, layer.lookup_ms);
    }
  }
  if (stats.tokens_reused > 0) {
    const double inject_ms =
        stats.load_ms + stats.inject_ms + started.execution_.fusion_ms - started.execution_.load_ms();
    rates_.Learn("inject", stats.tokens_reused, std::max(0.0, inject_ms));
  }
}

}  // namespace afterimage
