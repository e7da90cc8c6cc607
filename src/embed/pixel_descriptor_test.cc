#include "embed/pixel_descriptor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/sha256.h"

namespace afterimage {
namespace {

using Picture = std::shared_ptr<const Image>;

Picture Read(const std::string& image_id) {
  const std::string path = std::string(WORLD) + "/images/" + image_id;
  return ReadImage(std::filesystem::exists(path + ".png") ? path + ".png" : path + ".jpg").value();
}

std::vector<Picture> Scenes() {
  std::vector<Picture> scenes;
  for (int i = 0; i < 24; ++i) scenes.push_back(Read(std::to_string(2000000 + i)));
  return scenes;
}

std::vector<float> Describe(const std::vector<Picture>& pictures) { return PixelDescriptor(pictures); }

double Cosine(const std::vector<Picture>& a, const std::vector<Picture>& b) {
  const std::vector<float> x = Describe(a);
  const std::vector<float> y = Describe(b);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * y[i];
  return sum;
}

double Cosine(const Picture& a, const Picture& b) { return Cosine(std::vector{a}, std::vector{b}); }

// A picture of the same size whose values are `value(x, y, channel)`.
template <typename Value>
Picture Redrawn(const Image& image, const Value& value) {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < static_cast<int>(image.height()); ++y) {
    for (int x = 0; x < static_cast<int>(image.width()); ++x) {
      for (int channel = 0; channel < 3; ++channel) rgb.push_back(static_cast<uint8_t>(value(x, y, channel)));
    }
  }
  return Image::FromRgb(image.width(), image.height(), std::move(rgb)).value();
}

int At(const Image& image, int x, int y, int channel) {
  x = std::clamp(x, 0, static_cast<int>(image.width()) - 1);
  y = std::clamp(y, 0, static_cast<int>(image.height()) - 1);
  return image.rgb()[(static_cast<size_t>(y) * image.width() + x) * 3 + channel];
}

Picture Flat(uint32_t side, std::vector<uint8_t> colour) {
  std::vector<uint8_t> rgb;
  for (uint32_t i = 0; i < side * side; ++i) rgb.insert(rgb.end(), colour.begin(), colour.end());
  return Image::FromRgb(side, side, std::move(rgb)).value();
}

// Every pixel as a square of `factor` x `factor`.
Picture Enlarged(const Image& image, int factor) {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < static_cast<int>(image.height()) * factor; ++y) {
    for (int x = 0; x < static_cast<int>(image.width()) * factor; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        rgb.push_back(static_cast<uint8_t>(At(image, x / factor, y / factor, channel)));
      }
    }
  }
  return Image::FromRgb(image.width() * factor, image.height() * factor, std::move(rgb)).value();
}

// The lowest and highest cosine of the pairs of a stream, by "kind" and whether they must agree.
std::map<std::pair<std::string, bool>, std::pair<double, double>> CosinesOf(const std::string& stream) {
  const std::string prefix = std::string(WORLD) + "/questions/val_" + stream;
  std::ifstream questions_file(prefix + "_questions.json");
  const nlohmann::json questions = nlohmann::json::parse(questions_file);
  std::ifstream pairs(prefix + "_pairs.jsonl");
  std::map<std::pair<std::string, bool>, std::pair<double, double>> ranges;
  std::string line;
  while (std::getline(pairs, line)) {
    const nlohmann::json pair = nlohmann::json::parse(line);
    const auto picture = [&](const char* side) { return Read(questions[pair[side].get<std::string>()]["imageId"]); };
    const double cosine = Cosine(picture("a"), picture("b"));
    auto& range = ranges.try_emplace({pair["kind"], pair["must_agree"]}, cosine, cosine).first->second;
    range = {std::min(range.first, cosine), std::max(range.second, cosine)};
  }
  return ranges;
}

TEST(PixelDescriptorTest, HasLengthOne) {
  for (const Picture& scene : Scenes()) {
    EXPECT_EQ(Describe({scene}).size(), static_cast<size_t>(kPixelDescriptorDim));
    EXPECT_NEAR(Cosine(scene, scene), 1, 1e-6);
  }
}

