#include "data/open_dataset.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class OpenDatasetTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Result<std::unique_ptr<Dataset>> Open(const DatasetChoice& choice) {
    return OpenDataset(choice, {}, [&](const std::string& name) -> Result<std::string> { return folder_ / name; });
  }
  // The questions, joined.
  std::string Questions(const DatasetChoice& choice) {
    Result<std::unique_ptr<Dataset>> dataset = Open(choice);
    if (!dataset.ok()) return dataset.error().message;
    std::string all;
    for (auto next = (*dataset)->Next(); next.ok() && next->has_value(); next = (*dataset)->Next()) {
      all += (*next)->question;
    }
    return all;
  }

  TemporaryFolder folder_;
};

// {"question": "a"} ... joined by `separator`.
std::string Objects(const std::string& questions, const std::string& separator) {
  std::string text;
  for (const char c : questions) text += (text.empty() ? "" : separator) + "{\"question\": \"" + c + "\"}";
  return text;
}

TEST_F(OpenDatasetTest, ShippedDataSetsNeedNoFolder) {
  Write("data/world/questions/val_balanced_questions.json", R"({"1": {"question": "w"}})");
  Write("data/synthetic/records.jsonl", Objects("s", "\n"));
  EXPECT_EQ(Questions({}), "w");
  EXPECT_EQ(Questions({.name = "synthetic"}), "s");
}

TEST_F(OpenDatasetTest, TheOthersAreFoundInTheirs) {
  Write("val_balanced_instructions/val.jsonl", Objects("g", "\n"));
  Write("llava_instruct_150k.json", R"([{"conversations": [{"from": "human", "value": "l"}]}])");
  Write("bench.jsonl", R"({"text": "b"})");
  Write("video_frames.json", "[" + Objects("v", ",") + "]");
  Write("q.jsonl", Objects("q", "\n"));
  EXPECT_EQ(Questions({.name = "gqa", .data_dir = folder_.path()}), "g");
  EXPECT_EQ(Questions({.name = "llava", .data_dir = folder_.path()}), "l");
  EXPECT_EQ(Questions({.name = "llava150k", .data_dir = folder_ / "llava_instruct_150k.json"}), "l");
  EXPECT_EQ(Questions({.name = "llava", .data_dir = folder_.path(), .config = "bench"}), "b");
  EXPECT_EQ(Questions({.name = "video_frames", .data_dir = folder_.path()}), "v");
  EXPECT_EQ(Questions({.name = "jsonl", .data_dir = folder_ / "q.jsonl"}), "q");
  EXPECT_EQ(Questions({.name = folder_ / "q.jsonl"}), "q");
}

TEST_F(OpenDatasetTest, WhereTheOrderMeansSomethingItIsKeptUnlessAskedFor) {
  const std::string questions = "abcdefgh";
  Write("video_frames.json", "[" + Objects(questions, ",") + "]");
  Write("data/synthetic/records.jsonl", Objects(questions, "\n"));
  Write("q.jsonl", Objects(questions, "\n"));
  const DatasetChoice frames = {.name = "video_frames", .data_dir = folder_.path()};
  EXPECT_EQ(Questions(frames), questions);
  EXPECT_EQ(Questions({.name = "synthetic"}), questions);
  DatasetChoice drawn = frames;
  drawn.shuffle_seed = 7;
  EXPECT_EQ(Questions(drawn), "hfcebdag");  // the order of seed 7 in record_dataset_test.cc
  EXPECT_EQ(Questions({.name = folder_ / "q.jsonl"}), "hfcebdag");
  drawn.max_samples = 3;
  EXPECT_EQ(Questions(drawn), "hfc");
}

