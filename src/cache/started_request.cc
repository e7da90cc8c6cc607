#include "cache/started_request.h"

namespace afterimage {

Status StartedRequestImpl::Prefill() {
  Status status = sequence_->Prefill();
  if (!status.ok() && report_.reuse_class != ReuseClass::kCold && execution_.bytes() > 0) {
    // The sequence is empty again. Whatever was wrong with what was put back, the request is computed without it.
    execution_ = {};
    report_.reuse_class = ReuseClass::kCold;
    report_.provenance.clear();
    report_.predicted_ms.reset();
    status = sequence_->Prefill();
  }
  if (!status.ok()) return status;
  logits_.assign(sequence_->logits().begin(), sequence_->logits().end());
  report_.ttft_ms = SinceStart();  // the first token is picked from these logits
  report_.stats = sequence_->stats();
  const SequenceStats& stats = report_.stats;
  report_.actual_ms = stats.load_ms + stats.inject_ms + stats.encode_ms + stats.prefill_ms + execution_.fusion_ms;
  return {};
}

Result<Answer> StartedRequestImpl::Generate(const TextCallback& on_text) {
  Result<Answer> answer = sequence_->Generate(sampling_, on_text);
  report_.stats = sequence_->stats();
  report_.latency_ms = SinceStart();
  return answer;
}

}  // namespace afterimage
