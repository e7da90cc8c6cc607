#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "core/byte_size.h"
#include "eval/run_summary.h"

namespace afterimage {
namespace {

double Percent(double part, size_t whole) { return whole == 0 ? 0 : 100 * part / static_cast<double>(whole); }
double Percent(size_t part, size_t whole) { return Percent(static_cast<double>(part), whole); }

class Table {
 public:
  template <typename... Args>
  void Row(std::string_view label, fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), "{:<11} ", label);
    fmt::format_to(std::back_inserter(text_), text, std::forward<Args>(args)...);
    text_ += '\n';
  }
  template <typename... Args>
  void Line(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string TakeText() { return std::move(text_); }

 private:
  std::string text_;
};

void AddHits(const RunSummary& summary, Table& table) {
  std::string by_provenance;
  for (const auto& [provenance, count] : summary.hits) {
    by_provenance += fmt::format("{}{} {}", by_provenance.empty() ? ": " : ", ", provenance, count);
  }
  table.Row("hits", "{} of {} ({:.1f} %){}", summary.kv_hits, summary.samples,
            Percent(summary.kv_hits, summary.samples), by_provenance);
  if (summary.expected_hits > 0) {
    table.Row("", "{} of {} found by the layer that was expected to", summary.expected_hits_met, summary.expected_hits);
  }
}

void AddAnswers(const RunSummary& summary, Table& table) {
  if (summary.scored > 0) {
    const std::string uncached = summary.compared == 0 ? ""
                                                       : fmt::format(", without the cache {:.1f} %",
                                                                     Percent(summary.baseline_correct, summary.scored));
    table.Row("accuracy", "{:.1f} % of {} scored{}", Percent(summary.correct, summary.scored), summary.scored,
              uncached);
  }
  const auto lowest = std::ranges::min_element(
      summary.by_type, {}, [](const auto& type) { return Percent(type.second.correct, type.second.scored); });
  if (summary.by_type.size() > 1) {
    table.Row("", "lowest of {} types: {} {:.1f} %", summary.by_type.size(), lowest->first,
              Percent(lowest->second.correct, lowest->second.scored));
  }
  if (summary.open > 0) {
    table.Row("", "{:.1f} % of the facts named in {} open questions",
              100 * summary.facts / static_cast<double>(summary.open), summary.open);
  }
  if (summary.compared > 0) {
    table.Row("answers", "{} of {} identical to those without the cache, {} false hits", summary.identical,
              summary.compared, summary.false_hits);
  }
}

void AddCacheLines(const RunSummary& summary, const RunInfo& info, Table& table) {
  if (!info.engine.cache_refusal.empty()) table.Row("cache", "not used: {}", info.engine.cache_refusal);
  if (!summary.planner_errors.empty()) {
    table.Row("planner", "median error {:.1f} % over {} predictions", 100 * SpreadOf(summary.planner_errors).p50,
              summary.planner_errors.size());
  }
  const CacheStats& stats = info.stats;
  if (stats.chunks > 0) {
    table.Row("stored", "KV {}, encoder {}, logits {}, file headers {}, catalogue {}", FormatByteSize(stats.kv_bytes),
              FormatByteSize(stats.fusion_bytes), FormatByteSize(stats.logits_bytes),
              FormatByteSize(stats.overhead_bytes), FormatByteSize(stats.catalogue_bytes));
  }
  if (stats.quarantined > 0) table.Row("", "{} files failed a check and were set aside", stats.quarantined);
  if (stats.write_errors > 0) table.Row("", "{} chunks were not kept: the disk did not take them", stats.write_errors);
  if (summary.other_numerics > 0) {
    table.Row("", "{} hits on state of another build, backend or thread count", summary.other_numerics);
  }
}

// One row; `ratios` are those of the same samples, or none.
void AddTimes(const char* label, const std::vector<double>& ttft_ms, const Ratios* ratios, Table& table) {
  const Spread spread = SpreadOf(ttft_ms);
  const std::string speedup =
      ratios == nullptr || ratios->ttft.empty() ? "" : fmt::format("{:>11.2f}x", SpreadOf(ratios->ttft).p50);
  table.Line("{:<21} {:>6} {:>11.2f} {:>11.2f}{}", label, ttft_ms.size(), spread.p50, spread.p95, speedup);
}

void AddTimesTable(const RunSummary& summary, Table& table) {
  const bool compared = summary.compared > 0;
  table.Line("{:<21} {:>6} {:>11} {:>11}{}", "time to first token", "n", "median ms", "p95 ms",
             compared ? "    speed-up" : "");
  for (size_t i = kReuseClasses; i-- > 0;) {
    const std::vector<double>& ttft_ms = summary.times_by_class[i].ttft_ms;
    if (ttft_ms.empty()) continue;
    AddTimes(Name(static_cast<ReuseClass>(i)).data(), ttft_ms, compared ? &summary.ratios_by_class[i] : nullptr, table);
  }
  AddTimes("all", summary.times.ttft_ms, compared ? &summary.ratios : nullptr, table);
  if (compared) AddTimes("without the cache", summary.baseline_times.ttft_ms, nullptr, table);
}

}  // namespace

std::string SummaryTable(const RunSummary& summary, const RunInfo& info) {
  Table table;
  const std::string errors = summary.errors == 0 ? "" : fmt::format(", {} failed", summary.errors);
  table.Row("requests", "{} answered{}", summary.samples, errors);
  if (summary.samples == 0) return table.TakeText();
  AddHits(summary, table);
  AddAnswers(summary, table);
  AddCacheLines(summary, info, table);
  table.Line("");
  AddTimesTable(summary, table);
  const std::string metrics = summary.metrics.has_value() ? MetricsTable(*summary.metrics) : "";
  return table.TakeText() + (metrics.empty() ? "" : "\n" + metrics);
}

}  // namespace afterimage
