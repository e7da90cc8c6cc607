#include "eval/gqa_metrics.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "eval/score.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Json AccuracyJson(const Accuracy& accuracy) {
  return {{"scored", accuracy.scored}, {"accuracy", accuracy.scored == 0 ? Json() : Json(accuracy.mean())}};
}

Json ByTypeJson(const std::map<std::string, Accuracy>& by_type) {
  Json json = Json::object();
  for (const auto& [type, accuracy] : by_type) json[type] = AccuracyJson(accuracy);
  return json;
}

std::string Row(std::string_view label, const Accuracy& accuracy) {
  return accuracy.scored == 0 ? ""
                              : fmt::format("{:<21} {:>6} {:>9.1f} %\n", label, accuracy.scored, 100 * accuracy.mean());
}

}  // namespace

void GqaMetrics::Add(const Sample& sample, std::string_view response, double correct) {
  right_[sample.id] = CountsAsRight(correct);
  if (!sample.is_balanced) return;
  all_.Add(correct);
  if (!sample.structural_type.empty()) {
    (sample.structural_type == "query" ? open_ : binary_).Add(correct);
    by_structural_[sample.structural_type].Add(correct);
  }
  if (!sample.semantic_type.empty()) by_semantic_[sample.semantic_type].Add(correct);
  if (CountsAsRight(correct) && !sample.entailed.empty()) entailments_.push_back({sample.id, sample.entailed});
  if (!sample.global_group.empty()) {
    std::map<std::string, Counts>& answers = groups_[sample.global_group];
    ++answers[ScoredForm(sample.answer)].right;
    ++answers[ScoredForm(response)].given;
  }
}

Consistency GqaMetrics::consistency() const {
  Consistency consistency;
  for (const auto& [id, entailed] : entailments_) {
    Accuracy share;
    for (const std::string& other : entailed) {
      if (other == id) continue;
      const auto asked = right_.find(other);
      if (asked == right_.end()) {
        ++consistency.not_asked;
      } else {
        share.Add(asked->second ? 1 : 0);
      }
    }
    consistency.asked += share.scored;
    if (share.scored > 0) consistency.questions.Add(share.mean());
  }
  return consistency;
}

std::optional<double> GqaMetrics::distribution() const {
  double sum = 0;
  double samples = 0;
  for (const auto& [group, answers] : groups_) {
    double chi_square = 0;
    double size = 0;
    for (const auto& [answer, counts] : answers) {
      if (counts.right == 0) continue;  // an answer that is never right: the script does not look at it
      const double right = static_cast<double>(counts.right);
      const double off = static_cast<double>(counts.given) - right;
      chi_square += off * off / right;
      size += right;
    }
    sum += chi_square * size;
    samples += size;
  }
  if (samples == 0) return std::nullopt;
  return sum / samples / 100;
}

Json MetricsJson(const GqaMetrics& metrics) {
  const Consistency consistency = metrics.consistency();
  const std::optional<double> distribution = metrics.distribution();
  return {{"accuracy", AccuracyJson(metrics.all())},
          {"binary", AccuracyJson(metrics.binary())},
          {"open", AccuracyJson(metrics.open())},
          {"structural", ByTypeJson(metrics.by_structural())},
          {"semantic", ByTypeJson(metrics.by_semantic())},
          {"consistency",
           {{"questions", consistency.questions.scored},
            {"entailed_asked", consistency.asked},
            {"entailed_not_asked", consistency.not_asked},
            {"consistency", consistency.questions.scored == 0 ? Json() : Json(consistency.questions.mean())}}},
          {"distribution", distribution.has_value() ? Json(*distribution) : Json()}};
}

std::string MetricsTable(const GqaMetrics& metrics) {
  if (metrics.all().scored == 0) return "";
  std::string table = fmt::format("{:<21} {:>6} {:>11}\n", "GQA metrics", "n", "accuracy");
  table += Row("all", metrics.all()) + Row("binary", metrics.binary()) + Row("open", metrics.open());
  for (const auto& [type, accuracy] : metrics.by_structural()) table += Row("structural " + type, accuracy);
  for (const auto& [type, accuracy] : metrics.by_semantic()) table += Row("semantic " + type, accuracy);
  table += Row("consistency", metrics.consistency().questions);
  if (const std::optional<double> distribution = metrics.distribution()) {
    table += fmt::format("{:<21} {:>6} {:>9.3f}\n", "distribution", "", *distribution);
  }
  return table;
}

}  // namespace afterimage
