#include "eval/run_summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

SampleOutcome Outcome(ReuseClass reuse_class, const std::string& provenance, int tokens_reused, double ttft_ms) {
  SampleOutcome outcome;
  outcome.sample.id = "1";
  outcome.answer.tokens = {1, 2};
  outcome.report.reuse_class = reuse_class;
  outcome.report.provenance = provenance;
  outcome.report.prompt_tokens = 30;
  outcome.report.stats.tokens_reused = tokens_reused;
  outcome.report.stats.tokens_computed = 30 - tokens_reused;
  outcome.report.ttft_ms = ttft_ms;
  outcome.report.latency_ms = ttft_ms + 10;
  const LayerStatus kv = tokens_reused > 0 ? LayerStatus::kHit : LayerStatus::kMiss;
  outcome.report.layers = {{"prefix", kv, "", 0.25, {}}, {"kv_cache", kv, "", 0, {}}};
  return outcome;
}

SampleOutcome Cold(double ttft_ms) { return Outcome(ReuseClass::kCold, "", 0, ttft_ms); }

SampleOutcome WithBaseline(SampleOutcome outcome, double ttft_ms, std::vector<int32_t> tokens = {1, 2}) {
  outcome.baseline = SampleOutcome::Baseline{};
  outcome.baseline->answer.tokens = std::move(tokens);
  outcome.baseline->ttft_ms = ttft_ms;
  outcome.baseline->latency_ms = ttft_ms + 10;
  return outcome;
}

SampleOutcome Scored(SampleOutcome outcome, double correct, bool is_balanced = true) {
  outcome.correct = correct;
  outcome.sample.is_balanced = is_balanced;
  if (outcome.baseline.has_value()) outcome.baseline->correct = 1;
  return outcome;
}

Json Summarized(const std::vector<SampleOutcome>& outcomes, const RunInfo& info = {}) {
  RunSummary summary;
  for (const SampleOutcome& outcome : outcomes) summary.Add(outcome);
  return SummaryJson(summary, info);
}

TEST(SpreadOf, InterpolatesBetweenValues) {
  EXPECT_DOUBLE_EQ(SpreadOf({4, 1, 3, 2}).p50, 2.5);
  EXPECT_DOUBLE_EQ(SpreadOf({1, 2, 3}).p50, 2);
  EXPECT_DOUBLE_EQ(SpreadOf({0, 100}).p95, 95);
  EXPECT_DOUBLE_EQ(SpreadOf({7}).p95, 7);
  EXPECT_DOUBLE_EQ(SpreadOf({1, 2, 6}).mean, 3);
  EXPECT_DOUBLE_EQ(SpreadOf({}).p50, 0);
}

TEST(RunSummary, CountsHitsClassesAndStatuses) {
  const Json json =
      Summarized({Outcome(ReuseClass::kExact, "text:exact", 30, 1), Cold(20),
                  Outcome(ReuseClass::kExact, "prefix:image", 20, 3), Outcome(ReuseClass::kEncoder, "fusion", 0, 12)});
  EXPECT_EQ(json["samples"], 4);
  EXPECT_EQ(json["errors"], 0);
  EXPECT_EQ(json["hit_rate"], 0.5);
  EXPECT_EQ(json["hits"].dump(), R"({"fusion":1,"prefix:image":1,"text:exact":1})");
  EXPECT_EQ(json["classes"].dump(), R"({"exact":2,"normalized":0,"approximate":0,"encoder":1,"cold":1})");
  EXPECT_EQ(json["statuses"]["kv_cache"].dump(), R"({"hit":2,"miss":2,"skip":0,"refused":0})");
  EXPECT_EQ(json["tokens"]["prompt"], 120);
  EXPECT_EQ(json["tokens"]["reused"], 50);
  EXPECT_EQ(json["tokens"]["computed"], 70);
  EXPECT_EQ(json["stages_ms"]["lookup"]["prefix"], 0.25);
  EXPECT_FALSE(json.contains("baseline"));
  EXPECT_FALSE(json.contains("agreement"));
  EXPECT_FALSE(json.contains("wrong_donors"));
}

