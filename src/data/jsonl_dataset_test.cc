#include "data/jsonl_dataset.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "data/image_finder.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class JsonlDatasetTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // All of a file with this text, in order.
  std::vector<Result<std::optional<Sample>>> ReadAll(const std::string& text) {
    Write("questions.jsonl", text);
    Result<std::unique_ptr<RecordDataset>> dataset = NewJsonlDataset(folder_ / "questions.jsonl", {folder_ / "root"});
    std::vector<Result<std::optional<Sample>>> all;
    if (!dataset.ok()) {
      ADD_FAILURE() << dataset.error().message;
      return all;
    }
    for (;;) {
      Result<std::optional<Sample>> next = (*dataset)->Next();
      if (next.ok() && !next->has_value()) return all;
      all.push_back(std::move(next));
    }
  }

  Sample ReadOne(const std::string& line) {
    auto all = ReadAll(line);
    if (all.size() != 1 || !all[0].ok()) {
      ADD_FAILURE() << (all.empty() ? "nothing" : all[0].error().message);
      return {};
    }
    return **all[0];
  }

  // The message, without the file's name.
  std::string Complaint(const std::string& text) {
    auto all = ReadAll(text);
    if (all.size() != 1 || all[0].ok()) return "no complaint";
    EXPECT_EQ(all[0].error().code, Errc::kInvalidArgument);
    const std::string start = (folder_ / "questions.jsonl") + ":";
    EXPECT_TRUE(all[0].error().message.starts_with(start)) << all[0].error().message;
    return all[0].error().message.substr(start.size());
  }

  TemporaryFolder folder_;
};

TEST_F(JsonlDatasetTest, ALineBecomesASample) {
  Write("a.png", "");
  const Sample sample = ReadOne(
      R"({"id": "007", "question": "What is it?", "answer": "a cat", "full_answer": "It is a cat.", "image": "a.png",)"
      R"( "image_id": "n1", "metadata": {"b": 1, "a": [2]}, "is_balanced": false, "equivalent": ["007", "8"],)"
      R"x( "semantic_str": "select: cat (3)", "groups": {"global": "animal", "local": "06-cat"},)x"
      R"x( "semantic": [{"operation": "select", "argument": "cat (3)"}, {"operation": "query", "argument": "name"}]})x");
  EXPECT_EQ(sample.id, "007");
  EXPECT_EQ(sample.question, "What is it?");
  EXPECT_EQ(sample.answer, "a cat");
  EXPECT_EQ(sample.full_answer, "It is a cat.");
  EXPECT_EQ(sample.image_path, folder_ / "a.png");
  EXPECT_EQ(sample.image_id, "n1");
  EXPECT_EQ(sample.metadata, R"({"b":1,"a":[2]})");
  EXPECT_FALSE(sample.is_balanced);
  EXPECT_EQ(sample.equivalent, (std::vector<std::string>{"007", "8"}));
  EXPECT_EQ(sample.semantic_str, "select: cat (3)");
  EXPECT_EQ(sample.semantic_program, "select:cat (3) | query:name");
  EXPECT_EQ(sample.global_group, "animal");
  EXPECT_EQ(sample.local_group, "06-cat");
}

TEST_F(JsonlDatasetTest, AQuestionAloneIsEnough) {
  const Sample sample = ReadOne(R"({"question": "What?", "answer": null, "groups": {"global": null}})");
  EXPECT_EQ(sample.id, "1");
  EXPECT_EQ(sample.answer, "");
  EXPECT_TRUE(sample.is_balanced);
  EXPECT_FALSE(sample.has_image());
}

TEST_F(JsonlDatasetTest, OtherNamesOfAFieldAreUnderstood) {
  EXPECT_EQ(ReadOne(R"({"question": "?", "dataset_id": "d"})").id, "d");
  EXPECT_EQ(ReadOne(R"({"question": "?", "question_id": 12})").id, "12");
  EXPECT_EQ(ReadOne(R"({"question": "?", "imageId": "n9"})").image_id, "n9");
  EXPECT_EQ(ReadOne(R"({"question": "?", "fullAnswer": "Yes."})").full_answer, "Yes.");
  EXPECT_EQ(ReadOne(R"({"question": "?", "semanticStr": "s"})").semantic_str, "s");
  EXPECT_FALSE(ReadOne(R"({"question": "?", "isBalanced": false})").is_balanced);
}

