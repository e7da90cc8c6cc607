#include "eval/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

// A sample that was answered by the state of another question; one candidate was refused.
constexpr const char* kSubstituted = R"({
  "dataset_id": "0042", "question": "What color\nis the house?", "image_path": "/data/images/2000005.png",
  "chunk_text": "select: house ->query: color", "hit_source": "embedding:prompt", "class": "approximate",
  "ttft": 0.0125, "response": "red", "score": 0.981, "substitution": "question",
  "donor": {"id": "0012", "question": "What is the color of the house?", "image_path": "2000005.png"},
  "layers": [
    {"layer": "exact_text", "status": "miss", "reason": null, "lookup_ms": 0.114, "embed_ms": 0, "threshold": 0,
     "candidates": []},
    {"layer": "embedding:prompt", "status": "hit", "reason": null, "lookup_ms": 3.25, "embed_ms": 3.01,
     "threshold": 0.8, "candidates": [
       {"donor": {"id": "0012", "question": "What is the color of the house?", "image_path": "2000005.png"},
        "score": 0.981, "class": "approximate", "substitution": "question",
        "passed": ["threshold: 0.981, at least 0.800", "text guard"], "refused": null},
       {"donor": {"id": "0013", "question": "What color is the car?", "image_path": "images/2000005.png"},
        "score": 0.87, "class": "approximate", "substitution": "question",
        "passed": ["threshold: 0.870, at least 0.800"],
        "refused": "text guard: word: 'house' against 'car', and this goes on for longer than one line of a hundred columns can hold"}]},
    {"layer": "prefix", "status": "skip", "reason": "not needed", "lookup_ms": 0.02, "embed_ms": 0, "threshold": 0,
     "candidates": []}],
  "plan": {"predicted_ms": 2.14, "actual_ms": 2.04, "weighed": [
    {"class": "approximate", "substitution": "question", "segments_reused": 4, "tokens_reused": 120,
     "tokens_computed": 4, "images_encoded": 0, "images_put_back": 0, "bytes": 1234000, "predicted_ms": 2.14,
     "outcome": "used"},
    {"class": "cold", "substitution": null, "segments_reused": 0, "tokens_reused": 0, "tokens_computed": 124,
     "images_encoded": 1, "images_put_back": 0, "bytes": 0, "predicted_ms": null,
     "outcome": "slower: 100.0 ms against 2.1 ms"}]},
  "tokens": {"prompt": 124, "reused": 120, "computed": 4, "generated": 2},
  "images": {"encoded": 0, "encode_skipped": 1}, "bytes": {"loaded": 1234000, "stored": 512}})";

// The same request, only looked up.
Json LookedUp() {
  Json json = Json::parse(kSubstituted);
  json["class"] = "cold";
  json["hit_source"] = nullptr;
  json["plan"]["weighed"][0]["outcome"] = "not done: a dry run";
  json["tokens"] = {{"prompt", 124}, {"reused", 0}, {"computed", 0}, {"generated", 0}};
  return json;
}