TEST(RunSummary, TimesAreGivenOfAllAndByClass) {
  const Json json = Summarized({Cold(20), Cold(40), Outcome(ReuseClass::kExact, "text:exact", 30, 3)});
  EXPECT_EQ(json["ttft_ms"]["p50"], 20);
  EXPECT_EQ(json["ttft_ms"]["mean"], 21);
  EXPECT_EQ(json["ttft_ms"]["by_class"]["cold"]["p50"], 30);
  EXPECT_EQ(json["ttft_ms"]["by_class"]["exact"]["p95"], 3);
  EXPECT_FALSE(json["ttft_ms"]["by_class"].contains("encoder"));
  EXPECT_EQ(json["latency_ms"]["p50"], 30);
}

TEST(RunSummary, ErrorsAreCountedAndInNothingElse) {
  SampleOutcome failed;
  failed.error = Error{Errc::kNotFound, "first"};
  SampleOutcome second;
  second.error = Error{Errc::kNotFound, "second"};
  RunSummary summary;
  summary.Add(failed);
  summary.Add(second);
  summary.Add(Cold(20));
  EXPECT_EQ(summary.first_error, "first");
  const Json json = SummaryJson(summary, {});
  EXPECT_EQ(json["samples"], 1);
  EXPECT_EQ(json["errors"], 2);
  EXPECT_EQ(json["classes"]["cold"], 1);
}

TEST(RunSummary, AccuracyIsOfWhatIsScored) {
  const Json json = Summarized({Scored(Cold(1), true), Scored(Cold(1), false), Cold(1), Scored(Cold(1), true, false)});
  EXPECT_EQ(json["scored"], 2);
  EXPECT_EQ(json["accuracy"], 0.5);
  EXPECT_TRUE(Summarized({Cold(1)})["accuracy"].is_null());
}

TEST(RunSummary, AccuracyIsTheMeanOfShares) {
  const Json json = Summarized({Scored(Cold(1), 0.3), Scored(Cold(1), 0.9)});
  EXPECT_DOUBLE_EQ(json["accuracy"], 0.6);
}

TEST(RunSummary, ExpectedHitsAreThoseOfTheExpectedLayer) {
  const auto expecting = [](const std::string& expected, const std::string& layer) {
    SampleOutcome outcome = Outcome(ReuseClass::kExact, layer, layer.empty() ? 0 : 30, 1);
    outcome.sample.expected_hit = expected;
    for (const char* key : {"exact_text", "embedding:both", "semantic_text"}) {
      outcome.report.layers.push_back({.key = key, .status = key == layer ? LayerStatus::kHit : LayerStatus::kRefused});
    }
    return outcome;
  };
  const std::vector<SampleOutcome> outcomes = {expecting("exact", "exact_text"),
                                               expecting("exact", "semantic_text"),
                                               expecting("semantic", "semantic_text"),
                                               expecting("semantic", "embedding:both"),
                                               expecting("embedding", "embedding:both"),
                                               expecting("embedding", "semantic_text"),
                                               expecting("embedding", ""),
                                               expecting("", "exact_text")};
  EXPECT_EQ(Summarized(outcomes)["expected_hits"].dump(), R"({"total":7,"met":3})");
  EXPECT_FALSE(Summarized({Cold(1)}).contains("expected_hits"));
  RunSummary summary;
  for (const SampleOutcome& outcome : outcomes) summary.Add(outcome);
  EXPECT_NE(SummaryTable(summary, {}).find("\n            3 of 7 found by the layer that was expected to\n"),
            std::string::npos);
}

TEST(RunSummary, MetricsAreThereWhereTheyAreWanted) {
  RunSummary summary;
  summary.Add(Scored(Cold(1), 1));
  EXPECT_FALSE(SummaryJson(summary, {}).contains("metrics"));
  summary.metrics.emplace();
  summary.Add(Scored(Cold(1), 1));
  summary.Add(Cold(1));  // without a reference
  EXPECT_EQ(SummaryJson(summary, {})["metrics"]["accuracy"]["scored"], 1);
  EXPECT_NE(SummaryTable(summary, {}).find("\n\nGQA metrics "), std::string::npos);
}

