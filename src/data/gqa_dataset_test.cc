#include "data/gqa_dataset.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
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
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Result<std::unique_ptr<RecordDataset>> Open(const std::string& config = "balanced",
                                              const std::string& split = "val") const {
    return NewGqaDataset(folder_.path(), split, config, {});
  }
  // The sample of a file with this question alone.
  Sample ReadOne(const std::string& question) const {
    Write("questions/val_balanced_questions.json", "{\"1\": " + question + "}");
    Result<std::optional<Sample>> sample = Open().value()->Next();
    if (!sample.ok()) ADD_FAILURE() << sample.error().message;
    return sample.ok() ? sample->value() : Sample();
  }

  TemporaryFolder folder_;
};

TEST_F(GqaDatasetTest, QuestionsComeInTheOrderOfTheFileWithTheirFields) {
  Write("images/91.png", "");
  Write("questions/val_balanced_questions.json", R"json({
    "07": {"imageId": "91", "question": "Is it red?", "answer": "yes", "fullAnswer": "Yes, it is.", "isBalanced": true,
           "groups": {"global": null, "local": "13-it"}, "entailed": ["09"], "equivalent": ["07", "08"],
           "types": {"structural": "verify", "semantic": "attr", "detailed": "colorVerify"},
           "annotations": {"question": {"2:4": "501"}, "answer": {}, "fullAnswer": {}},
           "semantic": [{"operation": "select", "dependencies": [], "argument": "it (1)"}],
           "semanticStr": "select: it (1)", "metadata": {"video_id": "v"}},
    "01": {"imageId": "92", "question": "What is it?", "isBalanced": false}})json");
  const std::unique_ptr<Dataset> dataset = Open().value();
  const Sample first = dataset->Next().value().value();
  EXPECT_EQ(first.id, "07");
  EXPECT_EQ(first.image_path, folder_ / "images/91.png");
  EXPECT_EQ(first.answer, "yes");
  EXPECT_EQ(first.full_answer, "Yes, it is.");
  EXPECT_EQ(first.type, "colorVerify");
  EXPECT_EQ(first.structural_type, "verify");
  EXPECT_EQ(first.semantic_type, "attr");
  EXPECT_EQ(first.entailed, std::vector<std::string>{"09"});
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
  EXPECT_NE(bad.error().message.find("record 1:"), std::string::npos) << bad.error().message;
  EXPECT_EQ(dataset->Next().value()->question, "What?");
}

TEST_F(GqaDatasetTest, AMissingFileIsNamedWithThoseThatAreThere) {
  Write("questions/val_clips_questions.json", "{}");
  const auto missing = Open();
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  EXPECT_NE(missing.error().message.find("val_balanced_questions.json"), std::string::npos);
  EXPECT_NE(missing.error().message.find("val_clips"), std::string::npos);
}

TEST_F(GqaDatasetTest, AllPlacesLookedAtAreNamed) {
  const std::string message = Open("val_all_instructions").error().message;
  for (const char* path :
       {"/questions/val_all_questions.json", "/val_all_questions.json", "/questions/val_all_questions,",
        "/val_all_questions,", "/val_all_instructions/val.jsonl", "/val_all_instructions.jsonl"}) {
    EXPECT_NE(message.find(folder_.path() + path), std::string::npos) << path << " in: " << message;
  }
}

TEST_F(GqaDatasetTest, WhatIsNoFileOfQuestionsIsRefused) {
  for (const char* text : {"", "[", "[]", "3"}) {
    Write("questions/val_balanced_questions.json", text);
    EXPECT_EQ(Open().error().code, Errc::kCorrupt) << text;
  }
}

TEST_F(GqaDatasetTest, AFileThatWasCutShortEndsTheDataSet) {
  Write("questions/val_balanced_questions.json", R"({"1": {"question": "x"}, "2": {"question")");
  const std::unique_ptr<Dataset> dataset = Open().value();
  EXPECT_TRUE(dataset->Next().ok());
  EXPECT_EQ(dataset->Next().error().code, Errc::kCorrupt);
}

TEST_F(GqaDatasetTest, EverySpellingOfTheConfigurationIsFound) {
  const std::string question = R"({"1": {"question": "official"}})";
  const std::string line = R"({"id": "1", "question": "exported"})";
  Write("val_all_instructions.jsonl", line);
  EXPECT_EQ(Open("val_all_instructions").value()->Next().value()->question, "exported");
  Write("val_balanced_instructions/val.jsonl", line);
  EXPECT_EQ(Open("val_balanced_instructions").value()->Next().value()->question, "exported");
  Write("val_balanced_questions.json", question);
  EXPECT_EQ(Open("balanced").value()->Next().value()->question, "official");
  EXPECT_EQ(Open("val_balanced_instructions").value()->Next().value()->question, "official");
}

