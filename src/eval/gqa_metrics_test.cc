#include "eval/gqa_metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace afterimage {
namespace {

Sample Question(const std::string& id, const std::string& structural = "", const std::string& semantic = "") {
  Sample sample;
  sample.id = id;
  sample.answer = "yes";
  sample.structural_type = structural;
  sample.semantic_type = semantic;
  return sample;
}

Sample Entailing(const std::string& id, std::vector<std::string> entailed, bool is_balanced = true) {
  Sample sample = Question(id);
  sample.entailed = std::move(entailed);
  sample.is_balanced = is_balanced;
  return sample;
}

TEST(GqaMetrics, AccuracyIsGivenByKindAndType) {
  GqaMetrics metrics;
  metrics.Add(Question("1", "query", "rel"), "yes", 1);
  metrics.Add(Question("2", "verify", "rel"), "no", 0);
  metrics.Add(Question("3", "choose", "attr"), "yes", 1);
  metrics.Add(Question("4"), "yes", 1);
  EXPECT_EQ(metrics.all().scored, 4u);
  EXPECT_EQ(metrics.all().mean(), 0.75);
  EXPECT_EQ(metrics.open().scored, 1u);
  EXPECT_EQ(metrics.open().mean(), 1);
  EXPECT_EQ(metrics.binary().scored, 2u);
  EXPECT_EQ(metrics.binary().mean(), 0.5);
  EXPECT_EQ(metrics.by_structural().at("verify").mean(), 0);
  EXPECT_EQ(metrics.by_structural().size(), 3u);
  EXPECT_EQ(metrics.by_semantic().at("rel").mean(), 0.5);
  EXPECT_EQ(metrics.by_semantic().at("attr").scored, 1u);
}

TEST(GqaMetrics, QuestionsThatAreNotBalancedCountOnlyWhereTheyAreEntailed) {
  GqaMetrics metrics;
  metrics.Add(Entailing("1", {"2"}), "yes", 1);
  metrics.Add(Entailing("2", {"1"}, false), "yes", 1);
  EXPECT_EQ(metrics.all().scored, 1u);
  EXPECT_EQ(metrics.consistency().questions.scored, 1u);
  EXPECT_EQ(metrics.consistency().questions.mean(), 1);
}

TEST(GqaMetrics, ConsistencyIsTheMeanShareOverQuestionsAnsweredRight) {
  GqaMetrics metrics;
  metrics.Add(Entailing("1", {"1", "2", "3", "7"}), "yes", 1);  // 2 right, 3 wrong, 7 not asked
  metrics.Add(Entailing("2", {"1"}), "yes", 1);
  metrics.Add(Entailing("3", {"1"}), "no", 0);  // wrong itself: not looked at
  metrics.Add(Entailing("4", {"8"}), "yes", 1);
  metrics.Add(Entailing("5", {"5"}), "yes", 1);
  const Consistency consistency = metrics.consistency();
  EXPECT_EQ(consistency.questions.scored, 2u);
  EXPECT_EQ(consistency.questions.mean(), 0.75);
  EXPECT_EQ(consistency.asked, 3u);
  EXPECT_EQ(consistency.not_asked, 2u);
}

TEST(GqaMetrics, DistributionIsChiSquareByGroupWeightedBySize) {
  GqaMetrics metrics;
  EXPECT_EQ(metrics.distribution(), std::nullopt);
  const auto add = [&](const std::string& group, const std::string& right, const std::string& given) {
    Sample sample = Question("1");
    sample.global_group = group;
    sample.answer = right;
    metrics.Add(sample, given, right == given ? 1 : 0);
  };
  metrics.Add(Question("2"), "no", 0);  // in no group
  add("color", "red", "Red.");
  EXPECT_EQ(metrics.distribution(), 0);
  add("color", "red", "blue");
  add("color", "red", "blue");
  add("color", "blue", "blue");  // red: 1 of 3, blue: 3 of 1
  add("size", "small", "huge");  // small: 0 of 1
  EXPECT_DOUBLE_EQ(*metrics.distribution(), ((4.0 / 3 + 4) * 4 + 1.0 * 1) / 5 / 100);
}

TEST(GqaMetrics, AreWrittenForMachines) {
  GqaMetrics metrics;
  metrics.Add(Question("1", "query", "rel"), "yes", 1);
  EXPECT_EQ(MetricsJson(metrics).dump(),
            R"({"accuracy":{"scored":1,"accuracy":1.0},"binary":{"scored":0,"accuracy":null},)"
            R"("open":{"scored":1,"accuracy":1.0},"structural":{"query":{"scored":1,"accuracy":1.0}},)"
            R"("semantic":{"rel":{"scored":1,"accuracy":1.0}},)"
            R"("consistency":{"questions":0,"entailed_asked":0,"entailed_not_asked":0,"consistency":null},)"
            R"("distribution":null})");
}

TEST(GqaMetrics, AndForPeople) {
  GqaMetrics metrics;
  EXPECT_EQ(MetricsTable(metrics), "");
  Sample sample = Question("1", "query", "rel");
  sample.global_group = "thing";
  metrics.Add(sample, "yes", 1);
  metrics.Add(Question("2", "verify"), "no", 0);
  EXPECT_EQ(MetricsTable(metrics),
            "GQA metrics                n    accuracy\n"
            "all                        2      50.0 %\n"
            "binary                     1       0.0 %\n"
            "open                       1     100.0 %\n"
            "structural query           1     100.0 %\n"
            "structural verify          1       0.0 %\n"
            "semantic rel               1     100.0 %\n"
            "distribution                     0.000\n");
}

}  // namespace
}  // namespace afterimage