TEST(RunSummary, TheBaselineIsComparedSampleBySample) {
  const Json json =
      Summarized({Scored(WithBaseline(Cold(20), 20), true),
                  Scored(WithBaseline(Outcome(ReuseClass::kExact, "text:exact", 30, 2), 20), true),
                  Scored(WithBaseline(Outcome(ReuseClass::kApproximate, "text:exact", 30, 4), 20, {1}), false),
                  Scored(WithBaseline(Cold(10), 20, {9}), false)});
  EXPECT_EQ(json["baseline"]["accuracy"], 1.0);
  EXPECT_EQ(json["accuracy"], 0.5);
  EXPECT_EQ(json["baseline"]["ttft_ms"]["p50"], 20);
  EXPECT_EQ(json["baseline"]["latency_ms"]["p50"], 30);
  EXPECT_EQ(json["agreement"], 0.5);
  EXPECT_EQ(json["false_hits"]["count"], 1);
  EXPECT_EQ(json["false_hits"]["per_request"], 0.25);
  EXPECT_EQ(json["false_hits"]["per_hit"], 0.5);
  EXPECT_NEAR(json["false_hits"]["per_request_interval"][1], 0.6994, 5e-5);  // of 1 of 4
  EXPECT_NEAR(json["false_hits"]["per_hit_interval"][0], 0.0945, 5e-5);      // of 1 of 2
  EXPECT_DOUBLE_EQ(json["speedup"]["ttft_p50"], 3.5);                        // of 1, 10, 5, 2
  EXPECT_DOUBLE_EQ(json["speedup"]["ttft_mean"], 80.0 / 36);
  EXPECT_DOUBLE_EQ(json["speedup"]["by_class"]["exact"]["ttft_p50"], 10);
  EXPECT_DOUBLE_EQ(json["speedup"]["by_class"]["exact"]["latency_p50"], 2.5);
  EXPECT_DOUBLE_EQ(json["speedup"]["by_class"]["cold"]["ttft_p50"], 1.5);
}

TEST(RunSummary, ThePlannersErrorIsRelativeToWhatHappened) {
  SampleOutcome over = Cold(1);
  over.report.predicted_ms = 12;
  over.report.actual_ms = 10;
  SampleOutcome under = Cold(1);
  under.report.predicted_ms = 5;
  under.report.actual_ms = 10;
  const Json json = Summarized({over, under, Cold(1)});
  EXPECT_EQ(json["planner"]["predictions"], 2);
  EXPECT_DOUBLE_EQ(json["planner"]["median_relative_error"], 0.35);
  EXPECT_TRUE(Summarized({Cold(1)})["planner"]["median_relative_error"].is_null());
}

SampleOutcome Judged(ReuseClass reuse_class, int tokens_reused, std::optional<bool> same, bool missed = false) {
  SampleOutcome outcome = Outcome(reuse_class, "", tokens_reused, 1);
  outcome.verdict = {true, same, missed};
  return outcome;
}

TEST(RunSummary, LabelsTellWrongDonors) {
  const SampleOutcome right = Judged(ReuseClass::kApproximate, 30, true);
  const SampleOutcome wrong = Judged(ReuseClass::kApproximate, 30, false);
  const SampleOutcome wrong_encoder_output = Judged(ReuseClass::kApproximate, 0, false);
  const SampleOutcome normalized = Judged(ReuseClass::kNormalized, 30, true);
  const SampleOutcome unlabelled = Outcome(ReuseClass::kApproximate, "text:semantic", 30, 1);
  const Json json = Summarized({right, wrong, wrong_encoder_output, normalized, unlabelled})["wrong_donors"];
  EXPECT_EQ(json["count"], 2);
  EXPECT_EQ(json["substitutions"], 3);
  EXPECT_EQ(json["per_request"], 0.4);
  EXPECT_EQ(json["per_hit"], 0.25);
  // 2 of 5 and 1 of 4.
  EXPECT_NEAR(json["per_request_interval"][0], 0.1176, 5e-5);
  EXPECT_NEAR(json["per_request_interval"][1], 0.7693, 5e-5);
  EXPECT_NEAR(json["per_hit_interval"][0], 0.0456, 5e-5);
  EXPECT_NEAR(json["per_hit_interval"][1], 0.6994, 5e-5);
}