TEST_F(JsonlDatasetTest, TenAnswersAreTextsOrObjects) {
  const std::string nine = R"("b", "b", "b", "b", "b", "b", "b", "b", "b")";
  for (const std::string first : {R"("a")", R"({"answer": "a", "answer_id": 1})"}) {
    const Sample sample = ReadOne(R"({"question": "?", "answers": [)" + first + ", " + nine + "]}");
    ASSERT_EQ(sample.answers.size(), 10u);
    EXPECT_EQ(sample.answers[0], "a");
    EXPECT_EQ(sample.answers[9], "b");
  }
}

TEST_F(JsonlDatasetTest, TheExpectedHitIsALabel) {
  EXPECT_EQ(ReadOne(R"({"question": "?", "expected_hit": "semantic"})").expected_hit, "semantic");
  EXPECT_EQ(ReadOne(R"({"question": "?"})").expected_hit, "");
}

TEST_F(JsonlDatasetTest, EmptyLinesByteOrderMarkAndCarriageReturnsDoNoHarm) {
  const auto all = ReadAll("\xEF\xBB\xBF{\"question\": \"a\"}\r\n\r\n   \n{\"question\": \"b\"}");
  ASSERT_EQ(all.size(), 2u);
  ASSERT_TRUE(all[0].ok());
  EXPECT_EQ((*all[0])->question, "a");
  ASSERT_TRUE(all[1].ok());
  EXPECT_EQ((*all[1])->question, "b");
  EXPECT_EQ((*all[1])->id, "4");  // the line's number
}

TEST_F(JsonlDatasetTest, LinesKeepTheirNumbersInWhateverOrderTheyAreDrawn) {
  std::string text;
  for (int line = 1; line <= 20; ++line) text += "{\"question\": \"" + std::to_string(2 * line) + "\"}\n\n";
  Write("questions.jsonl", text);
  const std::unique_ptr<Dataset> drawn =
      ShuffleAndTake(NewJsonlDataset(folder_ / "questions.jsonl", {}).value(), -1, 7).value();
  for (int line = 0; line < 20; ++line) {
    const Sample sample = drawn->Next().value().value();
    EXPECT_EQ(std::stoi(sample.id), std::stoi(sample.question) - 1);
  }
}

TEST_F(JsonlDatasetTest, BadLinesSayWhereAndWhy) {
  EXPECT_EQ(Complaint("\n{\"question\": "), "2: not valid JSON (at byte 14)");
  EXPECT_EQ(Complaint("[1]"), "1: not a JSON object; every record must be one");
  EXPECT_EQ(Complaint("{}"), "1: there is no \"question\"");
  EXPECT_EQ(Complaint(R"({"question": ""})"), "1: there is no \"question\"");
  EXPECT_EQ(Complaint(R"({"question": ["a"]})"), "1: \"question\" must be a text");
  EXPECT_EQ(Complaint(R"({"question": "a", "isBalanced": "no"})"), "1: \"isBalanced\" must be true or false");
  EXPECT_EQ(Complaint(R"({"question": "a", "equivalent": [1]})"), "1: \"equivalent\" must be a list of texts");
  EXPECT_EQ(Complaint(R"({"question": "a", "equivalent": "1"})"), "1: \"equivalent\" must be a list of texts");
  EXPECT_EQ(Complaint(R"({"question": "a", "semantic": ["x"]})"), "1: \"semantic\" must be a list of steps");
  EXPECT_EQ(Complaint(R"({"question": "a", "groups": "g"})"),
            "1: \"groups\" must be an object with \"global\" and \"local\"");
  EXPECT_EQ(Complaint(R"({"question": "a", "entailed": "['1'"})"), "1: \"entailed\" must be a list of texts");
  EXPECT_EQ(Complaint(R"({"question": "a", "answers": ["yes"]})"), "1: \"answers\" must be a list of ten answers");
  EXPECT_EQ(Complaint(R"({"question": "a", "types": {"semantic": []}})"),
            "1: \"types\" must be an object with \"structural\", \"semantic\" and \"detailed\"");
  EXPECT_EQ(Complaint("{\"question\": \"\xFF\"}"), "1: not valid UTF-8");
}

TEST_F(JsonlDatasetTest, ReadingGoesOnBehindABadLine) {
  const auto all = ReadAll("{\"question\": \"a\"}\nnonsense\n{\"question\": \"b\"}\n");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_FALSE(all[1].ok());
  ASSERT_TRUE(all[2].ok());
  EXPECT_EQ((*all[2])->id, "3");
}

TEST_F(JsonlDatasetTest, AnEndlessLineIsPassedOver) {
  const auto all = ReadAll(std::string(kMaxRecordBytes + 1, 'x') + "\n{\"question\": \"b\"}");
  ASSERT_EQ(all.size(), 2u);
  ASSERT_FALSE(all[0].ok());
  EXPECT_NE(all[0].error().message.find(":1: longer than"), std::string::npos);
  ASSERT_TRUE(all[1].ok());
}

TEST_F(JsonlDatasetTest, EndlessNestingIsRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(Complaint("{\"question\": \"a\", \"metadata\": " + deep + "}"), "1: nested more than 64 deep");
}

TEST_F(JsonlDatasetTest, APictureIsLookedForBesideTheFileThenUnderTheRoots) {
  Write("root/a.png", "");
  EXPECT_EQ(ReadOne(R"({"question": "?", "image": "a.png"})").image_path, folder_ / "root/a.png");
  EXPECT_EQ(ReadOne(R"({"question": "?", "image": "a.png"})").image_id, "a.png");
  Write("a.png", "");
  EXPECT_EQ(ReadOne(R"({"question": "?", "image_path": "a.png"})").image_path, folder_ / "a.png");
  const std::string absolute = folder_ / "root/a.png";
  EXPECT_EQ(ReadOne(R"({"question": "?", "image": ")" + absolute + "\"}").image_path, absolute);
  EXPECT_EQ(ReadOne(R"({"question": "?", "image": "no.png"})").image_path, folder_ / "no.png");
}

