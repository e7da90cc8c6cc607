#include "data/world/world.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "afterimage/image.h"

namespace afterimage::world {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::map<std::string, std::string> ReadFolder(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = ReadAll(entry.path());
  }
  return files;
}

class WorldTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "afterimage-world-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  nlohmann::json Parse(const std::string& name) const { return nlohmann::json::parse(ReadAll(folder_ / name)); }

  fs::path folder_;
};

TEST_F(WorldTest, FilesAreInTheFormatOfGqa) {
  const Result<WorldSummary> written = WriteWorld({.seed = 3, .scenes = 4, .splits = {"val"}}, folder_.string());
  ASSERT_TRUE(written.ok()) << written.error().message;
  const nlohmann::json graphs = Parse("sceneGraphs/val_sceneGraphs.json");
  size_t questions = 0;
  for (const std::string stream :
       {"balanced", "paraphrases", "flips", "clips", "twins", "lookalikes", "traffic", "mixed", "heldout"}) {
    const nlohmann::json file = Parse("questions/val_" + stream + "_questions.json");
    for (const auto& [id, question] : file.items()) {
      ++questions;
      ASSERT_EQ(id.find_first_not_of("0123456789"), std::string::npos);
      for (const char* key : {"imageId", "question", "answer", "fullAnswer", "semanticStr"}) {
        ASSERT_TRUE(question.at(key).is_string()) << key;
        ASSERT_FALSE(question.at(key).get<std::string>().empty()) << key;
        ASSERT_EQ(question.at(key).get<std::string>().find('{'), std::string::npos) << question.dump();
      }
      ASSERT_TRUE(question.at("isBalanced").is_boolean());
      ASSERT_TRUE(question.at("entailed").is_array());
      ASSERT_TRUE(question.at("groups").contains("global") && question.at("groups").at("local").is_string());
      const auto equivalent = question.at("equivalent").get<std::set<std::string>>();
      ASSERT_EQ(equivalent.count(id), 1u);
      for (const char* key : {"structural", "semantic", "detailed"})
        ASSERT_TRUE(question.at("types").at(key).is_string());
      const nlohmann::json& graph = graphs.at(question.at("imageId").get<std::string>());
      for (const char* part : {"question", "answer", "fullAnswer"}) {
        for (const auto& [word, object] : question.at("annotations").at(part).items()) {
          ASSERT_TRUE(graph.at("objects").contains(object.get<std::string>())) << question.dump();
          const std::string name = graph.at("objects").at(object.get<std::string>()).at("name");
          std::istringstream text(question.at(part).get<std::string>());
          std::string found;
          for (int i = 0; i <= std::stoi(word); ++i) text >> found;
          ASSERT_EQ(found.substr(0, name.size()), name) << question.dump();
        }
      }
      int step = 0;
      for (const nlohmann::json& entry : question.at("semantic")) {
        for (const int dependency : entry.at("dependencies").get<std::vector<int>>()) ASSERT_LT(dependency, step);
        ASSERT_TRUE(entry.at("operation").is_string() && entry.at("argument").is_string());
        ++step;
      }
      ASSERT_TRUE(stream == "mixed" || question.contains("metadata") == (stream == "clips"));
    }
  }
  EXPECT_EQ(questions, written->questions);
}

TEST_F(WorldTest, EveryPictureCanBeReadAndHasTheSizeItsGraphSays) {
  ASSERT_TRUE(WriteWorld({.seed = 3, .scenes = 4, .splits = {"testdev"}}, folder_.string()).ok());
  const nlohmann::json graphs = Parse("sceneGraphs/testdev_sceneGraphs.json");
  for (const auto& [id, graph] : graphs.items()) {
    std::string path = (folder_ / "images" / (id + ".png")).string();
    if (!fs::exists(path)) path = (folder_ / "images" / (id + ".jpg")).string();
    const Result<std::shared_ptr<const Image>> image = ReadImage(path);
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_EQ((*image)->width(), graph.at("width").get<uint32_t>());
    EXPECT_EQ((*image)->height(), graph.at("height").get<uint32_t>());
  }
}

TEST_F(WorldTest, TheSameSeedWritesTheSameBytes) {
  ASSERT_TRUE(WriteWorld({.seed = 9, .scenes = 2, .splits = {"train"}}, (folder_ / "a").string()).ok());
  ASSERT_TRUE(WriteWorld({.seed = 9, .scenes = 2, .splits = {"train"}}, (folder_ / "b").string()).ok());
  ASSERT_TRUE(WriteWorld({.seed = 8, .scenes = 2, .splits = {"train"}}, (folder_ / "c").string()).ok());
  EXPECT_EQ(ReadFolder(folder_ / "a"), ReadFolder(folder_ / "b"));
  EXPECT_NE(ReadFolder(folder_ / "a"), ReadFolder(folder_ / "c"));
}

TEST_F(WorldTest, TheCommittedWorldIsWhatThisProgramWrites) {
  ASSERT_TRUE(WriteWorld({.seed = 7, .scenes = 24, .splits = {"val"}}, folder_.string()).ok());
  const fs::path committed = AFTERIMAGE_WORLD_COMMITTED;
  // Pictures depend on the versions of the encoders; their records do not.
  for (const char* part : {"questions", "sceneGraphs", "records"}) {
    EXPECT_EQ(ReadFolder(folder_ / part), ReadFolder(committed / part)) << part;
  }
}

TEST_F(WorldTest, WhatCannotBeMadeIsRefusedBeforeAnythingIsWritten) {
  EXPECT_FALSE(WriteWorld({.scenes = 0}, (folder_ / "none").string()).ok());
  EXPECT_FALSE(WriteWorld({.scenes = 1, .splits = {"test"}}, (folder_ / "none").string()).ok());
  EXPECT_FALSE(fs::exists(folder_ / "none"));
}

}  // namespace
}  // namespace afterimage::world