TEST(PixelDescriptorTest, HarmlessChangeLeavesAHighCosine) {
  for (const Picture& scene : Scenes()) {
    const Image& image = *scene;
    const auto shifted = Redrawn(image, [&](int x, int y, int c) { return At(image, x - 2, y - 2, c); });
    const auto brighter =
        Redrawn(image, [&](int x, int y, int c) { return std::min(255.0, std::round(At(image, x, y, c) * 1.03)); });
    const auto darker = Redrawn(image, [&](int x, int y, int c) { return std::round(At(image, x, y, c) * 0.97); });
    EXPECT_GT(Cosine(scene, shifted), 0.97);
    EXPECT_GT(Cosine(scene, brighter), 0.999);
    EXPECT_GT(Cosine(scene, darker), 0.999);
  }
}

TEST(PixelDescriptorTest, OtherScenesHaveAClearlyLowerCosine) {
  const std::vector<Picture> scenes = Scenes();
  for (size_t i = 0; i < scenes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_LT(Cosine(scenes[i], scenes[j]), 0.8) << i << " and " << j;
  }
}

TEST(PixelDescriptorTest, FramesOfAClipAreAlikeUntilSomethingHappens) {
  auto ranges = CosinesOf("clips");
  EXPECT_GT((ranges[{"motion", true}].first), 0.99);
  EXPECT_LT((ranges[{"recolored", false}].second), 0.95);
  EXPECT_LT((ranges[{"vanishes", false}].second), 0.95);
}

TEST(PixelDescriptorTest, TwinsAreAlike) {
  for (const auto& [kind, range] : CosinesOf("twins")) EXPECT_GT(range.first, 0.95) << kind.first;
}

TEST(PixelDescriptorTest, OneEnlargedPictureIsTheSame) {
  const Picture scene = Scenes()[3];
  EXPECT_EQ(Describe({scene}), Describe({Enlarged(*scene, 3)}));
}

TEST(PixelDescriptorTest, APictureSmallerThanTheGridIsDescribed) {
  const auto tiny = Image::FromRgb(2, 1, {255, 0, 0, 0, 0, 255}).value();
  const auto mirrored = Image::FromRgb(2, 1, {0, 0, 255, 255, 0, 0}).value();
  EXPECT_NEAR(Cosine(tiny, tiny), 1, 1e-6);
  EXPECT_LT(Cosine(tiny, mirrored), 0.5);
  EXPECT_EQ(Describe({tiny}), Describe({Enlarged(*tiny, 64)}));
}

TEST(PixelDescriptorTest, AFlatGreyHasNothingToDescribe) {
  EXPECT_EQ(Describe({Flat(40, {128, 128, 128})}), std::vector<float>(kPixelDescriptorDim));
  EXPECT_EQ(Describe({}), std::vector<float>(kPixelDescriptorDim));
}

TEST(PixelDescriptorTest, FlatColoursAreToldApart) {
  const Picture red = Flat(40, {200, 0, 0});
  EXPECT_NEAR(Cosine(red, Flat(100, {200, 0, 0})), 1, 1e-6);
  EXPECT_LT(Cosine(red, Flat(40, {0, 0, 200})), 0.5);
}

TEST(PixelDescriptorTest, TheOrderOfPicturesCounts) {
  const std::vector<Picture> scenes = Scenes();
  const std::vector<Picture> pair{scenes[0], scenes[1]};
  EXPECT_NEAR(Cosine(pair, pair), 1, 1e-6);
  EXPECT_LT(Cosine(pair, {scenes[1], scenes[0]}), 0.5);
}

TEST(PixelDescriptorTest, OnePictureExchangedOfTwoHalvesTheFall) {
  const std::vector<Picture> scenes = Scenes();
  const double alone = Cosine(scenes[1], scenes[2]);
  const double among_two = Cosine({scenes[0], scenes[1]}, {scenes[0], scenes[2]});
  EXPECT_NEAR(among_two, (1 + alone) / 2, 0.1);
}

// The bits are part of what is stored: a change of them needs a new identity. (The first digest was also had from a
// second program, written for that purpose.)
TEST(PixelDescriptorTest, TheValuesOfVersionOneStayWhatTheyAre) {
  const auto picture = Image::FromRgb(2, 2, {10, 20, 30, 200, 100, 50, 90, 80, 70, 0, 255, 0}).value();
  EXPECT_EQ(kPixelDescriptorIdentity, "pixels/1");
  const std::vector<float> vector = Describe({picture});
  EXPECT_EQ(Sha256().Add(std::span<const float>(vector)).Finish().Short(), "cb4617e1901c");
  const std::vector<float> of_two = Describe({picture, picture});
  EXPECT_EQ(Sha256().Add(std::span<const float>(of_two)).Finish().Short(), "a97d331b76ec");
}

}  // namespace
}  // namespace afterimage
