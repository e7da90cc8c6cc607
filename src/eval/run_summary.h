// RunSummary: what a run comes to, gathered sample by sample, and written for machines and for people.
//
// It keeps the numbers, not the samples: a few hundred bytes each.
#ifndef AFTERIMAGE_EVAL_RUN_SUMMARY_H_
#define AFTERIMAGE_EVAL_RUN_SUMMARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "afterimage/cache.h"
#include "eval/gqa_metrics.h"
#include "eval/outcome.h"

namespace afterimage {

inline constexpr size_t kReuseClasses = 5;
inline constexpr size_t kLayerStatuses = 4;

// Percentiles are interpolated between the two nearest values.
struct Spread {
  double p50 = 0;
  double p95 = 0;
  double mean = 0;
};
// Zeros for no values.
Spread SpreadOf(std::vector<double> values);

struct Times {
  std::vector<double> ttft_ms;
  std::vector<double> latency_ms;
};

// Of the samples that ran both ways: time without the cache over time with it, sample by sample.
struct Ratios {
  std::vector<double> ttft;
  std::vector<double> latency;
};

class RunSummary {
 public:
  void Add(const SampleOutcome& outcome);

  size_t samples = 0;  // answered
  size_t errors = 0;   // not answered; in nothing below
  std::string first_error;
  size_t scored = 0;                        // with a reference, and not an open question
  double correct = 0;                       // sum of their scores
  std::map<std::string, Accuracy> by_type;  // of the scored; types the data set names
  size_t open = 0;                          // open questions answered
  double facts = 0;                         // sum over them: how much of what is to be named was named (FactScore)
  size_t kv_hits = 0;
  std::map<std::string, size_t> hits;  // by provenance; "fusion" puts no KV back and is not among kv_hits
  std::array<size_t, kReuseClasses> classes = {};
  // In the order the layers are printed.
  std::vector<std::pair<std::string, std::array<size_t, kLayerStatuses>>> statuses;

  Times times;
  std::array<Times, kReuseClasses> times_by_class;
  std::vector<std::pair<std::string, double>> stage_ms;   // sums, in the order a request meets them
  std::vector<std::pair<std::string, double>> lookup_ms;  // by layer
  uint64_t prompt_tokens = 0;
  uint64_t tokens_reused = 0;
  uint64_t tokens_computed = 0;
  uint64_t tokens_generated = 0;
  uint64_t images_asked = 0;    // about
  uint64_t images_encoded = 0;  // runs of the encoder; a large picture takes several
  uint64_t images_put_back = 0;
  uint64_t bytes_stored = 0;
  uint64_t bytes_loaded = 0;
  size_t other_numerics = 0;           // hits on state of another build, backend or thread count
  std::vector<double> planner_errors;  // |predicted - actual| / actual

  // By the labels of the data set (verdict.h).
  bool has_labels = false;            // for some sample
  size_t labelled_substitutions = 0;  // that the labels judge; those of class `normalized` need none
  size_t wrong_donors = 0;            // of them: not the same
  size_t wrong_donor_hits = 0;        // of these: stored KV state was injected, not encoder output alone
  size_t right_substitutions = 0;     // the same, those of class `normalized` among them
  size_t missed_substitutions = 0;    // nothing was substituted, though a candidate was the same

  size_t expected_hits = 0;           // samples that say which layer should find them
  size_t expected_hits_met = 0;       // of them: found by it
  std::optional<GqaMetrics> metrics;  // set by who wants them, before the first sample

  size_t compared = 0;  // samples that also ran without the cache
  size_t identical = 0;
  size_t false_hits = 0;  // hits whose answer differs from the uncached one
  double baseline_correct = 0;
  Times baseline_times;
  Ratios ratios;
  std::array<Ratios, kReuseClasses> ratios_by_class;

 private:
  void AddReport(const Report& report);
  void AddBaseline(const SampleOutcome& outcome);
  void AddLabels(const SampleOutcome& outcome);
};

// What a run was made with, for its summary.
struct RunInfo {
  std::string preset;   // empty: none was named
  std::string model;    // as it was given
  std::string dataset;  // as it was given
  EngineInfo engine;
  CacheMode mode = CacheMode::kLive;
  CacheStats stats;     // at the end
  std::string machine;  // what it ran on
  std::string commit;   // of the program
};

// The object `run --json` prints.
nlohmann::ordered_json SummaryJson(const RunSummary& summary, const RunInfo& info);

// The table at the end of a run.
std::string SummaryTable(const RunSummary& summary, const RunInfo& info);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_RUN_SUMMARY_H_
