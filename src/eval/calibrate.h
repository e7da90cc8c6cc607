// Calibration: where to set a layer's threshold, from pairs of requests of which it is known whether they agree.
//
// A pair that must not be taken for each other, and scores at or above the threshold, is a false hit; a pair that must
// agree, and does, is kept. Asked for is the loosest threshold whose share of false hits is at most a wanted one. It is
// looked for on a grid, since a threshold is a number that people write down, and what is printed should be what holds.
//
// Every share comes with its 95 % Wilson interval, which is honest where nothing was seen: 0 of 72 may still be 5 %. It
// takes pairs for independent draws. Pairs that compare the very same things are not, so the number of different
// comparisons is told beside that of pairs; where they are few, the interval is too narrow.
#ifndef AFTERIMAGE_EVAL_CALIBRATE_H_
#define AFTERIMAGE_EVAL_CALIBRATE_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/wilson.h"

namespace afterimage {

struct ScoredPair {
  double score = 0;         // cosine, or difference
  bool must_agree = false;  // false: taking one for the other is an error
  bool admitted = true;     // by the gates that come after the threshold
};

// What is compared with the threshold.
enum class Measure {
  kCosine,      // -1 to 1, in steps of 0.001; alike: at least the threshold
  kDifference,  // 0 to 255, in steps of 0.1; alike: at most the threshold
};

struct Share {
  size_t part = 0;
  size_t whole = 0;
  Interval interval;

  double value() const { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }
};

// REQUIRES: part <= whole
Share ShareOf(size_t part, size_t whole);

// What a threshold comes to.
struct OperatingPoint {
  double threshold = 0;
  Share false_hits;  // of the pairs that must not be confused
  Share kept;        // of the pairs that must agree
};

// `gated`: only pairs that are admitted too count as taken.
OperatingPoint PointAt(std::span<const ScoredPair> pairs, Measure measure, bool gated, double threshold);

// The loosest threshold of the grid whose share of false hits is at most `wanted`. nullopt: there are no pairs that
// must not be confused, or even the strictest threshold takes too many of them.
std::optional<OperatingPoint> LoosestPoint(std::span<const ScoredPair> pairs, Measure measure, bool gated,
                                           double wanted);

// The pairs of one layer.
struct CalibrationInput {
  std::string layer;  // "semantic_text", "embedding:vision", "local"
  std::string gates;  // what `admitted` stands for: "text guard"; empty: nothing
  Measure measure = Measure::kCosine;
  std::vector<ScoredPair> pairs;
  size_t comparisons = 0;  // different ones among them
};

struct Calibration {
  std::string layer;
  std::string gates;
  Measure measure = Measure::kCosine;
  size_t must_agree = 0;
  size_t must_not = 0;
  size_t comparisons = 0;
  double wanted = 0;
  std::string why_not;  // it cannot be calibrated; empty: it can
  std::optional<OperatingPoint> alone;
  std::optional<OperatingPoint> gated;          // nullopt also where there are no gates
  std::vector<OperatingPoint> trade_off;        // from loose to strict
  std::vector<OperatingPoint> gated_trade_off;  // at the same thresholds; empty where there are no gates
};

Calibration Calibrate(const CalibrationInput& input, double wanted);

nlohmann::ordered_json CalibrationJson(const Calibration& calibration);
std::string CalibrationText(const Calibration& calibration);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_CALIBRATE_H_
