#include "eval/run_summary.h"

#include <algorithm>
#include <cmath>

#include "eval/score.h"

namespace afterimage {
namespace {

double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

// The value of `key`, added at the end where it is new.
template <typename T>
T& Entry(std::vector<std::pair<std::string, T>>& entries, const std::string& key) {
  for (auto& [name, value] : entries) {
    if (name == key) return value;
  }
  return entries.emplace_back(key, T{}).second;
}

// "exact" and "semantic" are the two ways of the text layers; "embedding" is any way of the embedding layers.
// Several layers may have found the same donor.
bool IsExpectedHit(const SampleOutcome& outcome) {
  const std::string& expected = outcome.sample.expected_hit;
  return std::ranges::any_of(outcome.report.layers, [&](const LayerReport& layer) {
    const bool meant = expected == "embedding" ? layer.key.starts_with("embedding:") : layer.key == expected + "_text";
    return meant && layer.status == LayerStatus::kHit;
  });
}

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  Spread spread = {Quantile(values, 0.5), Quantile(values, 0.95), 0};
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  return spread;
}

void RunSummary::Add(const SampleOutcome& outcome) {
  if (outcome.error.has_value()) {
    if (errors++ == 0) first_error = outcome.error->message;
    return;
  }
  ++samples;
  if (outcome.correct.has_value() && outcome.sample.is_balanced) {
    ++scored;
    correct += *outcome.correct;
    if (!outcome.sample.type.empty()) by_type[outcome.sample.type].Add(*outcome.correct);
  } else if (!outcome.sample.is_balanced && !outcome.sample.answer.empty()) {
    ++open;
    facts += FactScore(outcome.answer.text, outcome.sample.answer);
  }
  if (metrics.has_value() && outcome.correct.has_value()) {
    metrics->Add(outcome.sample, outcome.answer.text, *outcome.correct);
  }
  if (!outcome.sample.expected_hit.empty()) {
    ++expected_hits;
    expected_hits_met += IsExpectedHit(outcome) ? 1 : 0;
  }
  images_asked += outcome.pictures;
  AddReport(outcome.report);
  AddBaseline(outcome);
  AddLabels(outcome);
}

void RunSummary::AddReport(const Report& report) {
  kv_hits += report.hit() ? 1 : 0;
  if (!report.provenance.empty()) ++hits[report.provenance];
  const size_t reuse_class = static_cast<size_t>(report.reuse_class);
  ++classes[reuse_class];
  double embed_ms = 0;  // also part of the layers' lookups
  for (const LayerReport& layer : report.layers) {
    ++Entry(statuses, layer.key)[static_cast<size_t>(layer.status)];
    Entry(lookup_ms, layer.key) += layer.lookup_ms;
    embed_ms += layer.embed_ms;
  }
  for (Times* of : {&times, &times_by_class[reuse_class]}) {
    of->ttft_ms.push_back(report.ttft_ms);
    of->latency_ms.push_back(report.latency_ms);
  }
  const SequenceStats& stats = report.stats;
  const std::pair<const char*, double> stages[] = {
      {"prepare", report.prepare_ms}, {"embed", embed_ms},           {"plan", report.plan_ms},
      {"encode", stats.encode_ms},    {"prefill", stats.prefill_ms}, {"load", stats.load_ms},
      {"inject", stats.inject_ms},    {"decode", stats.decode_ms},   {"observe", report.observe_ms}};
  for (const auto& [name, ms] : stages) Entry(stage_ms, name) += ms;
  prompt_tokens += static_cast<uint64_t>(report.prompt_tokens);
  tokens_reused += static_cast<uint64_t>(stats.tokens_reused);
  tokens_computed += static_cast<uint64_t>(stats.tokens_computed);
  tokens_generated += static_cast<uint64_t>(stats.tokens_generated);
  images_encoded += static_cast<uint64_t>(stats.images_encoded);
  images_put_back += static_cast<uint64_t>(stats.images_put_back);
  bytes_stored += report.bytes_stored;
  bytes_loaded += report.bytes_loaded;
  other_numerics += report.other_numerics ? 1 : 0;
  if (report.predicted_ms.has_value() && report.actual_ms > 0) {
    planner_errors.push_back(std::abs(*report.predicted_ms - report.actual_ms) / report.actual_ms);
  }
}

void RunSummary::AddBaseline(const SampleOutcome& outcome) {
  if (!outcome.baseline.has_value()) return;
  const SampleOutcome::Baseline& baseline = *outcome.baseline;
  ++compared;
  if (outcome.agrees()) {
    ++identical;
  } else if (outcome.report.hit()) {
    ++false_hits;
  }
  if (outcome.sample.is_balanced) baseline_correct += baseline.correct.value_or(0);
  baseline_times.ttft_ms.push_back(baseline.ttft_ms);
  baseline_times.latency_ms.push_back(baseline.latency_ms);
  if (outcome.report.ttft_ms <= 0 || outcome.report.latency_ms <= 0) return;
  for (Ratios* of : {&ratios, &ratios_by_class[static_cast<size_t>(outcome.report.reuse_class)]}) {
    of->ttft.push_back(baseline.ttft_ms / outcome.report.ttft_ms);
    of->latency.push_back(baseline.latency_ms / outcome.report.latency_ms);
  }
}

void RunSummary::AddLabels(const SampleOutcome& outcome) {
  const Verdict& verdict = outcome.verdict;
  has_labels = has_labels || verdict.labelled;
  missed_substitutions += verdict.missed ? 1 : 0;
  if (!verdict.same.has_value()) return;
  if (outcome.report.reuse_class != ReuseClass::kNormalized) ++labelled_substitutions;
  if (*verdict.same) {
    ++right_substitutions;
  } else {
    ++wrong_donors;
    wrong_donor_hits += outcome.report.hit() ? 1 : 0;
  }
}

}  // namespace afterimage
