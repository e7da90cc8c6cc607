#include "eval/run.h"

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

// Answers "yes" to everything it is asked; a question "fail" fails. Writes down who was asked what, in order.
class ScriptedCache : public Cache {
 public:
  ScriptedCache(std::string name, std::vector<std::string>& asked) : name_(std::move(name)), asked_(asked) {}

  Result<Served> Serve(const Query& query, const TextCallback&) override {
    asked_.push_back(name_ + ":" + query.question);
    queries.push_back(query);
    if (query.question == "fail") return Error{Errc::kTooLarge, "too long"};
    Served served;
    served.answer.text = "Yes.";
    served.answer.tokens = {4};
    served.report.ttft_ms = name_ == "off" ? 10 : 5;
    served.report.latency_ms = 20;
    if (!substitute_from.empty()) {
      served.report.reuse_class = ReuseClass::kApproximate;
      served.report.substitution = "question";
      served.report.donor = Donor{substitute_from, "", {}};
    }
    return served;
  }
  Status Flush() override {
    asked_.push_back(name_ + ":flush");
    return flush_status;
  }
  Result<std::unique_ptr<StartedRequest>> TryReuse(const Query&) override { return Error{}; }
  Status AddObservation(StartedRequest&) override { return {}; }
  CacheStats stats() const override { return {}; }

  std::vector<Query> queries;
  std::string substitute_from;  // the id of a donor whose question is always put in; empty: nothing is
  Status flush_status;

 private:
  const std::string name_;
  std::vector<std::string>& asked_;
};

class ListedSamples : public Dataset {
 public:
  explicit ListedSamples(std::deque<Result<Sample>> samples) : samples_(std::move(samples)) {}
  Result<std::optional<Sample>> Next() override {
    if (samples_.empty()) return std::optional<Sample>();
    Result<Sample> sample = std::move(samples_.front());
    samples_.pop_front();
    if (!sample.ok()) return sample.error();
    return std::optional<Sample>(std::move(*sample));
  }
  std::optional<size_t> size_hint() const override { return samples_.size(); }

 private:
  std::deque<Result<Sample>> samples_;
};

struct Recorder : RunObserver {
  void OnSample(const SampleOutcome& outcome) override { outcomes.push_back(outcome); }
  void OnWarning(const std::string& message) override { warnings.push_back(message); }
  std::vector<SampleOutcome> outcomes;
  std::vector<std::string> warnings;
};

Sample Question(const std::string& text, const std::string& answer = "") {
  Sample sample;
  sample.id = "id-" + text;
  sample.question = text;
  sample.answer = answer;
  return sample;
}

class RunTest : public ::testing::Test {
 protected:
  Result<RunSummary> Run(std::deque<Result<Sample>> samples, bool with_baseline = false) {
    ListedSamples dataset(std::move(samples));
    return afterimage::Run(dataset, engine_, cache_, with_baseline ? &off_ : nullptr, labels_, options_, observer_);
  }

  EngineInfo engine_;
  RunOptions options_;
  Labels labels_;
  std::vector<std::string> asked_;
  ScriptedCache cache_{"cache", asked_};
  ScriptedCache off_{"off", asked_};
  Recorder observer_;
};

TEST_F(RunTest, EverySampleIsServedThenTheCacheIsFlushed) {
  const Result<RunSummary> summary = Run({Question("a"), Question("b")});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->samples, 2u);
  EXPECT_EQ(asked_, (std::vector<std::string>{"cache:a", "cache:b", "cache:flush"}));
  ASSERT_EQ(observer_.outcomes.size(), 2u);
  EXPECT_EQ(observer_.outcomes[1].answer.text, "Yes.");
}

