#include "cache/started_request.h"

namespace afterimage {

Status StartedRequestImpl::Prefill() {
  Status status = sequence_->Prefill();
  if (!status.ok() && execution_.bytes() > 0) status = PrefillWithoutReuse(status.error());
  if (!status.ok()) return status;
  logits_.assign(sequence_->logits().begin(), sequence_->logits().end());
  report_.ttft_ms = SinceStart();  // the first token is picked from these logits
  report_.stats = sequence_->stats();
  CountLookupEncodes();
  const SequenceStats& stats = report_.stats;
  report_.actual_ms = stats.load_ms + stats.inject_ms + stats.encode_ms + stats.prefill_ms + execution_.fusion_ms;
  return {};
}

// The sequence is empty again. Whatever was wrong with what was put back, the request asked is computed without it.
Status StartedRequestImpl::PrefillWithoutReuse(const Error& why) {
  execution_ = {};
  report_.reuse_class = ReuseClass::kCold;
  report_.provenance.clear();
  report_.substitution.clear();
  report_.donor.reset();
  report_.predicted_ms.reset();
  for (LayerReport& layer : report_.layers) {
    if (layer.status != LayerStatus::kHit) continue;
    layer.status = LayerStatus::kMiss;
    layer.reason = "computing on top of it failed: " + why.message;
  }
  if (own_prompt_ != nullptr) {
    observe_ = false;  // what is known about storage is known about the substitute
    sequence_.reset();
    prompt_ = std::move(own_prompt_);
    report_.prompt_tokens = prompt_->n_tokens();
    Result<std::unique_ptr<Sequence>> sequence = engine_.Start(*prompt_);
    if (!sequence.ok()) return sequence.error();
    sequence_ = std::move(*sequence);
  }
  return sequence_->Prefill();
}

// A picture that was encoded to look for others like it is not one whose encoder output was stored.
void StartedRequestImpl::CountLookupEncodes() {
  SequenceStats& stats = report_.stats;
  const bool own = own_prompt_ == nullptr;
  for (const auto& [segment, ms] : encoded_ms_) {
    ++stats.images_encoded;
    stats.encode_ms += ms;
    for (SequenceStats::Step& step : stats.steps) {
      if (!own || step.segment != segment) continue;
      --stats.images_put_back;
      step.encode_ms += ms;
    }
  }
}

Result<Answer> StartedRequestImpl::Generate(const TextCallback& on_text) {
  Result<Answer> answer = sequence_->Generate(sampling_, on_text);
  report_.stats = sequence_->stats();
  CountLookupEncodes();
  report_.latency_ms = SinceStart();
  return answer;
}

}  // namespace afterimage