TEST(Story, TellsTheRequestTheLayersThePlansAndWhatWasDone) {
  EXPECT_EQ(Story(Json::parse(kSubstituted)),
            R"(request
  sample     0042
  question   What color is the house?
  picture    2000005.png
  text key   select: house ->query: color

layers
  exact_text        miss     0.11 ms
  embedding:prompt  hit      3.25 ms, 3.01 of it the vector, threshold 0.800
       0.981 [0012] "What is the color of the house?" about 2000005.png
             class    approximate, would substitute the question
             passed   threshold: 0.981, at least 0.800
             passed   text guard
             admitted
       0.870 [0013] "What color is the car?" about 2000005.png
             class    approximate, would substitute the question
             passed   threshold: 0.870, at least 0.800
             refused  text guard: word: 'house' against 'car', and this goes on for longer than one
                      line of a hundred columns can hold
  prefix            skip     0.02 ms
      why    not needed

plans
     class       put back  compute   encode       load  predicted  outcome
   1 approximate      120        4        0     1.2 MB     2.1 ms  used (the donor's question)
   2 cold               0      124        1        0 B          ?  slower: 100.0 ms against 2.1 ms

done
  class      approximate (embedding:prompt)
  donor      [0012] "What is the color of the house?" about 2000005.png, score 0.981
  instead    the donor's question
  time       predicted 2.1 ms, took 2.0 ms; first token after 12.5 ms
  tokens     120 put back, 4 computed, 2 generated
  pictures   0 encoded, 1 from encoder output
  bytes      1.2 MB loaded, 512 B stored
  answer     red
)");
}

TEST(Story, ADryRunEndsWithWhatWouldBeDone) {
  const std::string story = Story(LookedUp());
  EXPECT_EQ(story.substr(story.find("\nwould")), R"(
would be done
  class      approximate
  found by   embedding:prompt
  donor      [0012] "What is the color of the house?" about 2000005.png
  instead    the donor's question
  time       predicted 2.1 ms
  tokens     120 put back, 4 computed
  pictures   0 encoded, 0 from encoder output
  bytes      1.2 MB loaded
)");
}

TEST(Story, ADryRunThatWasAnsweredAlsoSaysWhatWasDone) {
  Json json = LookedUp();
  json["tokens"]["computed"] = 124;
  const std::string story = Story(json);
  EXPECT_NE(story.find("\nwould be done\n"), std::string::npos);
  EXPECT_NE(story.find("\ndone\n  class      cold\n"), std::string::npos);
}

TEST(Story, WithoutPlansNothingButComputingWouldBeDone) {
  Json json = LookedUp();
  json["plan"]["weighed"] = Json::array();
  const std::string story = Story(json);
  EXPECT_EQ(story.find("\nplans\n"), std::string::npos);
  EXPECT_TRUE(story.ends_with("\nwould be done\n  class      cold\n  tokens     124 computed\n")) << story;
}

TEST(Story, AFailedSampleSaysWhy) {
  EXPECT_EQ(Story(Json::parse(R"({"dataset_id": "7", "question": "What?", "error": "There is no file."})")),
            "request\n  sample     7\n  question   What?\n\nfailed\n  why        There is no file.\n");
}

TEST(Story, TheTextKeyIsToldOnlyWhereItIsAnother) {
  Json json = Json::parse(kSubstituted);
  json["chunk_text"] = json["question"];
  EXPECT_EQ(Story(json).find("text key"), std::string::npos);
}

TEST(Story, FieldsOfWrongTypesAreLeftOut) {
  Json json = Json::parse(kSubstituted);
  json["layers"][1]["candidates"][0]["score"] = "high";
  json["layers"][1]["candidates"][1] = 7;
  json["donor"] = 3;
  json["plan"]["weighed"][1] = nullptr;
  EXPECT_NE(Story(json).find("\ndone\n"), std::string::npos);
  EXPECT_TRUE(Story(Json::array({1, 2})).starts_with("request\n"));
}

TEST(RequestJson, HasTheRequestAndTheReport) {
  Query query;
  query.question = "What is it?";
  query.image_paths = {"a.png", "b.png"};
  Report report;
  report.layers = {{.key = "exact_text", .status = LayerStatus::kMiss}};
  const Json json = RequestJson(query, report);
  EXPECT_EQ(json["question"], "What is it?");
  EXPECT_EQ(json["chunk_text"], "What is it?");
  EXPECT_EQ(json["image_path"], "a.png");
  EXPECT_EQ(json["layers"][0]["layer"], "exact_text");
}

class FindSampleTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = folder_.path() + "/run.jsonl";
    std::ofstream(path) << text;
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(FindSampleTest, TheFirstOfThisIdIsFound) {
  const std::string path = Write(R"({"dataset_id": null, "error": "no id"}
{"dataset_id": "21", "question": "first"}
{"dataset_id": "2", "question": "second"}
{"dataset_id": "2", "question": "third"}
)");
  EXPECT_EQ(FindSample(path, "2").value()["question"], "second");
}

TEST_F(FindSampleTest, AnUnknownIdIsAnsweredWithTheNearest) {
  const std::string path = Write(R"({"dataset_id": "2000000101"}
{"dataset_id": "999"}
{"dataset_id": "2000000001"}
{"dataset_id": "2000007777"}
{"dataset_id": "200000010"}
)");
  const Result<Json> found = FindSample(path, "2000000100");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Errc::kNotFound);
  EXPECT_NE(found.error().message.find("the nearest are 200000010, 2000000101, 2000000001."), std::string::npos)
      << found.error().message;
}

TEST_F(FindSampleTest, WhatIsNoSamplesFileIsRefused) {
  EXPECT_EQ(FindSample(folder_.path() + "/absent", "1").error().code, Errc::kNotFound);
  EXPECT_EQ(FindSample(Write("\n"), "1").error().code, Errc::kNotFound);
  EXPECT_EQ(FindSample(Write("{\"dataset_id\": \"2\"}\n[1]\n"), "1").error().code, Errc::kCorrupt);
  EXPECT_EQ(FindSample(Write("hello\n"), "1").error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace afterimage
