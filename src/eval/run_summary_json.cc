#include <nlohmann/json.hpp>

#include "eval/run_summary.h"
#include "eval/wilson.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

// Null where there is nothing to divide by: no share was measured.
Json Share(double part, size_t whole) { return whole == 0 ? Json() : Json(part / static_cast<double>(whole)); }
Json Share(size_t part, size_t whole) { return Share(static_cast<double>(part), whole); }

// 95 % (wilson.h).
Json IntervalJson(size_t part, size_t whole) {
  if (whole == 0) return {};
  const Interval interval = WilsonInterval(part, whole);
  return Json::array({interval.low, interval.high});
}

Json SpreadJson(const std::vector<double>& values) {
  if (values.empty()) return {{"p50", nullptr}, {"p95", nullptr}, {"mean", nullptr}};
  const Spread spread = SpreadOf(values);
  return {{"p50", spread.p50}, {"p95", spread.p95}, {"mean", spread.mean}};
}

std::string_view ClassName(size_t index) { return Name(static_cast<ReuseClass>(index)); }

Json TimesJson(const RunSummary& summary, std::vector<double> Times::* values) {
  Json json = SpreadJson(summary.times.*values);
  json["by_class"] = Json::object();
  for (size_t i = 0; i < kReuseClasses; ++i) {
    const std::vector<double>& of_class = summary.times_by_class[i].*values;
    if (!of_class.empty()) json["by_class"][ClassName(i)] = SpreadJson(of_class);
  }
  return json;
}

Json StatusesJson(const RunSummary& summary) {
  Json json = Json::object();
  for (const auto& [layer, counts] : summary.statuses) {
    for (size_t i = 0; i < kLayerStatuses; ++i) json[layer][Name(static_cast<LayerStatus>(i))] = counts[i];
  }
  return json;
}

Json StagesJson(const RunSummary& summary) {
  const auto mean = [&](double sum) { return sum / static_cast<double>(std::max<size_t>(summary.samples, 1)); };
  Json json = {{"lookup", Json::object()}};
  for (const auto& [layer, sum] : summary.lookup_ms) json["lookup"][layer] = mean(sum);
  for (const auto& [stage, sum] : summary.stage_ms) json[stage] = mean(sum);
  return json;
}

Json RatiosJson(const Ratios& ratios) {
  return {{"samples", ratios.ttft.size()},
          {"ttft_p50", SpreadOf(ratios.ttft).p50},
          {"latency_p50", SpreadOf(ratios.latency).p50}};
}

Json SpeedupJson(const RunSummary& summary) {
  const double with = SpreadOf(summary.times.ttft_ms).mean;
  Json json = RatiosJson(summary.ratios);
  // Of the means, not the mean of the ratios: a few hits a hundred times as fast would be most of that.
  json["ttft_mean"] = with > 0 ? Json(SpreadOf(summary.baseline_times.ttft_ms).mean / with) : Json();
  json["by_class"] = Json::object();
  for (size_t i = 0; i < kReuseClasses; ++i) {
    const Ratios& ratios = summary.ratios_by_class[i];
    if (!ratios.ttft.empty()) json["by_class"][ClassName(i)] = RatiosJson(ratios);
  }
  return json;
}

// What went wrong `count` times, in `hits` of them on a hit. Rare things: without its interval a share says little.
Json WrongJson(const RunSummary& summary, size_t count, size_t hits) {
  return {{"count", count},
          {"per_request", Share(count, summary.samples)},
          {"per_request_interval", IntervalJson(count, summary.samples)},
          {"per_hit", Share(hits, summary.kv_hits)},
          {"per_hit_interval", IntervalJson(hits, summary.kv_hits)}};
}

const char* ModeName(CacheMode mode) {
  return mode == CacheMode::kLive ? "live" : mode == CacheMode::kDryRun ? "dry-run" : "off";
}

