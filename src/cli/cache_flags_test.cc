#include "cli/cache_flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace afterimage {
namespace {

// The options after a command line; its complaint as an error.
Result<CacheOptions> Parse(std::vector<std::string> arguments, CacheFlags flags = {}) {
  OptionTable table;
  AddCacheOptions(table, flags);
  CLI::App app;
  table.AddTo(app);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    return Error{Errc::kInvalidArgument, e.what()};
  }
  return flags.Resolve();
}

std::string Complaint(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--cache-dir", "d"});
  const Result<CacheOptions> options = Parse(std::move(arguments));
  return options.ok() ? "none" : options.error().message;
}

TEST(CacheFlags, EveryFlagReachesItsOption) {
  const Result<CacheOptions> options = Parse({"--cache-dir",
                                              "d",
                                              "--cache-mode",
                                              "dry-run",
                                              "--layers",
                                              "exact,fusion",
                                              "--reuse",
                                              "normalized",
                                              "--max-cached-blocks",
                                              "100",
                                              "--max-bytes",
                                              "2GB",
                                              "--memory-bytes",
                                              "1MiB",
                                              "--durability",
                                              "process",
                                              "--fusion-cache-dir",
                                              "f",
                                              "--min-prefix-tokens",
                                              "8",
                                              "--min-gain",
                                              "12.5%",
                                              "--tenant",
                                              "t",
                                              "--planner-rates",
                                              "r"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->folder, "d");
  EXPECT_EQ(options->mode, CacheMode::kDryRun);
  EXPECT_TRUE(options->exact_layer);
  EXPECT_FALSE(options->prefix_layer);
  EXPECT_TRUE(options->fusion_layer);
  EXPECT_EQ(options->loosest, ReuseClass::kNormalized);
  EXPECT_EQ(options->max_blocks, 100u);
  EXPECT_EQ(options->max_bytes, 2'000'000'000u);
  EXPECT_EQ(options->memory_bytes, 1u << 20);
  EXPECT_EQ(options->durability, Durability::kProcess);
  EXPECT_EQ(options->fusion_folder, "f");
  EXPECT_EQ(options->min_prefix_tokens, 8);
  EXPECT_DOUBLE_EQ(options->min_gain, 0.125);
  EXPECT_EQ(options->tenant, "t");
  EXPECT_EQ(options->planner_rates, "r");
}

TEST(CacheFlags, AFolderMakesTheCacheLiveAndNoFolderMakesItOff) {
  EXPECT_EQ(Parse({})->mode, CacheMode::kOff);
  EXPECT_EQ(Parse({"--cache-dir", "d"})->mode, CacheMode::kLive);
  EXPECT_EQ(Parse({"--cache-dir", "d", "--cache-mode", "off"})->mode, CacheMode::kOff);
  CacheFlags with_default;
  with_default.options.folder = "semantic_cache";
  EXPECT_EQ(Parse({}, with_default)->mode, CacheMode::kLive);
  EXPECT_FALSE(Parse({"--cache-mode", "live"}).ok());
}

TEST(CacheFlags, FusionNeedsItsLayerAndItsFlag) {
  EXPECT_TRUE(Parse({})->fusion_layer);
  EXPECT_FALSE(Parse({"--no-fusion-cache"})->fusion_layer);
  EXPECT_FALSE(Parse({"--no-fusion-cache", "--layers", "fusion"})->fusion_layer);
  EXPECT_TRUE(Parse({"--fusion-cache"})->fusion_layer);
  EXPECT_FALSE(Parse({"--fusion-cache", "--layers", "prefix"})->fusion_layer);
}

TEST(CacheFlags, EmbeddingLayersAreNamedSizedAndHaveAThreshold) {
  const auto options = Parse(
      {"--embedding-hook", "prompt_vision", "--embedding-layer", "prompt:384:0.8", "--embedding-layer", "vision:512"});
  ASSERT_EQ(options->embedding_layers.size(), 2u);
  EXPECT_EQ(options->embedding_layers[0].name, "prompt");
  EXPECT_EQ(options->embedding_layers[0].dim, 384);
  EXPECT_DOUBLE_EQ(options->embedding_layers[0].threshold, 0.8);
  EXPECT_EQ(options->embedding_layers[1].dim, 512);
  EXPECT_DOUBLE_EQ(options->embedding_layers[1].threshold, 0.85);
  EXPECT_TRUE(Parse({"--layers", "exact", "--embedding-hook", "prompt", "--embedding-layer", "prompt:384"})
                  ->embedding_layers.empty());
}

TEST(CacheFlags, TheSemanticLayerIsSwitchedOffInTwoWays) {
  EXPECT_TRUE(Parse({})->semantic_layer);
  EXPECT_FALSE(Parse({"--disable-semantic-cache"})->semantic_layer);
  EXPECT_FALSE(Parse({"--layers", "exact,prefix"})->semantic_layer);
}

TEST(CacheFlags, WhatCannotBeIsNamed) {
  EXPECT_NE(Complaint({"--embedding-layer", "prompt:384"}).find("--embedding-hook"), std::string::npos);
  for (const char* layer :
       {"prompt", "prompt:", ":384", "prompt:0", "prompt:x", "prompt:384:", "prompt:384:2", "a:1:0:1"}) {
    EXPECT_NE(Complaint({"--embedding-hook", "prompt", "--embedding-layer", layer}).find(layer), std::string::npos);
  }
  EXPECT_NE(Complaint({"--layers", "exact,vision"}).find("'vision'"), std::string::npos);
  EXPECT_NE(Complaint({"--min-gain", "5s"}).find("10%"), std::string::npos);
  EXPECT_NE(Complaint({"--image-gate", "nearly"}).find("near:0.98"), std::string::npos);
  EXPECT_NE(Complaint({"--image-gate", "off:0.9"}).find("near:0.98"), std::string::npos);
  EXPECT_NE(Complaint({"--min-gain", "101%"}).find("10%"), std::string::npos);
  EXPECT_NE(Complaint({"--min-gain", "nan%"}).find("10%"), std::string::npos);
  EXPECT_NE(Complaint({"--max-bytes", "lots"}).find("--max-bytes"), std::string::npos);
  EXPECT_NE(Complaint({"--reuse", "cold"}).find("exact|normalized|approximate"), std::string::npos);
  EXPECT_NE(Complaint({"--cache-mode", "on"}).find("live|dry-run|off"), std::string::npos);
}

TEST(CacheFlags, TheConfigurationShowsWhatWillBeUsed) {
  CacheFlags flags;
  flags.options.folder = "d";
  OptionTable table;
  AddCacheOptions(table, flags);
  const OptionTable::Json json = table.ToJson();
  EXPECT_EQ(json["cache_mode"], "live");
  EXPECT_EQ(json["min_gain"], "10%");
  EXPECT_EQ(json["reuse"], "exact");
  EXPECT_EQ(json["fusion_cache"], true);
}

}  // namespace
}  // namespace afterimage
