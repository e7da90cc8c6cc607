#include "page/requests.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Json Sample(const std::string& id, const Json& more = Json::object()) {
  Json sample = {{"donor", {{"id", id}}}, {"dataset_id", id},      {"class", "cold"}, {"ttft", 0.5},
                 {"hit", false},          {"hit_source", nullptr}, {"response", "a"}};
  sample.update(more);
  return sample;
}

const Json kFalseHit = {{"hit", true}, {"hit_source", "text:semantic"}, {"class", "approximate"}, {"agrees", false}};
const Json kWrongDonor = {{"hit", true}, {"hit_source", "text:exact"}, {"agrees", true}, {"label", false}};
const Json kBoth = {{"hit", true}, {"hit_source", "text:semantic"}, {"agrees", false}, {"label", false}};

class RequestsTest : public testing::Test {
 protected:
  Requests Read(const std::string& text) {
    std::ofstream(folder_ / "samples.jsonl") << text;
    Result<Requests> requests = ReadRequests(folder_ / "samples.jsonl");
    EXPECT_TRUE(requests.ok()) << requests.error().message;
    return requests.ok() ? std::move(*requests) : Requests();
  }
  Requests ReadSamples(const std::vector<Json>& samples) {
    std::string text;
    for (const Json& sample : samples) text += sample.dump() + "\n";
    return Read(text);
  }

  TemporaryFolder folder_;
};

TEST_F(RequestsTest, ARequestIsAFewNumbers) {
  const Requests requests = ReadSamples({Sample("1"),
                                         Sample("2", {{"ttft", 0.0012345678},
                                                      {"baseline_ttft", 0.25},
                                                      {"hit", true},
                                                      {"class", "exact"},
                                                      {"hit_source", "text:exact"},
                                                      {"agrees", true}}),
                                         Sample("3", kFalseHit), Sample("4", kWrongDonor), Sample("5", kBoth)});
  const Json& columns = requests.columns;
  EXPECT_EQ(columns["total"], 5);
  EXPECT_EQ(columns["sources"], Json({"text:exact", "text:semantic"}));
  EXPECT_EQ(columns["classes"], Json({"cold", "exact", "approximate"}));
  EXPECT_EQ(columns["class"], Json({0, 1, 2, 0, 0}));
  EXPECT_EQ(columns["source"], Json({nullptr, 0, 1, 0, 1}));
  EXPECT_EQ(columns["ttft_ms"], Json({500.0, 1.235, 500.0, 500.0, 500.0}));
  EXPECT_EQ(columns["baseline_ttft_ms"], Json({nullptr, 250.0, nullptr, nullptr, nullptr}));
  EXPECT_EQ(columns["marks"], Json({0, 1, 3, 5, 7}));
}

TEST_F(RequestsTest, WhatDiffersWithoutAHitIsNoFalseHit) {
  EXPECT_FALSE(IsFalseHit(Sample("1", {{"agrees", false}})));
  EXPECT_TRUE(IsFalseHit(Sample("1", kFalseHit)));
  EXPECT_FALSE(IsFalseHit(Sample("1", {{"hit", true}})));
}

TEST_F(RequestsTest, LabelsThatDoNotSayMakeNoWrongDonor) {
  EXPECT_FALSE(IsWrongDonor(Sample("1", {{"label", nullptr}})));
  EXPECT_FALSE(IsWrongDonor(Sample("1", {{"label", true}})));
  EXPECT_FALSE(IsWrongDonor(Sample("1")));
}

TEST_F(RequestsTest, DamagedLinesArePassedOverAndCountedAndSoAreFailedRequests) {
  const Requests requests =
      Read(Sample("1").dump() + "\nnot JSON\n[1]\n{\"class\": 7, \"ttft\": 1}\n{\"class\": \"cold\"}\n" +
           R"({"dataset_id": "2", "error": "no picture"})" + "\n\n" + std::string(5 << 20, 'x') + "\n" +
           Sample("3").dump().substr(0, 20));
  EXPECT_EQ(requests.columns["total"], 1);
  EXPECT_EQ(requests.columns["failed"], 1);
  EXPECT_EQ(requests.columns["damaged"], 6);
}

TEST_F(RequestsTest, TheWorstComeFirstAndOnlySoMany) {
  std::vector<Json> samples;
  const auto add = [&](const char* what, const Json& more) {
    for (size_t i = 0; i < kMaxWrongShown; ++i) samples.push_back(Sample(what + std::to_string(i), more));
  };
  add("wrong donor", kWrongDonor);
  add("false hit", kFalseHit);
  samples.push_back(Sample("right"));
  samples.push_back(Sample("both", kBoth));
  const Requests requests = ReadSamples(samples);
  EXPECT_EQ(requests.wrong_total, 2 * kMaxWrongShown + 1);
  ASSERT_EQ(requests.wrong.size(), kMaxWrongShown);
  EXPECT_EQ(requests.wrong.front()["dataset_id"], "both");
  EXPECT_EQ(requests.wrong[1]["dataset_id"], "false hit0");
  EXPECT_EQ(requests.wrong.back()["dataset_id"], "false hit6");
}

TEST_F(RequestsTest, ADonorIsShownAgainOnlyAfterTheOthers) {
  Json again = Sample("again", kBoth);
  again["donor"]["id"] = "one";
  const Requests requests = ReadSamples({Sample("one", kBoth), again, Sample("two", kWrongDonor)});
  ASSERT_EQ(requests.wrong.size(), 3);
  EXPECT_EQ(requests.wrong[0]["dataset_id"], "one");
  EXPECT_EQ(requests.wrong[1]["dataset_id"], "two");
  EXPECT_EQ(requests.wrong[2]["dataset_id"], "again");
}

TEST_F(RequestsTest, OfALongRunTheFirstAreDrawnAndAllAreCounted) {
  std::string text;
  for (size_t i = 0; i < kMaxRequestsDrawn + 10; ++i) text += Sample("1").dump() + "\n";
  text += Sample("2", kBoth).dump() + "\n";
  const Requests requests = Read(text);
  EXPECT_EQ(requests.columns["total"], kMaxRequestsDrawn + 11);
  EXPECT_EQ(requests.columns["class"].size(), kMaxRequestsDrawn);
  EXPECT_EQ(requests.wrong_total, 1);
  ASSERT_EQ(requests.wrong.size(), 1);
  EXPECT_EQ(requests.wrong[0]["dataset_id"], "2");
}

TEST_F(RequestsTest, AnEmptyFileHasNoRequestsAndAnAbsentOneIsAnError) {
  EXPECT_EQ(Read("").columns["class"], Json::array());
  EXPECT_EQ(ReadRequests(folder_ / "absent").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace afterimage
