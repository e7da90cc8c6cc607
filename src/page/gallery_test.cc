#include "page/gallery.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Json Candidate(const std::string& layer, const std::string& donor, double score, const Json& refused = nullptr) {
  return {{"layer", layer},
          {"donor", {{"id", donor}, {"question", "q"}}},
          {"score", score},
          {"substitution", "question"},
          {"passed", Json::array({layer + " was asked"})},
          {"refused", refused}};
}

Json Wrong(const std::string& question) {
  return {{"question", question},
          {"hit", true},
          {"hit_source", "text:semantic"},
          {"class", "approximate"},
          {"response", "yes"},
          {"baseline_response", "no"},
          {"agrees", false},
          {"label", false},
          {"reference", "no"},
          {"score", 0.75},
          {"substitution", "question"},
          {"image_path", "a.png"},
          {"donor", {{"id", "7"}, {"question", "another?"}, {"image_path", "b.jpg"}}},
          {"candidates",
           Json::array({Candidate("other donor", "8", 0.75), Candidate("refused", "7", 0.75, "text guard: not"),
                        Candidate("other score", "7", 1.0), Candidate("semantic_text", "7", 0.75)})}};
}

class GalleryTest : public testing::Test {
 protected:
  GalleryTest() {
    Write("a.png", "\x89PNG\r\n\x1a\nabc");
    Write("b.jpg", "\xff\xd8\xff");
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  WrongAnswers Answers(size_t experiment, std::vector<Json> samples, size_t total = 0) {
    const size_t n = samples.size();
    return {experiment, folder_ / "samples.jsonl", std::move(samples), std::max(total, n)};
  }

  TemporaryFolder folder_;
};

TEST_F(GalleryTest, ACaseHasBothQuestionsBothAnswersAndWhatLetItPass) {
  const Json gallery = MakeGallery({Answers(3, {Wrong("one?")})});
  ASSERT_EQ(gallery["cases"].size(), 1);
  const Json& one = gallery["cases"][0];
  EXPECT_EQ(one["question"], "one?");
  EXPECT_EQ(one["donor_question"], "another?");
  EXPECT_EQ(one["response"], "yes");
  EXPECT_EQ(one["baseline_response"], "no");
  EXPECT_EQ(one["false_hit"], true);
  EXPECT_EQ(one["wrong_donor"], true);
  EXPECT_EQ(one["layer"], "semantic_text");
  EXPECT_EQ(one["seen"], Json::array({{{"experiment", 3}, {"passed", {"semantic_text was asked"}}}}));
}

TEST_F(GalleryTest, APictureIsHeldOnceHoweverOftenItIsShown) {
  const Json gallery = MakeGallery({Answers(0, {Wrong("one?"), Wrong("two?")})});
  ASSERT_EQ(gallery["cases"].size(), 2);
  ASSERT_EQ(gallery["pictures"].size(), 2);
  EXPECT_EQ(gallery["pictures"][0]["uri"], "data:image/png;base64,iVBORw0KGgphYmM=");
  EXPECT_EQ(gallery["pictures"][1]["uri"], "data:image/jpeg;base64,/9j/");
  for (const Json& one : gallery["cases"]) {
    EXPECT_EQ(one["picture"], 0);
    EXPECT_EQ(one["donor_picture"], 1);
  }
}

TEST_F(GalleryTest, APictureThatCannotBeShownIsNamedAndItIsSaidWhy) {
  Write("a.png", "GIF89a");
  Write("b.jpg", "\xff\xd8\xff" + std::string(kMaxPictureBytes, 'x'));
  Json absent = Wrong("two?");
  absent["image_path"] = "absent.png";
  absent["donor"] = nullptr;
  const Json gallery = MakeGallery({Answers(0, {Wrong("one?"), absent})});
  ASSERT_EQ(gallery["pictures"].size(), 3);
  EXPECT_EQ(gallery["pictures"][0], Json({{"name", "a.png"}, {"uri", nullptr}, {"left_out", "neither PNG nor JPEG"}}));
  EXPECT_EQ(gallery["pictures"][1], Json({{"name", "b.jpg"}, {"uri", nullptr}, {"left_out", "larger than 200 KB"}}));
  EXPECT_EQ(gallery["pictures"][2], Json({{"name", "absent.png"}, {"uri", nullptr}, {"left_out", "not found"}}));
  EXPECT_TRUE(gallery["cases"][1]["donor_picture"].is_null());
}

TEST_F(GalleryTest, APictureOfTheLargestSizeIsShown) {
  Write("a.png", "\x89PNG\r\n\x1a\n" + std::string(kMaxPictureBytes - 8, 'x'));
  EXPECT_TRUE(MakeGallery({Answers(0, {Wrong("one?")})})["pictures"][0]["left_out"].is_null());
}

TEST_F(GalleryTest, WhatHappenedInSeveralExperimentsIsShownOnceAndNamesThem) {
  Json easier = Wrong("one?");
  easier["candidates"].back()["passed"] = Json::array();
  Json other = Wrong("one?");
  other["response"] = "maybe";
  const Json gallery = MakeGallery({Answers(0, {Wrong("one?")}), Answers(1, {easier}), Answers(2, {other})});
  ASSERT_EQ(gallery["cases"].size(), 2);
  const Json& seen = gallery["cases"][0]["seen"];
  ASSERT_EQ(seen.size(), 2);
  EXPECT_EQ(seen[0], Json({{"experiment", 0}, {"passed", {"semantic_text was asked"}}}));
  EXPECT_EQ(seen[1], Json({{"experiment", 1}, {"passed", Json::array()}}));
  EXPECT_EQ(gallery["cases"][1]["seen"][0]["experiment"], 2);
  EXPECT_EQ(gallery["wrong"], 3);
  EXPECT_EQ(gallery["left_out"], 0);
}

TEST_F(GalleryTest, ExperimentsTakeTurnsUntilThePageIsFullAndTheRestIsCounted) {
  std::vector<WrongAnswers> experiments;
  for (size_t i = 0; i < kMaxCases / 2; ++i) {
    std::vector<Json> samples;
    for (const char* part : {"first ", "second ", "third "}) samples.push_back(Wrong(part + std::to_string(i)));
    experiments.push_back(Answers(i, std::move(samples), 5));
  }
  experiments.push_back(Answers(99, {Wrong("first 0")}));  // as one that is shown already
  const Json gallery = MakeGallery(experiments);
  ASSERT_EQ(gallery["cases"].size(), kMaxCases);
  EXPECT_EQ(gallery["cases"][kMaxCases / 2 - 1]["question"], "first " + std::to_string(kMaxCases / 2 - 1));
  EXPECT_EQ(gallery["cases"][kMaxCases / 2]["question"], "second 0");
  EXPECT_EQ(gallery["cases"][0]["seen"][1]["experiment"], 99);
  EXPECT_EQ(gallery["wrong"], 5 * kMaxCases / 2 + 1);
  EXPECT_EQ(gallery["left_out"], 3 * kMaxCases / 2);
}

TEST_F(GalleryTest, LinesThatLackAlmostEverythingDoNoHarm) {
  const Json gallery = MakeGallery({Answers(0, {Json{{"candidates", 7}}, Json{{"donor", "x"}, {"image_path", 7}}})});
  EXPECT_EQ(gallery["cases"].size(), 2);
  EXPECT_TRUE(gallery["cases"][0]["seen"][0]["passed"].is_null());
}

}  // namespace
}  // namespace afterimage