TEST_F(GqaDatasetTest, AFolderOfPartsIsReadByNumberInAnyOrder) {
  for (int part = 0; part < 11; ++part) {
    const std::string number = std::to_string(part);
    Write("questions/train_all_questions/train_all_questions_" + number + ".json",
          "{\"" + number + "a\": {\"question\": \"x\"}, \"" + number + "b\": {\"question\": \"x\"}}");
  }
  Write("questions/train_all_questions/readme.json", "not a part");
  const auto ids = [&](int64_t seed) {
    std::vector<std::string> all;
    const std::unique_ptr<Dataset> dataset = ShuffleAndTake(Open("all", "train").value(), -1, seed).value();
    for (auto next = dataset->Next(); next.value().has_value(); next = dataset->Next()) all.push_back(next.value()->id);
    return all;
  };
  std::vector<std::string> in_order = ids(-1);
  ASSERT_EQ(in_order.size(), 22u);
  EXPECT_EQ(in_order[4], "2a");
  EXPECT_EQ(in_order[21], "10b");
  std::vector<std::string> drawn = ids(7);
  EXPECT_NE(drawn, in_order);
  std::sort(drawn.begin(), drawn.end());
  std::sort(in_order.begin(), in_order.end());
  EXPECT_EQ(drawn, in_order);
}

TEST_F(GqaDatasetTest, AnEmptyFolderOfPartsIsAnError) {
  std::filesystem::create_directories(folder_ / "train_all_questions");
  EXPECT_EQ(Open("all", "train").error().code, Errc::kNotFound);
}

TEST_F(GqaDatasetTest, GroupsMayBeMissingNullOrEmpty) {
  for (const char* groups : {"null", "{}", R"({"global": null, "local": null})", R"({"global": "", "local": ""})"}) {
    const Sample sample = ReadOne(R"({"question": "x", "groups": )" + std::string(groups) + "}");
    EXPECT_EQ(sample.global_group + sample.local_group, "") << groups;
  }
}

TEST_F(GqaDatasetTest, ListsOfIdsMayBeTheTextOfAPythonList) {
  const Sample sample =
      ReadOne(R"({"question": "x", "entailed": "['07', \"it's\", 'a\\'b' ]", "equivalent": "[]", "types": null})");
  EXPECT_EQ(sample.entailed, (std::vector<std::string>{"07", "it's", "a'b"}));
  EXPECT_TRUE(sample.equivalent.empty());
  EXPECT_TRUE(ReadOne(R"({"question": "x", "entailed": ""})").entailed.empty());
}

TEST_F(GqaDatasetTest, BrokenPythonListsAreRefused) {
  for (const char* text : {"'07'", "['07'", "['07", "[07]", "['07' '08']", "['07']]", "['\\\\n']", "['07\\\\"}) {
    Write("questions/val_balanced_questions.json",
          R"({"1": {"question": "x", "entailed": ")" + std::string(text) + "\"}}");
    const Result<std::optional<Sample>> sample = Open().value()->Next();
    ASSERT_FALSE(sample.ok()) << text;
    EXPECT_NE(sample.error().message.find("\"entailed\" must be a list"), std::string::npos) << sample.error().message;
  }
}

TEST_F(GqaDatasetTest, BothSpellingsOfAnnotationsAreReadOver) {
  EXPECT_EQ(ReadOne(R"({"question": "x", "annotations": {"question": {"4:6": "501"}}})").question, "x");
  EXPECT_EQ(
      ReadOne(R"({"question": "x", "annotations": {"question": [{"objectId": "4:6", "value": "501"}]}})").question,
      "x");
}

TEST_F(GqaDatasetTest, TestSplitsHaveNoAnswers) {
  const Sample sample = ReadOne(R"({"isBalanced": true, "question": "x", "imageId": "n25"})");
  EXPECT_EQ(sample.answer, "");
  EXPECT_EQ(sample.image_id, "n25");
  EXPECT_TRUE(sample.is_balanced);
}

TEST_F(GqaDatasetTest, PicturesMayStandInTheDataFolderByTheStartOfTheirId) {
  Write("237/2375429.jpg", "");
  EXPECT_EQ(ReadOne(R"({"question": "x", "imageId": "2375429"})").image_path, folder_ / "237/2375429.jpg");
}

// AFTERIMAGE_BIG_FILE_MB=200 makes it big, so that what is held would show in the memory of the process.
TEST_F(GqaDatasetTest, AFileOfAnySizeIsDrawnFromByPlace) {
  const char* megabytes = std::getenv("AFTERIMAGE_BIG_FILE_MB");
  const size_t bytes = megabytes == nullptr ? 200000 : std::stoul(megabytes) * 1000000;
  const std::string filler(500, 'x');
  size_t records = 0;
  {
    std::ofstream file(folder_ / "questions/val_balanced_questions.json");
    file << "{";
    for (size_t written = 0; written < bytes; written += 600, ++records) {
      file << (records == 0 ? "" : ",") << "\n\"" << records << R"(": {"imageId": "1", "question": "Is it )" << records
           << R"(?", "answer": "yes", "fullAnswer": ")" << filler << "\"}";
    }
    file << "}";
  }
  const std::unique_ptr<Dataset> drawn = ShuffleAndTake(Open().value(), -1, 7).value();
  EXPECT_EQ(drawn->size_hint(), records);
  size_t count = 0;
  size_t sum = 0;
  for (auto next = drawn->Next(); next.value().has_value(); next = drawn->Next(), ++count) {
    ASSERT_EQ(next.value()->question, "Is it " + next.value()->id + "?");
    sum += std::stoul(next.value()->id);
  }
  EXPECT_EQ(count, records);
  EXPECT_EQ(sum, records * (records - 1) / 2);
  rusage usage = {};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  if (megabytes != nullptr) {
    EXPECT_LT(usage.ru_maxrss, 64 << 10);  // KiB; the places of 200 MB take 5 MiB
  }
}

}  // namespace
}  // namespace afterimage