TEST_F(RunTest, TheQueryCarriesThePromptAndHowTheSampleIsKnown) {
  options_.prompt_template = "Q: {question}";
  options_.chunk_source = ChunkSource::kGroup;
  options_.sampling.max_tokens = 3;
  Sample sample = Question("a");
  sample.local_group = "g";
  ASSERT_TRUE(Run({sample}).ok());
  ASSERT_EQ(cache_.queries.size(), 1u);
  const Query& query = cache_.queries[0];
  EXPECT_EQ(query.id, "id-a");
  EXPECT_EQ(query.question, "a");
  EXPECT_EQ(query.chunk_text, "g");
  EXPECT_EQ(query.request.sampling.max_tokens, 3);
  EXPECT_EQ(std::get<std::string>(query.request.messages.at(0).parts.back()), "Q: a");
  EXPECT_EQ(observer_.outcomes[0].prompt, "Q: a");
  EXPECT_EQ(observer_.outcomes[0].chunk_text, "g");
}

TEST_F(RunTest, AnswersAreScoredWhereThereIsAReference) {
  const Result<RunSummary> summary = Run({Question("a", "yes"), Question("b", "no"), Question("c")});
  EXPECT_EQ(summary->scored, 2u);
  EXPECT_EQ(summary->correct, 1u);
  EXPECT_EQ(observer_.outcomes[0].correct, 1);
  EXPECT_EQ(observer_.outcomes[1].correct, 0);
  EXPECT_EQ(observer_.outcomes[2].correct, std::nullopt);
}

TEST_F(RunTest, TenAnswersAreScoredByHowManyAgree) {
  Sample sample = Question("a");
  sample.answers.assign(10, "no");
  sample.answers[0] = sample.answers[1] = "yes";
  const Result<RunSummary> summary = Run({sample}, true);
  EXPECT_EQ(summary->scored, 1u);
  EXPECT_DOUBLE_EQ(summary->correct, 0.6);
  EXPECT_DOUBLE_EQ(summary->baseline_correct, 0.6);
}

TEST_F(RunTest, MetricsAreGatheredWhereTheyAreAskedFor) {
  EXPECT_FALSE(Run({Question("a", "yes")})->metrics.has_value());
  options_.metrics = true;
  EXPECT_EQ(Run({Question("a", "yes")})->metrics->all().scored, 1u);
}

TEST_F(RunTest, LabelsOfTheSamplesRunTellWhichSubstitutionsAreRight) {
  cache_.substitute_from = "id-a";
  Sample first = Question("a");
  first.equivalent = {"id-a", "id-b"};
  Sample third = Question("c");
  third.equivalent = {"id-c"};
  const Result<RunSummary> summary = Run({first, Question("b"), third, Question("d")});
  EXPECT_EQ(observer_.outcomes[1].verdict.same, true) << "the first sample named it";
  EXPECT_EQ(observer_.outcomes[2].verdict.same, false);
  EXPECT_EQ(observer_.outcomes[3].verdict.same, std::nullopt);
  EXPECT_TRUE(summary->has_labels);
  EXPECT_EQ(summary->wrong_donors, 1u);
  EXPECT_EQ(summary->labelled_substitutions, 3u);
}

TEST_F(RunTest, LabelsKnownBeforehandCount) {
  Sample elsewhere = Question("z");
  elsewhere.equivalent = {"id-z", "id-b"};
  labels_.Add(elsewhere);
  cache_.substitute_from = "id-z";
  ASSERT_TRUE(Run({Question("b")}).ok());
  EXPECT_EQ(observer_.outcomes[0].verdict.same, true);
}

TEST_F(RunTest, TheBaselineTakesTurnsWithTheCache) {
  const Result<RunSummary> summary = Run({Question("a", "yes"), Question("b"), Question("c")}, true);
  EXPECT_EQ(asked_,
            (std::vector<std::string>{"cache:a", "off:a", "off:b", "cache:b", "cache:c", "off:c", "cache:flush"}));
  EXPECT_EQ(summary->compared, 3u);
  EXPECT_EQ(summary->identical, 3u);
  EXPECT_EQ(summary->baseline_correct, 1u);
  EXPECT_EQ(SpreadOf(summary->ratios.ttft).p50, 2);
}

