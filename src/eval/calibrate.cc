#include "eval/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

// Thresholds are counted in ticks from the strictest to looser ones, so that both measures are searched alike, and each
// is the very number that its decimals are read as.
struct Grid {
  int strictest = 0;
  int per_unit = 0;  // ticks
  int n_ticks = 0;
  int direction = 0;  // of looser thresholds

  double At(int tick) const { return static_cast<double>(strictest * per_unit + direction * tick) / per_unit; }
};

constexpr Grid GridOf(Measure measure) {
  return measure == Measure::kCosine ? Grid{1, 1000, 2000, -1} : Grid{0, 10, 2550, 1};
}

constexpr double kCosines[] = {0.5,  0.55, 0.6,  0.65, 0.7,  0.75, 0.8,  0.85, 0.9,
                               0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995};
constexpr double kDifferences[] = {16, 12, 8, 6, 5, 4, 3.5, 3, 2.5, 2.2, 2, 1.5, 1, 0.5};

std::span<const double> TradeOffOf(Measure measure) {
  if (measure == Measure::kCosine) return kCosines;
  return kDifferences;
}

bool Takes(const ScoredPair& pair, Measure measure, bool gated, double threshold) {
  const bool alike = measure == Measure::kCosine ? pair.score >= threshold : pair.score <= threshold;
  return alike && (pair.admitted || !gated);
}

std::string Threshold(Measure measure, double threshold) {
  return measure == Measure::kCosine ? fmt::format("{:.3f}", threshold) : fmt::format("{:.1f}", threshold);
}

Json ShareJson(const Share& share) {
  return {{"part", share.part},
          {"whole", share.whole},
          {"share", share.value()},
          {"low", share.interval.low},
          {"high", share.interval.high}};
}

Json PointJson(const OperatingPoint& point) {
  return {{"threshold", point.threshold}, {"false_hits", ShareJson(point.false_hits)}, {"kept", ShareJson(point.kept)}};
}

Json PointJson(const std::optional<OperatingPoint>& point) { return point.has_value() ? PointJson(*point) : Json(); }

Json PointsJson(std::span<const OperatingPoint> points) {
  Json json = Json::array();
  for (const OperatingPoint& point : points) json.push_back(PointJson(point));
  return json;
}

std::string ShareText(const Share& share) {
  return fmt::format("{:.1f} % of {} (95 %: {:.1f} to {:.1f} %)", 100 * share.value(), share.whole,
                     100 * share.interval.low, 100 * share.interval.high);
}

std::string PointText(const std::string& head, const std::optional<OperatingPoint>& point, Measure measure) {
  if (!point.has_value()) return fmt::format("  {:<24} even the strictest threshold has too many false hits\n", head);
  return fmt::format("  {:<24} {} {}: false hits {}\n  {:<24} kept {}\n", head,
                     measure == Measure::kCosine ? "at least" : "at most", Threshold(measure, point->threshold),
                     ShareText(point->false_hits), "", ShareText(point->kept));
}

std::string TradeOffText(const Calibration& calibration) {
  const bool gated = !calibration.gated_trade_off.empty();
  std::string text = fmt::format("\n  {:>9} {:>11} {:>8}", "threshold", "false hits", "kept");
  if (gated) text += fmt::format(" {:>22} {:>8}", "with gates: false hits", "kept");
  text += "\n";
  for (size_t i = 0; i < calibration.trade_off.size(); ++i) {
    const OperatingPoint& point = calibration.trade_off[i];
    text += fmt::format("  {:>9} {:>9.1f} % {:>6.1f} %", Threshold(calibration.measure, point.threshold),
                        100 * point.false_hits.value(), 100 * point.kept.value());
    if (gated) {
      const OperatingPoint& with = calibration.gated_trade_off[i];
      text += fmt::format(" {:>20.1f} % {:>6.1f} %", 100 * with.false_hits.value(), 100 * with.kept.value());
    }
    text += "\n";
  }
  return text;
}

}  // namespace