TEST(RunSummary, PrecisionIsOfWhatWasSubstitutedAndRecallOfWhatCouldHaveBeen) {
  const SampleOutcome right = Judged(ReuseClass::kApproximate, 30, true);
  const SampleOutcome normalized = Judged(ReuseClass::kNormalized, 30, true);
  const SampleOutcome wrong = Judged(ReuseClass::kApproximate, 30, false);
  const SampleOutcome missed = Judged(ReuseClass::kCold, 0, std::nullopt, true);
  const SampleOutcome cold = Judged(ReuseClass::kCold, 0, std::nullopt);
  const Json json = Summarized({right, right, normalized, wrong, missed, missed, cold});
  EXPECT_EQ(json["precision"], 0.75);
  EXPECT_EQ(json["recall"], 0.6);
  const Json nothing = Summarized({cold});
  EXPECT_TRUE(nothing.at("precision").is_null());
  EXPECT_TRUE(nothing.at("recall").is_null());
  EXPECT_TRUE(nothing["wrong_donors"].at("per_hit").is_null());
  EXPECT_TRUE(nothing["wrong_donors"].at("per_hit_interval").is_null());
  EXPECT_EQ(nothing["wrong_donors"]["per_request"], 0);
  EXPECT_FALSE(Summarized({Cold(1)}).contains("precision")) << "without labels there is none";
}

TEST(RunSummary, BytesComeFromTheCache) {
  RunInfo info;
  info.model = "m.gguf";
  info.dataset = "q.jsonl";
  info.stats.kv_bytes = 1500000;
  info.stats.fusion_bytes = 2000;
  info.stats.chunks = 3;
  info.stats.quarantined = 1;
  SampleOutcome outcome = Cold(1);
  outcome.report.bytes_stored = 7;
  outcome.report.bytes_loaded = 9;
  const Json json = Summarized({outcome, outcome}, info);
  EXPECT_EQ(json["model"], "m.gguf");
  EXPECT_EQ(json["dataset"], "q.jsonl");
  EXPECT_EQ(json["bytes"]["stored"], 14);
  EXPECT_EQ(json["bytes"]["loaded"], 18);
  EXPECT_EQ(json["bytes"]["by_kind"]["kv"], 1500000);
  EXPECT_EQ(json["cache"]["quarantined"], 1);
}

TEST(RunSummary, NothingAnsweredIsStillASummary) {
  const Json json = Summarized({});
  EXPECT_EQ(json["samples"], 0);
  EXPECT_TRUE(json["hit_rate"].is_null());
  EXPECT_TRUE(json["ttft_ms"]["p50"].is_null());
}

TEST(SummaryTable, IsWhatAPersonWantsToKnow) {
  RunSummary summary;
  SampleOutcome hit = Scored(WithBaseline(Outcome(ReuseClass::kExact, "text:exact", 30, 2), 20), true);
  hit.report.predicted_ms = 11;
  hit.report.actual_ms = 10;
  summary.Add(hit);
  summary.Add(Scored(WithBaseline(Cold(20), 20), false));
  summary.Add([] {
    SampleOutcome failed;
    failed.error = Error{};
    return failed;
  }());
  RunInfo info;
  info.stats.chunks = 3;
  info.stats.kv_bytes = 1500000;
  info.stats.fusion_bytes = 2000;
  info.stats.logits_bytes = 12;
  EXPECT_EQ(SummaryTable(summary, info),
            "requests    2 answered, 1 failed\n"
            "hits        1 of 2 (50.0 %): text:exact 1\n"
            "accuracy    50.0 % of 2 scored, without the cache 100.0 %\n"
            "answers     2 of 2 identical to those without the cache, 0 false hits\n"
            "planner     median error 10.0 % over 1 predictions\n"
            "stored      KV 1.5 MB, encoder 2.0 KB, logits 12 B, file headers 0 B, catalogue 0 B\n"
            "\n"
            "time to first token        n   median ms      p95 ms    speed-up\n"
            "cold                       1       20.00       20.00       1.00x\n"
            "exact                      1        2.00        2.00      10.00x\n"
            "all                        2       11.00       19.10       5.50x\n"
            "without the cache          2       20.00       20.00\n");
}

}  // namespace
}  // namespace afterimage