TEST_F(RunTest, ErrorsAreCountedAndTheRunGoesOn) {
  const Result<RunSummary> summary =
      Run({Question("fail"), Result<Sample>(Error{Errc::kInvalidArgument, "q:2: no question"}), Question("c")});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->samples, 1u);
  EXPECT_EQ(summary->errors, 2u);
  EXPECT_EQ(summary->first_error, "too long");
  ASSERT_EQ(observer_.outcomes.size(), 3u);
  EXPECT_EQ(observer_.outcomes[1].error->message, "q:2: no question");
}

TEST_F(RunTest, ADataSetThatEndsWithAnErrorEndsTheRun) {
  const Result<RunSummary> summary = Run({Question("a"), Result<Sample>(Error{Errc::kIo, "gone"}), Question("c")});
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().message, "gone");
}

TEST_F(RunTest, AModelWithoutVisionIsAskedWithoutPicturesAndWarnsOnce) {
  Sample sample = Question("a");
  sample.image_path = "/no/such.png";
  const Result<RunSummary> summary = Run({sample, sample});
  EXPECT_EQ(summary->samples, 2u);
  EXPECT_EQ(observer_.warnings.size(), 1u);
  EXPECT_TRUE(cache_.queries[0].image_paths.empty());
}

TEST_F(RunTest, AMissingPictureIsDoneWithoutAndADamagedOneIsAnError) {
  engine_.vision = true;
  Sample missing = Question("a");
  missing.image_path = "/no/such.png";
  Sample unknown = Question("b");
  unknown.image_id = "n9";
  TemporaryFolder folder;
  Sample broken = Question("c");
  broken.image_path = folder / "broken.png";
  std::ofstream(broken.image_path) << "not a picture";
  const Result<RunSummary> summary = Run({missing, unknown, broken, Question("d")});
  EXPECT_EQ(summary->errors, 1u);
  EXPECT_EQ(asked_, (std::vector<std::string>{"cache:a", "cache:b", "cache:d", "cache:flush"}));
  EXPECT_TRUE(cache_.queries[0].image_paths.empty());
  EXPECT_TRUE(observer_.outcomes[2].error.has_value());
  ASSERT_EQ(observer_.warnings.size(), 1u) << "one, not one a sample";
  EXPECT_NE(observer_.warnings[0].find("/no/such.png"), std::string::npos);
}

TEST_F(RunTest, ThePictureIsPartOfTheRequest) {
  engine_.vision = true;
  TemporaryFolder folder;
  Sample sample = Question("a");
  sample.image_path = folder / "a.png";
  // One white pixel.
  const unsigned char file[] = {0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48,
                                0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
                                0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00, 0x0C, 0x49, 0x44, 0x41, 0x54, 0x78,
                                0xDA, 0x63, 0xF8, 0xFF, 0xFF, 0x3F, 0x00, 0x05, 0xFE, 0x02, 0xFE, 0x33, 0x12, 0x95,
                                0x14, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};
  std::ofstream(sample.image_path, std::ios::binary).write(reinterpret_cast<const char*>(file), sizeof(file));
  const Result<RunSummary> summary = Run({sample});
  EXPECT_EQ(summary->first_error, "");
  ASSERT_EQ(cache_.queries.size(), 1u);
  EXPECT_EQ(cache_.queries[0].image_paths, std::vector<std::string>{sample.image_path});
  int pictures = 0;
  for (const Message::Part& part : cache_.queries[0].request.messages.at(0).parts) {
    pictures += std::holds_alternative<std::shared_ptr<const Image>>(part) ? 1 : 0;
  }
  EXPECT_EQ(pictures, 1);
}

TEST_F(RunTest, WhatCouldNotBeKeptIsAWarning) {
  cache_.flush_status = Error{Errc::kIo, "disk full"};
  ASSERT_TRUE(Run({Question("a")}).ok());
  ASSERT_EQ(observer_.warnings.size(), 1u);
  EXPECT_NE(observer_.warnings[0].find("disk full"), std::string::npos);
}

}  // namespace
}  // namespace afterimage