Share ShareOf(size_t part, size_t whole) { return {part, whole, WilsonInterval(part, whole)}; }

OperatingPoint PointAt(std::span<const ScoredPair> pairs, Measure measure, bool gated, double threshold) {
  size_t n[2] = {};
  size_t taken[2] = {};
  for (const ScoredPair& pair : pairs) {
    const size_t kind = pair.must_agree ? 1 : 0;
    ++n[kind];
    if (Takes(pair, measure, gated, threshold)) ++taken[kind];
  }
  return {threshold, ShareOf(taken[0], n[0]), ShareOf(taken[1], n[1])};
}

std::optional<OperatingPoint> LoosestPoint(std::span<const ScoredPair> pairs, Measure measure, bool gated,
                                           double wanted) {
  const Grid grid = GridOf(measure);
  const auto good = [&](int tick) {
    return PointAt(pairs, measure, gated, grid.At(tick)).false_hits.value() <= wanted;
  };
  const bool any = std::ranges::any_of(pairs, [](const ScoredPair& pair) { return !pair.must_agree; });
  if (!any || !good(0)) return std::nullopt;
  // Looser thresholds never have fewer false hits, so the last good tick can be halved for.
  int best = 0;
  int beyond = grid.n_ticks + 1;
  while (beyond - best > 1) {
    const int middle = best + (beyond - best) / 2;
    (good(middle) ? best : beyond) = middle;
  }
  return PointAt(pairs, measure, gated, grid.At(best));
}

Calibration Calibrate(const CalibrationInput& input, double wanted) {
  Calibration calibration{.layer = input.layer,
                          .gates = input.gates,
                          .measure = input.measure,
                          .comparisons = input.comparisons,
                          .wanted = wanted};
  for (const ScoredPair& pair : input.pairs) ++(pair.must_agree ? calibration.must_agree : calibration.must_not);
  if (calibration.must_not == 0) {
    calibration.why_not = "no pair that must not be confused is this layer's to judge";
    return calibration;
  }
  const bool has_gates = !input.gates.empty();
  calibration.alone = LoosestPoint(input.pairs, input.measure, false, wanted);
  if (has_gates) calibration.gated = LoosestPoint(input.pairs, input.measure, true, wanted);
  for (const double threshold : TradeOffOf(input.measure)) {
    calibration.trade_off.push_back(PointAt(input.pairs, input.measure, false, threshold));
    if (has_gates) calibration.gated_trade_off.push_back(PointAt(input.pairs, input.measure, true, threshold));
  }
  return calibration;
}

Json CalibrationJson(const Calibration& calibration) {
  return {{"layer", calibration.layer},
          {"measure", calibration.measure == Measure::kCosine ? "cosine" : "difference"},
          {"gates", calibration.gates.empty() ? Json() : Json(calibration.gates)},
          {"must_agree", calibration.must_agree},
          {"must_not", calibration.must_not},
          {"comparisons", calibration.comparisons},
          {"wanted_false_hit_rate", calibration.wanted},
          {"why_not", calibration.why_not.empty() ? Json() : Json(calibration.why_not)},
          {"alone", PointJson(calibration.alone)},
          {"gated", PointJson(calibration.gated)},
          {"trade_off", PointsJson(calibration.trade_off)},
          {"gated_trade_off", PointsJson(calibration.gated_trade_off)}};
}

std::string CalibrationText(const Calibration& calibration) {
  std::string text =
      fmt::format("{}: {} pairs must agree, {} must not be confused; {} different comparisons\n", calibration.layer,
                  calibration.must_agree, calibration.must_not, calibration.comparisons);
  if (!calibration.why_not.empty()) return text + fmt::format("  cannot be calibrated: {}\n", calibration.why_not);
  text += PointText("alone", calibration.alone, calibration.measure);
  if (!calibration.gates.empty()) {
    text += PointText("with the " + calibration.gates, calibration.gated, calibration.measure);
  }
  return text + TradeOffText(calibration);
}

}  // namespace afterimage