Json CacheJson(const RunInfo& info) {
  return {{"mode", ModeName(info.mode)},
          {"refusal", info.engine.cache_refusal},
          {"chunks", info.stats.chunks},
          {"blocks", info.stats.blocks},
          {"evicted", info.stats.evicted},
          {"quarantined", info.stats.quarantined},
          {"write_errors", info.stats.write_errors}};
}

}  // namespace

Json SummaryJson(const RunSummary& summary, const RunInfo& info) {
  Json json = {{"preset", info.preset.empty() ? Json() : Json(info.preset)},
               {"model", info.model},
               {"dataset", info.dataset},
               {"engine", {{"name", info.engine.name}, {"model", info.engine.model}}},
               {"machine", info.machine},
               {"commit", info.commit},
               {"samples", summary.samples},
               {"errors", summary.errors},
               {"accuracy", Share(summary.correct, summary.scored)},
               {"scored", summary.scored},
               {"hit_rate", Share(summary.kv_hits, summary.samples)},
               {"hits", summary.hits}};
  for (const auto& [type, accuracy] : summary.by_type) {
    json["by_type"][type] = {{"scored", accuracy.scored}, {"accuracy", Share(accuracy.correct, accuracy.scored)}};
  }
  if (summary.open > 0) {
    json["open"] = {{"samples", summary.open}, {"facts", summary.facts / static_cast<double>(summary.open)}};
  }
  for (size_t i = 0; i < kReuseClasses; ++i) json["classes"][ClassName(i)] = summary.classes[i];
  json["statuses"] = StatusesJson(summary);
  json["ttft_ms"] = TimesJson(summary, &Times::ttft_ms);
  json["latency_ms"] = TimesJson(summary, &Times::latency_ms);
  json["stages_ms"] = StagesJson(summary);
  json["tokens"] = {{"prompt", summary.prompt_tokens},
                    {"reused", summary.tokens_reused},
                    {"computed", summary.tokens_computed},
                    {"generated", summary.tokens_generated}};
  json["images"] = {{"asked", summary.images_asked},
                    {"encoded", summary.images_encoded},
                    {"encode_skipped", summary.images_put_back}};
  json["bytes"] = {{"stored", summary.bytes_stored},
                   {"loaded", summary.bytes_loaded},
                   {"by_kind",
                    {{"kv", info.stats.kv_bytes},
                     {"fusion", info.stats.fusion_bytes},
                     {"logits", info.stats.logits_bytes},
                     {"overhead", info.stats.overhead_bytes},
                     {"vectors", info.stats.vector_bytes},
                     {"catalogue", info.stats.catalogue_bytes}}}};
  json["planner"] = {
      {"predictions", summary.planner_errors.size()},
      {"median_relative_error", summary.planner_errors.empty() ? Json() : Json(SpreadOf(summary.planner_errors).p50)}};
  json["other_numerics"] = summary.other_numerics;
  json["cache"] = CacheJson(info);
  if (summary.has_labels) {
    const size_t right = summary.right_substitutions;
    json["wrong_donors"] = WrongJson(summary, summary.wrong_donors, summary.wrong_donor_hits);
    json["wrong_donors"]["substitutions"] = summary.labelled_substitutions;
    json["precision"] = Share(right, right + summary.wrong_donors);
    json["recall"] = Share(right, right + summary.missed_substitutions);
  }
  if (summary.expected_hits > 0) {
    json["expected_hits"] = {{"total", summary.expected_hits}, {"met", summary.expected_hits_met}};
  }
  if (summary.metrics.has_value()) json["metrics"] = MetricsJson(*summary.metrics);
  if (summary.compared == 0) return json;
  json["baseline"] = {{"accuracy", Share(summary.baseline_correct, summary.scored)},
                      {"ttft_ms", SpreadJson(summary.baseline_times.ttft_ms)},
                      {"latency_ms", SpreadJson(summary.baseline_times.latency_ms)}};
  json["agreement"] = Share(summary.identical, summary.compared);
  json["false_hits"] = WrongJson(summary, summary.false_hits, summary.false_hits);
  json["speedup"] = SpeedupJson(summary);
  return json;
}

}  // namespace afterimage
