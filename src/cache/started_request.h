// What a StartedRequest holds beside its face (cache.h): all that AddObservation needs.
#ifndef AFTERIMAGE_CACHE_STARTED_REQUEST_H_
#define AFTERIMAGE_CACHE_STARTED_REQUEST_H_

#include <map>
#include <memory>
#include <vector>

#include "afterimage/cache.h"
#include "cache/execute.h"
#include "layers/donor_record.h"
#include "layers/vector_memo.h"

namespace afterimage {

class StartedRequestImpl final : public StartedRequest {
 public:
  StartedRequestImpl(const Clock& clock, Engine& engine, const Sampling& sampling)
      : clock_(clock), engine_(engine), sampling_(sampling), start_(clock.Now()), memo_(clock) {}

  const Prompt& prompt() const override { return *prompt_; }
  Status Prefill() override;
  Result<Answer> Generate(const TextCallback& on_text) override;
  const Report& report() const override { return report_; }

 private:
  friend class CacheImpl;

  Status PrefillWithoutReuse(const Error& why);
  void CountLookupEncodes();
  double SinceStart() const { return Milliseconds(clock_.Now() - start_); }

  const Clock& clock_;
  Engine& engine_;
  const Sampling sampling_;
  const std::chrono::nanoseconds start_;
  std::unique_ptr<Prompt> own_prompt_;  // of the request asked, where another is answered
  std::unique_ptr<Prompt> prompt_;
  std::unique_ptr<Sequence> sequence_;  // after the prompt, so that it goes first
  Report report_;
  std::vector<float> logits_;  // after the prompt's last token
  bool observe_ = false;       // something may be kept of it
  bool new_request_ = false;   // it is not known as a donor yet
  StoredState state_;          // of prompt_
  Execution execution_;
  DonorRecord record_;  // of the request that is answered, as all below
  std::vector<std::shared_ptr<const Image>> images_;
  std::vector<Digest> pictures_;
  std::string metadata_;
  VectorMemo memo_;                                  // of the request asked
  std::map<size_t, std::vector<float>> signatures_;  // of its pictures, where they were needed
  std::map<size_t, double>
      encoded_ms_;  // by segment of the request asked: pictures encoded to look for others like them
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_STARTED_REQUEST_H_
