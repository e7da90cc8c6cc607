// Report: what the cache did for one request, layer by layer, and why.
//
// Made by Cache (cache.h). Every time in it was measured in that request, except those called predicted.
#ifndef AFTERIMAGE_REPORT_H_
#define AFTERIMAGE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/engine.h"

namespace afterimage {

// How close the request that was answered is to the one that was asked; from the strictest to the loosest, then the
// two that put no attention state back.
enum class ReuseClass {
  kExact,        // token ids and pixels identical
  kNormalized,   // the question equal after case and white space
  kApproximate,  // any other substitution
  kEncoder,      // nothing substituted, only encoder output put back
  kCold,         // nothing put back
};

enum class LayerStatus {
  kHit,
  kMiss,
  kSkip,     // not consulted: switched off, or not needed
  kRefused,  // a candidate was found; a gate or the planner declined it
};

std::string_view Name(ReuseClass reuse_class);  // "exact", ...
std::string_view Name(LayerStatus status);      // "hit", ...

// The earlier request a candidate comes from.
struct Donor {
  std::string id;        // Query::id
  std::string question;  // Query::question
  std::vector<std::string> image_paths;
  bool operator==(const Donor&) const = default;
};

struct CandidateReport {
  Donor donor;
  double score = 0;
  ReuseClass reuse_class = ReuseClass::kApproximate;  // if it were used
  std::string substitution;                           // what it would replace; as Report's
  std::vector<std::string> passed;                    // gates, with what they saw
  std::string refused;                                // the gate and its reason; empty: admitted
};

struct LayerReport {
  std::string key;  // "exact_text", "prefix", "fusion", "kv_cache", ...
  LayerStatus status = LayerStatus::kSkip;
  std::string reason;  // why it was refused or skipped, where there is something to say
  double lookup_ms = 0;
  double embed_ms = 0;   // of lookup_ms: making the vector
  double threshold = 0;  // candidates that score less are a miss
  std::vector<CandidateReport> candidates;
};

// One way the request could have been served.
struct PlanReport {
  ReuseClass reuse_class = ReuseClass::kCold;
  std::string substitution;  // as Report's
  int segments_reused = 0;
  int tokens_reused = 0;
  int tokens_computed = 0;
  int images_encoded = 0;
  int images_put_back = 0;
  uint64_t bytes = 0;  // to load
  // From Prefill's start to its end, loading and injecting included. Absent while a rate it needs is not measured yet.
  std::optional<double> predicted_ms;
  std::string outcome;  // "used", "not tried", or why it was passed over or failed
};

struct Report {
  ReuseClass reuse_class = ReuseClass::kCold;
  // "text:exact", "embedding:vision", "text:semantic", "prefix:image", "prefix:text", "fusion"; empty: nothing put
  // back.
  std::string provenance;
  std::vector<LayerReport> layers;  // in the order they are printed
  std::string substitution;         // what was replaced: "", "question", "picture", "question and picture"
  std::optional<Donor> donor;       // where the substitute, or an equal request, comes from
  double score = 0;                 // of the donor
  std::vector<PlanReport> plans;    // those weighed, in the order tried
  bool other_numerics = false;      // state of another build, backend or thread count was put back

  int prompt_tokens = 0;
  SequenceStats stats;  // complete once the answer is there
  uint64_t bytes_loaded = 0;
  uint64_t bytes_stored = 0;           // offered to the store by AddObservation
  std::optional<double> predicted_ms;  // of the plan used
  double actual_ms = 0;                // what it was a prediction of
  double prepare_ms = 0;
  double plan_ms = 0;     // weighing, without the layers' lookups
  double ttft_ms = 0;     // from the call to the first token
  double latency_ms = 0;  // from the call to the last token
  double observe_ms = 0;  // AddObservation, after the answer

  bool hit() const { return stats.tokens_reused > 0; }  // stored KV state was injected
  const LayerReport* layer(std::string_view key) const;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_REPORT_H_
