#include "eval/report_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Report PrefixHit() {
  Report report;
  report.reuse_class = ReuseClass::kExact;
  report.provenance = "prefix:image";
  LayerReport exact;
  exact.key = "exact_text";
  exact.status = LayerStatus::kRefused;
  exact.reason = "another picture";
  exact.lookup_ms = 0.5;
  exact.candidates.push_back({.donor = {"3", "What is it?", {"a.png", "b.png"}},
                              .score = 1.0,
                              .reuse_class = ReuseClass::kNormalized,
                              .substitution = "question",
                              .passed = {"text guard"},
                              .refused = "reuse: exact only"});
  LayerReport prefix;
  prefix.key = "prefix";
  prefix.status = LayerStatus::kHit;
  LayerReport fusion;
  fusion.key = "fusion";
  fusion.status = LayerStatus::kSkip;
  fusion.reason = "not needed";
  report.layers = {exact, prefix, fusion, {"kv_cache", LayerStatus::kHit, "", 0, {}}};
  PlanReport used;
  used.reuse_class = ReuseClass::kExact;
  used.tokens_reused = 20;
  used.bytes = 4096;
  used.predicted_ms = 2.5;
  used.outcome = "used";
  PlanReport cold;
  cold.outcome = "not tried";
  report.plans = {used, cold};
  report.predicted_ms = 2.5;
  report.actual_ms = 2.0;
  report.prompt_tokens = 28;
  report.stats.tokens_reused = 20;
  report.stats.tokens_computed = 8;
  report.stats.prefill_ms = 1.5;
  report.bytes_loaded = 4096;
  report.bytes_stored = 512;
  report.ttft_ms = 12.5;
  report.latency_ms = 32.4;
  return report;
}

SampleOutcome Outcome() {
  SampleOutcome outcome;
  outcome.sample.id = "05515938";
  outcome.sample.question = "What is it?";
  outcome.sample.answer = "a cat";
  outcome.sample.image_path = "a.png";
  outcome.sample.metadata = R"({"scene": 4})";
  outcome.prompt = "Q: What is it?";
  outcome.chunk_text = "what";
  outcome.answer.text = "A cat.";
  outcome.answer.tokens = {1, 2};
  outcome.report = PrefixHit();
  outcome.correct = 1;
  return outcome;
}

TEST(LogLine, AHitNamesItsSource) {
  EXPECT_EQ(LogLine(Outcome()),
            "[05515938] hit (prefix:image) | latency=0.032s | answer match=True | exact_text=refused, prefix=hit, "
            "fusion=skip, kv_cache=hit");
}

TEST(LogLine, AMissNamesNone) {
  SampleOutcome outcome = Outcome();
  outcome.report.stats.tokens_reused = 0;
  outcome.report.provenance.clear();
  outcome.report.layers = {{"kv_cache", LayerStatus::kMiss, "", 0, {}}};
  outcome.report.latency_ms = 471;
  outcome.correct = 0;
  EXPECT_EQ(LogLine(outcome), "[05515938] miss | latency=0.471s | answer match=False | kv_cache=miss");
  outcome.correct.reset();
  EXPECT_EQ(LogLine(outcome), "[05515938] miss | latency=0.471s | answer match=None | kv_cache=miss");
}

TEST(LogLine, EncoderOutputAloneIsNoHit) {
  SampleOutcome outcome = Outcome();
  outcome.report.stats.tokens_reused = 0;
  outcome.report.provenance = "fusion";
  EXPECT_NE(LogLine(outcome).find("] miss |"), std::string::npos);
}

TEST(LogLine, AnErrorSaysWhy) {
  SampleOutcome outcome;
  outcome.error = Error{Errc::kInvalidArgument, "q.jsonl:3: not valid UTF-8"};
  EXPECT_EQ(LogLine(outcome), "[?] error | q.jsonl:3: not valid UTF-8");
  outcome.sample.id = "9";
  EXPECT_EQ(LogLine(outcome), "[9] error | q.jsonl:3: not valid UTF-8");
}

TEST(ReportJson, SaysWhatHappenedLayerByLayer) {
  const Json json = ReportJson(PrefixHit());
  EXPECT_EQ(json["class"], "exact");
  EXPECT_EQ(json["hit"], true);
  EXPECT_EQ(json["hit_source"], "prefix:image");
  EXPECT_EQ(json["statuses"].dump(), R"({"exact_text":"refused","prefix":"hit","fusion":"skip","kv_cache":"hit"})");
  EXPECT_EQ(json["layers"][0]["candidates"][0]["donor"]["image_path"], "a.png");
  EXPECT_EQ(json["layers"][0]["candidates"][0]["class"], "normalized");
  EXPECT_EQ(json["layers"][0]["candidates"][0]["refused"], "reuse: exact only");
  EXPECT_EQ(json["layers"][0]["candidates"][0]["substitution"], "question");
  EXPECT_EQ(json["layers"][0]["candidates"][0]["passed"].dump(), R"(["text guard"])");
  EXPECT_EQ(json["layers"][2]["reason"], "not needed");
  EXPECT_TRUE(json["donor"].is_null());
  EXPECT_TRUE(json["score"].is_null());
  EXPECT_EQ(json["plan"]["predicted_ms"], 2.5);
  EXPECT_EQ(json["plan"]["actual_ms"], 2.0);
  EXPECT_EQ(json["plan"]["weighed"][0]["outcome"], "used");
  EXPECT_TRUE(json["plan"]["weighed"][1]["predicted_ms"].is_null());
  EXPECT_EQ(json["tokens"].dump(), R"({"prompt":28,"reused":20,"computed":8,"generated":0})");
  EXPECT_EQ(json["bytes"].dump(), R"({"loaded":4096,"stored":512})");
  EXPECT_EQ(json["stages_ms"]["lookup"]["exact_text"], 0.5);
  EXPECT_EQ(json["stages_ms"]["prefill"], 1.5);
  EXPECT_EQ(json["ttft_ms"], 12.5);
}

