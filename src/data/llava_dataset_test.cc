#include "data/llava_dataset.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class LlavaDatasetTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<RecordDataset>> Open(const std::string& text, const std::string& name = "llava.json") {
    std::ofstream(folder_ / name) << text;
    return NewLlavaDataset(folder_ / name, {});
  }
  Sample ReadOne(const std::string& text, const std::string& name = "llava.json") {
    Result<std::optional<Sample>> sample = Open(text, name).value()->Next();
    if (!sample.ok()) ADD_FAILURE() << sample.error().message;
    return sample.ok() ? sample->value() : Sample();
  }
  std::string Complaint(const std::string& text) { return Open(text).value()->Next().error().message; }

  TemporaryFolder folder_;
};

TEST_F(LlavaDatasetTest, TheFirstQuestionAndTheAnswerToItBecomeASample) {
  std::ofstream(folder_ / "33471.jpg") << "";
  const Sample sample = ReadOne(
      R"([{"id": "000033471", "image": "33471.jpg", "conversations": [{"from": "system", "value": "Be brief."},)"
      R"( {"from": "gpt", "value": "Hello."}, {"from": "human", "value": "<image>\nWhat is it? "},)"
      R"( {"from": "gpt", "value": "A bus.\n"}, {"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]}])");
  EXPECT_EQ(sample.id, "000033471");
  EXPECT_EQ(sample.question, "What is it?");
  EXPECT_EQ(sample.full_answer, "A bus.");
  EXPECT_EQ(sample.answer, "") << "a paragraph is not scored by exact match";
  EXPECT_EQ(sample.image_id, "33471.jpg");
  EXPECT_EQ(sample.image_path, folder_ / "33471.jpg");
}

TEST_F(LlavaDatasetTest, TheMarkOfThePictureIsLeftOutWhereverItStands) {
  EXPECT_EQ(ReadOne(R"([{"conversations": [{"from": "human", "value": "What is it?\n<image>"}]}])").question,
            "What is it?");
}

TEST_F(LlavaDatasetTest, ARecordWithoutAPictureIsTextOnly) {
  const Sample sample = ReadOne(R"([{"conversations": [{"from": "human", "value": "Why?"}]}])");
  EXPECT_EQ(sample.id, "1");
  EXPECT_FALSE(sample.has_image());
  EXPECT_EQ(sample.full_answer, "");
}

TEST_F(LlavaDatasetTest, QuestionsOfABenchmarkComeOneALine) {
  const std::string line = R"({"question_id": 7, "image": "007.jpg", "text": "What is it?", "category": "conv"})";
  const Sample sample = ReadOne(line, "questions.jsonl");
  EXPECT_EQ(sample.id, "7");
  EXPECT_EQ(sample.question, "What is it?");
  EXPECT_EQ(sample.type, "conv");
  EXPECT_EQ(sample.image_id, "007.jpg");
  EXPECT_EQ(sample.image_path, folder_ / "007.jpg");
}

TEST_F(LlavaDatasetTest, WhatCannotBeUsedIsSaid) {
  EXPECT_NE(Complaint(R"([{"conversations": [{"from": "gpt", "value": "x"}]}])").find("record 1: there is no question"),
            std::string::npos);
  for (const char* turns : {"3", "[3]", R"([{"from": "human", "value": []}])"}) {
    EXPECT_NE(Complaint("[{\"conversations\": " + std::string(turns) + "}]").find("must be a list of turns"),
              std::string::npos);
  }
  EXPECT_EQ(Open("{}").error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace afterimage