TEST_F(JsonlDatasetTest, APictureKnownByItsIdIsLookedForUnderTheRoots) {
  Write("root/n25.jpg", "");
  Write("root/237/2375.png", "");
  EXPECT_EQ(ReadOne(R"({"question": "?", "image_id": "n25"})").image_path, folder_ / "root/n25.jpg");
  EXPECT_EQ(ReadOne(R"({"question": "?", "image_id": 2375})").image_path, folder_ / "root/237/2375.png");
  const Sample missing = ReadOne(R"({"question": "?", "image_id": "n26"})");
  EXPECT_EQ(missing.image_path, "");
  EXPECT_TRUE(missing.has_image());
}

TEST_F(JsonlDatasetTest, AFrameIsLookedForInTheFolderOfItsVideoFirst) {
  Write("root/f1.png", "");
  Write("root/desk/f1.png", "");
  EXPECT_EQ(ReadOne(R"({"question": "?", "imageId": "f1", "metadata": {"video_id": "desk"}})").image_path,
            folder_ / "root/desk/f1.png");
  EXPECT_EQ(ReadOne(R"({"question": "?", "imageId": "f1", "metadata": {"video_id": "sofa"}})").image_path,
            folder_ / "root/f1.png");
  EXPECT_EQ(ReadOne(R"({"question": "?", "imageId": "f1", "metadata": [1]})").image_path, folder_ / "root/f1.png");
}

TEST_F(JsonlDatasetTest, AMissingFileAndAFolderAreErrors) {
  const Result<std::unique_ptr<RecordDataset>> missing = NewJsonlDataset(folder_ / "no.jsonl", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  const Result<std::unique_ptr<RecordDataset>> folder = NewJsonlDataset(folder_.path(), {});
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, Errc::kIo);
}

TEST(ImageFinder, RootsComeFromThreeVariables) {
  ::setenv("SEMANTIC_CACHE_IMAGE_ROOT", "/one", 1);
  ::setenv("GQA_IMAGE_ROOT", "", 1);
  ::setenv("LLAVA_IMAGE_ROOT", "/three", 1);
  EXPECT_EQ(ImageFinder::RootsFromEnvironment(), (std::vector<std::string>{"/one", "/three"}));
  ::unsetenv("SEMANTIC_CACHE_IMAGE_ROOT");
  ::unsetenv("GQA_IMAGE_ROOT");
  ::unsetenv("LLAVA_IMAGE_ROOT");
}

}  // namespace
}  // namespace afterimage