TEST_F(OpenDatasetTest, PairsLieBesideTheirQuestions) {
  const auto pairs = [&](const DatasetChoice& choice) {
    const Result<std::string> found =
        FindPairs(choice, [&](const std::string& name) -> Result<std::string> { return folder_ / name; });
    return found.ok() ? *found : found.error().message;
  };
  Write("data/world/questions/val_clips_pairs.jsonl", "");
  Write("questions/val_balanced_pairs.jsonl", "");
  Write("train_all_pairs.jsonl", "");
  EXPECT_EQ(pairs({.config = "clips"}), folder_ / "data/world/questions/val_clips_pairs.jsonl");
  EXPECT_EQ(pairs({}), "") << "the balanced questions have none";
  EXPECT_EQ(pairs({.split = "train", .config = "clips"}), "");
  EXPECT_EQ(pairs({.data_dir = folder_.path()}), folder_ / "questions/val_balanced_pairs.jsonl");
  EXPECT_EQ(pairs({.name = "gqa", .data_dir = folder_.path()}), folder_ / "questions/val_balanced_pairs.jsonl");
  EXPECT_EQ(pairs({.name = "gqa", .data_dir = folder_.path(), .split = "train", .config = "all"}),
            folder_ / "train_all_pairs.jsonl");
  EXPECT_NE(pairs({.name = "gqa"}).find("--data-dir"), std::string::npos);
  EXPECT_EQ(pairs({.name = "llava"}), "");
  EXPECT_EQ(pairs({.name = folder_ / "questions/val_balanced.jsonl"}), "");
}

TEST_F(OpenDatasetTest, DefaultsAreThoseOfTheDataSet) {
  EXPECT_EQ(WithDefaults({}).config, "balanced");
  EXPECT_EQ(WithDefaults({}).shuffle_seed, 7);
  EXPECT_EQ(WithDefaults({.config = "clips"}).shuffle_seed, -1);
  EXPECT_EQ(WithDefaults({.name = "gqa"}).config, "val_balanced_instructions");
  EXPECT_EQ(WithDefaults({.name = "gqa", .config = "clips"}).config, "clips");
  EXPECT_EQ(WithDefaults({.name = "gqa", .config = "clips"}).shuffle_seed, 7);
}

TEST_F(OpenDatasetTest, WhatCannotBeOpenedIsSaid) {
  const auto complaint = [&](const DatasetChoice& choice, Errc code) {
    const Result<std::unique_ptr<Dataset>> dataset = Open(choice);
    if (dataset.ok()) return std::string("no complaint");
    EXPECT_EQ(dataset.error().code, code);
    return dataset.error().message;
  };
  EXPECT_NE(complaint({.name = "coco"}, Errc::kInvalidArgument).find(kDatasetNames), std::string::npos);
  for (const char* name : {"gqa", "llava", "video_frames", "jsonl"}) {
    EXPECT_NE(complaint({.name = name}, Errc::kInvalidArgument).find("--data-dir"), std::string::npos) << name;
  }
  EXPECT_NE(complaint({.max_samples = 0}, Errc::kInvalidArgument).find("--max-samples"), std::string::npos);
  const std::string looked_for =
      complaint({.name = "llava", .data_dir = folder_.path(), .config = "c"}, Errc::kNotFound);
  EXPECT_NE(looked_for.find(folder_ / "c.json, "), std::string::npos) << looked_for;
  EXPECT_NE(looked_for.find(folder_ / "c.jsonl"), std::string::npos) << looked_for;
}

TEST_F(OpenDatasetTest, NoOrderIsDrawnOverAPipe) {
  ASSERT_EQ(::mkfifo((folder_ / "q.jsonl").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(folder_ / "q.jsonl") << "{\"question\": \"a\"}\n"; });
  const Result<std::unique_ptr<Dataset>> drawn = Open({.name = folder_ / "q.jsonl"});
  writer.join();
  ASSERT_FALSE(drawn.ok());
  EXPECT_EQ(drawn.error().code, Errc::kUnsupported);
  EXPECT_NE(drawn.error().message.find("--shuffle-seed -1"), std::string::npos);
}

}  // namespace
}  // namespace afterimage
