#include "cli/experiment_spec.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Experiment> Read(const char* text) {
  Result<std::vector<Experiment>> experiments = ReadExperiments(Json::parse(text));
  EXPECT_TRUE(experiments.ok()) << experiments.error().message;
  return experiments.ok() ? std::move(*experiments) : std::vector<Experiment>();
}

std::string ErrorOf(const char* text) {
  const Result<std::vector<Experiment>> experiments = ReadExperiments(Json::parse(text));
  EXPECT_FALSE(experiments.ok());
  return experiments.ok() ? "" : experiments.error().message;
}

TEST(ExperimentSpecTest, WhatAnExperimentSaysCountsBeforeTheDefaults) {
  const std::vector<Experiment> experiments = Read(R"({
    "defaults": {"split": "val", "max_samples": 128},
    "experiments": [{"name": "a", "max_samples": 64, "embedding_layers": ["x:1"]}, {"name": "b", "notes": "n"}]})");
  ASSERT_EQ(experiments.size(), 2);
  EXPECT_EQ(experiments[0].options, Json::parse(R"({"split": "val", "max_samples": 64, "name": "a",
                                                    "embedding_layers": ["x:1"]})"));
  EXPECT_EQ(experiments[1].options, Json::parse(R"({"split": "val", "max_samples": 128, "name": "b", "notes": "n"})"));
}

TEST(ExperimentSpecTest, APresetOfItsOwnCountsBeforeTheDefaultsButNotBeforeItself) {
  const std::vector<Experiment> experiments = Read(R"({
    "defaults": {"model": "opt", "threads": 3, "split": "val"},
    "experiments": [{"name": "a", "preset": "tiny-qwen3vl", "threads": 5}]})");
  EXPECT_EQ(experiments[0].options, Json::parse(R"({"split": "val", "name": "a", "preset": "tiny-qwen3vl",
                                                    "threads": 5})"));
}

TEST(ExperimentSpecTest, ThePresetOfTheDefaultsIsOnlyPassedOn) {
  const std::vector<Experiment> experiments = Read(R"({
    "defaults": {"preset": "tiny-qwen3vl", "threads": 3}, "experiments": [{"name": "a"}]})");
  EXPECT_EQ(experiments[0].options, Json::parse(R"({"preset": "tiny-qwen3vl", "threads": 3, "name": "a"})"));
}

TEST(ExperimentSpecTest, AGridIsEveryCombinationUnderItsOwnName) {
  const std::vector<Experiment> experiments = Read(R"({
    "experiments": [{"name": "g", "reuse": "exact", "grid": {
      "similarity_threshold": [0.5, 0.75], "embedding_layers": [["a:1:0.5", "b:2"], []]}}]})");
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments) names.push_back(experiment.name);
  EXPECT_EQ(names, (std::vector<std::string>{"g-similarity_threshold=0.5-embedding_layers=a:1:0.5+b:2",
                                             "g-similarity_threshold=0.5-embedding_layers=",
                                             "g-similarity_threshold=0.75-embedding_layers=a:1:0.5+b:2",
                                             "g-similarity_threshold=0.75-embedding_layers="}));
  EXPECT_EQ(experiments[2].options["similarity_threshold"], 0.75);
  EXPECT_EQ(experiments[2].options["reuse"], "exact");
  EXPECT_EQ(experiments[3].options["embedding_layers"], Json::array());
  EXPECT_FALSE(experiments[0].options.contains("grid"));
  EXPECT_EQ(experiments[0].file_name, "g-similarity_threshold=0.5-embedding_layers=a_1_0.5+b_2");
}

TEST(ExperimentSpecTest, OnlyItsOwnCacheFolderIsItsOwn) {
  const std::vector<Experiment> experiments = Read(R"({
    "defaults": {"cache_dir": "x"}, "experiments": [{"name": "a"}, {"name": "b", "cache_dir": "y"}]})");
  EXPECT_FALSE(experiments[0].own_cache_dir);
  EXPECT_TRUE(experiments[1].own_cache_dir);
}

TEST(ExperimentSpecTest, NamesAreSafeAsFileNames) {
  EXPECT_EQ(Read(R"({"experiments": [{"name": "../a b/ü"}]})")[0].file_name, "_._a_b___");
  EXPECT_EQ(ErrorOf(R"({"experiments": [{"name": "a/b"}, {"name": "a:b"}]})"),
            "The names 'a/b' and 'a:b' would make one file.");
}

TEST(ExperimentSpecTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(ErrorOf("[]"), "A specification is an object with \"experiments\".");
  EXPECT_EQ(ErrorOf(R"({"experiment": []})"), "A specification has no 'experiment'. Did you mean 'experiments'?");
  EXPECT_EQ(ErrorOf(R"({"experiments": []})"), "A specification needs \"experiments\", a list.");
  EXPECT_EQ(ErrorOf(R"({"experiments": [{"name": "a"}, {"notes": ""}]})"), "Experiment 2 has no name.");
  EXPECT_EQ(ErrorOf(R"({"experiments": [{"name": "a"}, {"name": "a"}]})"), "Two experiments have the name 'a'.");
  EXPECT_EQ(ErrorOf(R"({"experiments": [{"name": "a", "grid": {"x": 1}}]})"),
            "Experiment 'a': the grid's 'x' is to be a list of values.");
  EXPECT_NE(ErrorOf(R"({"experiments": [{"name": "a", "preset": "tiny"}]})").find("There is no preset 'tiny'"),
            std::string::npos);
}

}  // namespace
}  // namespace afterimage
