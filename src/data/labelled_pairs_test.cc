#include "data/labelled_pairs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class LabelledPairsTest : public ::testing::Test {
 protected:
  LabelledPairsTest() {
    std::filesystem::create_directory(folder_ / "questions");
    Write("questions/val_flips_questions.json",
          R"({"01": {"question": "Is it red?", "imageId": "7"}, "02": {"question": "Is it blue?", "imageId": "7"}})");
  }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  Result<std::vector<LabelledPair>> Read() { return ReadLabelledPairs(folder_.path(), "val", "flips", {}); }

  TemporaryFolder folder_;
};

constexpr const char* kPair = R"({"a": "01", "b": "02", "kind": "color", "must_agree": false})";

TEST_F(LabelledPairsTest, APairHasItsQuestions) {
  Write("questions/val_flips_pairs.jsonl",
        std::string(kPair) + "\n" + R"({"a": "02", "b": "02", "must_agree": true})" + "\n");
  const std::vector<LabelledPair> pairs = Read().value();
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].a.question, "Is it red?");
  EXPECT_EQ(pairs[0].b.question, "Is it blue?");
  EXPECT_EQ(pairs[0].b.image_id, "7");
  EXPECT_FALSE(pairs[0].must_agree);
  EXPECT_TRUE(pairs[1].must_agree);
}

TEST_F(LabelledPairsTest, PairsMayLieInTheFolderItself) {
  Write("val_flips_pairs.jsonl", kPair);
  EXPECT_EQ(Read().value().size(), 1u);
}

TEST_F(LabelledPairsTest, AbsentPairsAreNotFound) {
  const Result<std::vector<LabelledPair>> pairs = Read();
  ASSERT_FALSE(pairs.ok());
  EXPECT_EQ(pairs.error().code, Errc::kNotFound);
  EXPECT_NE(pairs.error().message.find("val_flips_pairs.jsonl"), std::string::npos);
}

TEST_F(LabelledPairsTest, APairIsRefusedByWhereItStands) {
  for (const char* line :
       {"[]", R"({"a": "01", "b": "03", "must_agree": true})", R"({"a": "03", "b": "01", "must_agree": true})"}) {
    Write("questions/val_flips_pairs.jsonl", std::string(kPair) + "\n" + line);
    const Result<std::vector<LabelledPair>> pairs = Read();
    ASSERT_FALSE(pairs.ok()) << line;
    EXPECT_EQ(pairs.error().code, Errc::kInvalidArgument) << line;
    EXPECT_NE(pairs.error().message.find("pairs.jsonl:2: "), std::string::npos) << pairs.error().message;
  }
}

}  // namespace
}  // namespace afterimage
