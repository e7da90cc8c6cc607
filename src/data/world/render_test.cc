#include "data/world/render.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace afterimage::world {
namespace {

class RenderTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<Vocabulary> words = LoadVocabulary();
    ASSERT_TRUE(words.ok()) << words.error().message;
    words_ = *words;
    std::ifstream file(AFTERIMAGE_WORLD_TESTDATA "/records.json");
    ASSERT_TRUE(file.is_open());
    drawn_ = nlohmann::json::parse(file);
  }

  Vocabulary words_;
  nlohmann::json drawn_;  // by models/training/export_records.py
};

TEST_F(RenderTest, PicturesAreThoseOfTheTrainingCodeWithinOneLevel) {
  ASSERT_EQ(drawn_.size(), 50u);
  for (const nlohmann::json& entry : drawn_) {
    const Result<Scene> scene = SceneFromJson(entry.at("record"));
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    const std::vector<uint8_t> rgb = Render(*scene, words_);
    for (const nlohmann::json& pixel : entry.at("pixels")) {
      const size_t at = (pixel[1].get<size_t>() * kPictureSide + pixel[0].get<size_t>()) * 3;
      for (size_t c = 0; c < 3; ++c) {
        ASSERT_LE(std::abs(pixel[2 + c].get<int>() - rgb[at + c]), 1)
            << entry.at("record").dump() << " at " << pixel.dump();
      }
    }
    const std::vector<int> blocks = entry.at("blocks").get<std::vector<int>>();
    ASSERT_EQ(blocks.size(), 14u * 14u * 3u);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const size_t by = i / 3 / 14;
      const size_t bx = i / 3 % 14;
      int sum = 0;
      for (size_t y = by * 16; y < by * 16 + 16; ++y) {
        for (size_t x = bx * 16; x < bx * 16 + 16; ++x) sum += rgb[(y * kPictureSide + x) * 3 + i % 3];
      }
      ASSERT_LE(std::abs(sum - blocks[i]), 32) << "block " << i << " of " << entry.at("record").dump();
    }
  }
}

TEST_F(RenderTest, EveryKindIsAmongThePicturesCompared) {
  std::vector<int> seen(words_.kinds.size());
  for (const nlohmann::json& entry : drawn_) {
    for (const nlohmann::json& object : entry.at("record").at("objects")) ++seen[object.at("kind").get<size_t>()];
  }
  for (size_t kind = 0; kind < seen.size(); ++kind) EXPECT_GT(seen[kind], 0) << words_.kinds[kind];
}

TEST_F(RenderTest, TheComparisonSeesAShiftOfOnePixel) {
  const nlohmann::json& entry = drawn_.at(8);
  Result<Scene> scene = SceneFromJson(entry.at("record"));
  ASSERT_TRUE(scene.ok());
  const std::vector<uint8_t> before = Render(*scene, words_);
  scene->objects[0].x += kSubpixels;
  const std::vector<uint8_t> after = Render(*scene, words_);
  int moved = 0;
  for (size_t i = 0; i < before.size(); ++i) moved += std::abs(before[i] - after[i]) > 1 ? 1 : 0;
  EXPECT_GT(moved, 50);
}

TEST_F(RenderTest, AQuarterOfAPixelIsSeenAndIsSmall) {
  Result<Scene> scene = SceneFromJson(drawn_.at(9).at("record"));
  ASSERT_TRUE(scene.ok());
  const std::vector<uint8_t> before = Render(*scene, words_);
  scene->objects[0].x += kSubpixels / 4;
  const std::vector<uint8_t> after = Render(*scene, words_);
  EXPECT_NE(before, after);
  size_t changed = 0;
  for (size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i] ? 1 : 0;
  EXPECT_LT(changed, before.size() / 50);
}

TEST_F(RenderTest, ARecordComesBackFromItsJson) {
  for (const nlohmann::json& entry : drawn_) {
    const Result<Scene> scene = SceneFromJson(entry.at("record"));
    ASSERT_TRUE(scene.ok());
    const Result<Scene> again = SceneFromJson(nlohmann::json::parse(ToJson(*scene).dump()));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*scene, *again);
  }
}

TEST_F(RenderTest, ARecordThatCannotBeDrawnIsRefused) {
  nlohmann::json record = drawn_.at(0).at("record");
  record["objects"][0]["kind"] = 12;
  EXPECT_FALSE(SceneFromJson(record).ok());
  record = drawn_.at(0).at("record");
  record["period"] = 0;
  EXPECT_FALSE(SceneFromJson(record).ok());
  record = drawn_.at(0).at("record");
  record.erase("gain");
  EXPECT_FALSE(SceneFromJson(record).ok());
}

}  // namespace
}  // namespace afterimage::world