TEST(SampleLine, HasTheFieldsOfTheContract) {
  SampleOutcome outcome = Outcome();
  outcome.report.donor = Donor{"3", "WHAT is it?", {"b.png"}};
  outcome.report.score = 0.9;
  outcome.report.substitution = "question";
  outcome.baseline = SampleOutcome::Baseline{};
  outcome.baseline->answer = {"A dog.", {1, 3}, Answer::Finish::kStop};
  const Json json = Json::parse(SampleLine(outcome));
  for (const char* key : {"dataset_id", "image_id",          "question",   "chunk_text", "prompt",
                          "hit",        "hit_source",        "class",      "latency",    "ttft",
                          "response",   "reference",         "is_correct", "statuses",   "donor",
                          "score",      "substitution",      "candidates", "gates",      "plan",
                          "image_path", "baseline_response", "metadata"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["dataset_id"], "05515938");
  EXPECT_TRUE(json["image_id"].is_null());
  EXPECT_EQ(json["chunk_text"], "what");
  EXPECT_EQ(json["prompt"], "Q: What is it?");
  EXPECT_DOUBLE_EQ(json["latency"], 0.0324);
  EXPECT_DOUBLE_EQ(json["ttft"], 0.0125);
  EXPECT_EQ(json["response"], "A cat.");
  EXPECT_EQ(json["reference"], "a cat");
  EXPECT_EQ(json["is_correct"], true);
  EXPECT_EQ(json["donor"].dump(), R"({"id":"3","question":"WHAT is it?","image_path":"b.png"})");
  EXPECT_EQ(json["score"], 0.9);
  EXPECT_EQ(json["candidates"][0]["layer"], "exact_text");
  EXPECT_EQ(json["candidates"][0]["substitution"], "question");
  EXPECT_EQ(json["candidates"][0]["passed"].dump(), R"(["text guard"])");
  EXPECT_EQ(json["layers"], ReportJson(outcome.report)["layers"]);
  EXPECT_EQ(json["gates"][0].dump(),
            R"({"layer":"exact_text","donor":"3","admitted":false,"reason":"reuse: exact only"})");
  EXPECT_EQ(json["gates"].size(), 1u);  // a layer that was skipped is no gate
  EXPECT_EQ(json["baseline_response"], "A dog.");
  EXPECT_EQ(json["agrees"], false);
  EXPECT_EQ(json["metadata"]["scene"], 4);
}

TEST(SampleLine, LabelsAreThereWhereTheSampleHasThem) {
  SampleOutcome outcome = Outcome();
  EXPECT_FALSE(Json::parse(SampleLine(outcome)).contains("expected_hit"));
  EXPECT_FALSE(Json::parse(SampleLine(outcome)).contains("vqa_score"));
  outcome.sample.expected_hit = "exact";
  outcome.sample.answers.assign(10, "cat");
  outcome.correct = 0.6;
  const Json json = Json::parse(SampleLine(outcome));
  EXPECT_EQ(json["expected_hit"], "exact");
  EXPECT_EQ(json["vqa_score"], 0.6);
  EXPECT_EQ(json["is_correct"], true);
}

TEST(SampleLine, ASubstitutionHasWhatTheLabelsSayOfIt) {
  SampleOutcome outcome = Outcome();
  EXPECT_FALSE(Json::parse(SampleLine(outcome)).contains("label"));
  outcome.report.substitution = "picture";
  EXPECT_TRUE(Json::parse(SampleLine(outcome)).at("label").is_null());
  outcome.verdict.same = false;
  EXPECT_EQ(Json::parse(SampleLine(outcome))["label"], false);
  outcome.verdict.same = true;
  EXPECT_EQ(Json::parse(SampleLine(outcome))["label"], true);
}

TEST(SampleLine, AnErrorIsALineToo) {
  SampleOutcome outcome;
  outcome.sample.id = "9";
  outcome.sample.question = "What?";
  outcome.error = Error{Errc::kNotFound, "There is no file."};
  const Json json = Json::parse(SampleLine(outcome));
  EXPECT_EQ(json["dataset_id"], "9");
  EXPECT_EQ(json["error"], "There is no file.");
  EXPECT_FALSE(json.contains("response"));
}

TEST(SampleLine, BytesThatAreNotUtf8DoNotBreakTheFile) {
  SampleOutcome outcome = Outcome();
  outcome.answer.text = "\xFF";
  outcome.sample.metadata.clear();
  const std::string line = SampleLine(outcome);
  EXPECT_EQ(Json::parse(line)["response"], "\xEF\xBF\xBD");
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace afterimage
