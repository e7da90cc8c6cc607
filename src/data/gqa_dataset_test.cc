#include "data/gqa_dataset.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class GqaDatasetTest : public testing::Test {
 protected:
  GqaDatasetTest() {
    std::filesystem::create_directories(folder_ / "questions");
    std::filesystem::create_directories(folder_ / "images");
  }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  Result<std::unique_ptr<Dataset>> Open(const std::string& config = "balanced") const {
    return NewGqaDataset(folder_.path(), "val", config, {});
  }

  TemporaryFolder folder_;
};

TEST_F(GqaDatasetTest, QuestionsComeInTheOrderOfTheFileWithTheirFields) {
  Write("images/91.png", "");
  Write("questions/val_balanced_questions.json", R"json({
    "07": {"imageId": "91", "question": "Is it red?", "answer": "yes", "fullAnswer": "Yes, it is.", "isBalanced": true,
           "groups": {"global": null, "local": "13-it"}, "entailed": [], "equivalent": ["07", "08"],
           "types": {"structural": "verify", "semantic": "attr", "detailed": "colorVerify"},
           "annotations": {"question": {"2:4": "501"}, "answer": {}, "fullAnswer": {}},
           "semantic": [{"operation": "select", "dependencies": [], "argument": "it (1)"}],
           "semanticStr": "select: it (1)", "metadata": {"video_id": "v"}},
    "01": {"imageId": "92", "question": "What is it?", "isBalanced": false}})json");
  const std::unique_ptr<Dataset> dataset = Open().value();
  EXPECT_EQ(dataset->size_hint(), 2u);
  const Sample first = dataset->Next().value().value();
  EXPECT_EQ(first.id, "07");
  EXPECT_EQ(first.image_path, folder_ / "images/91.png");
  EXPECT_EQ(first.answer, "yes");
  EXPECT_EQ(first.full_answer, "Yes, it is.");
  EXPECT_EQ(first.type, "colorVerify");
  EXPECT_EQ(first.local_group, "13-it");
  EXPECT_EQ(first.global_group, "");
  EXPECT_EQ(first.equivalent, (std::vector<std::string>{"07", "08"}));
  EXPECT_EQ(first.semantic_program, "select:it (1)");
  EXPECT_EQ(first.metadata, R"({"video_id":"v"})");
  const Sample second = dataset->Next().value().value();
  EXPECT_EQ(second.id, "01");
  EXPECT_FALSE(second.is_balanced);
  EXPECT_TRUE(second.image_path.empty()) << "there is no such picture";
  EXPECT_FALSE(dataset->Next().value().has_value());
}

TEST_F(GqaDatasetTest, AQuestionThatCannotBeUsedIsNamedAndTheNextOneIsRead) {
  Write("questions/val_balanced_questions.json", R"({"1": {"imageId": "9"}, "2": {"question": "What?"}})");
  const std::unique_ptr<Dataset> dataset = Open().value();
  const Result<std::optional<Sample>> bad = dataset->Next();
  EXPECT_EQ(bad.error().code, Errc::kInvalidArgument);
  EXPECT_NE(bad.error().message.find("question 1"), std::string::npos) << bad.error().message;
  EXPECT_EQ(dataset->Next().value()->question, "What?");
}

TEST_F(GqaDatasetTest, AMissingFileIsNamedWithThoseThatAreThere) {
  Write("questions/val_clips_questions.json", "{}");
  const auto missing = Open();
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  EXPECT_NE(missing.error().message.find("val_balanced_questions.json"), std::string::npos);
  EXPECT_NE(missing.error().message.find("val_clips"), std::string::npos);
}

TEST_F(GqaDatasetTest, WhatIsNoFileOfQuestionsIsRefused) {
  for (const char* text : {"", "[", "[]", "3", "{\"1\": 3}", "{\"1\": []}", "{\"1\": {\"question\": \"x\"}"}) {
    Write("questions/val_balanced_questions.json", text);
    EXPECT_EQ(Open().error().code, Errc::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace afterimage
