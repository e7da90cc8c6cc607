// What a StartedRequest holds beside its face (cache.h): all that AddObservation needs.
#ifndef AFTERIMAGE_CACHE_STARTED_REQUEST_H_
#define AFTERIMAGE_CACHE_STARTED_REQUEST_H_

#include <memory>
#include <vector>

#include "afterimage/cache.h"
#include "cache/execute.h"
#include "layers/donor_record.h"

namespace afterimage {

class StartedRequestImpl final : public StartedRequest {
 public:
  StartedRequestImpl(const Clock& clock, const Sampling& sampling)
      : clock_(clock), sampling_(sampling), start_(clock.Now()) {}

  const Prompt& prompt() const override { return *prompt_; }
  Status Prefill() override;
  Result<Answer> Generate(const TextCallback& on_text) override;
  const Report& report() const override { return report_; }

 private:
  friend class CacheImpl;

  double SinceStart() const { return Milliseconds(clock_.Now() - start_); }

  const Clock& clock_;
  const Sampling sampling_;
  const std::chrono::nanoseconds start_;
  std::unique_ptr<Prompt> prompt_;
  std::unique_ptr<Sequence> sequence_;  // after the prompt, so that it goes first
  Report report_;
  std::vector<float> logits_;  // after the prompt's last token
  bool observe_ = false;       // something may be kept of it
  bool new_request_ = false;   // it is not known as a donor yet
  StoredState state_;          // of prompt_
  Execution execution_;
  DonorRecord record_;  // of the request that is answered
  std::vector<Digest> pictures_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_STARTED_REQUEST_H_
