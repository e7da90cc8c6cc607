// Plan: what is loaded and what is computed for one request, and which of the possible plans is taken.
//
// Decide is pure: no engine, no store, no clock. It is given the requests that may be answered (the one asked, and
// admitted substitutes), which state of each is stored, and the rates. For each it weighs how many leading segments to
// put back, and for every picture left whether to load its encoder output or to encode: loading is not always faster.
//
// Exact first: the looser of two plans is taken only if it saves at least `min_gain` of the best exact plan's predicted
// time more: a normalised question before another one, one substitution before two.
#ifndef AFTERIMAGE_CACHE_PLAN_H_
#define AFTERIMAGE_CACHE_PLAN_H_

#include <cstddef>
#include <span>
#include <vector>

#include "afterimage/report.h"
#include "cache/rates.h"
#include "layers/stored_state.h"

namespace afterimage {

// One request that may be answered.
struct Option {
  ReuseClass reuse_class = ReuseClass::kExact;  // of answering this one; kExact: nothing substituted
  StoredState state;
  bool equal_donor = false;    // a layer found an earlier request that equals this one: it may be put back whole
  int n_substituted = 0;       // question and picture: 0 to 2
  bool other_picture = false;  // a layer matched its picture: the picture's state may be put back, and only that, since
                               // its pixels are not here to be encoded
  double score = 0;            // of the match it comes from
  size_t rank = 0;             // when that was found
};

struct PlanPolicy {
  bool prefix_layer = true;
  bool fusion_layer = true;
  int min_prefix_tokens = 32;  // of a prefix without a picture
  double min_gain = 0.1;       // share of the best exact plan's time
  double min_gain_ms = 0;
  bool greedy = false;  // the best score wins, and of equal ones the first found; times do not count
};

struct Plan {
  size_t option = 0;
  size_t n_segments = 0;       // put back from the first on
  std::vector<size_t> fusion;  // image segments whose encoder output is put back
  ReuseClass reuse_class = ReuseClass::kCold;
  Prediction predicted;

  bool puts_back() const { return n_segments > 0 || !fusion.empty(); }
};

// The plan to take first; then those it was weighed against, for the report. REQUIRES: options is not empty, and the
// first is the request asked.
std::vector<Plan> Decide(std::span<const Option> options, const Rates& rates, const PlanPolicy& policy);

// How many leading segments are stored and allowed to be put back.
size_t AllowedSegments(const Option& option, const PlanPolicy& policy);

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_PLAN_H_
