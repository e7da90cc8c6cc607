#include "gates/picture_signature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/sha256.h"

namespace afterimage {
namespace {

using Picture = std::shared_ptr<const Image>;
using Colour = std::array<double, 3>;
using Draw = std::function<Colour(double x, double y)>;  // x, y: pixels of 224

constexpr uint32_t kSide = 224;

// `scale`: pixels of the file a pixel of 224.
Picture Drawn(const Draw& draw, uint32_t width = kSide, uint32_t height = kSide, double scale = 1) {
  std::vector<uint8_t> rgb;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      for (const double level : draw((x + 0.5) / scale, (y + 0.5) / scale)) {
        rgb.push_back(static_cast<uint8_t>(std::clamp(std::round(level), 0.0, 255.0)));
      }
    }
  }
  return Image::FromRgb(width, height, std::move(rgb)).value();
}

enum class Shape { kNone, kBall, kCube };
struct Object {
  Shape shape = Shape::kBall;
  double x = 70;
  double y = 150;
  Colour colour = {190, 60, 50};
};

bool Covers(const Object& object, double x, double y) {
  constexpr double kRadius = 16;
  const double dx = std::abs(x - object.x);
  const double dy = std::abs(y - object.y);
  if (object.shape == Shape::kBall) return dx * dx + dy * dy < kRadius * kRadius;
  return object.shape == Shape::kCube && std::max(dx, dy) < kRadius * 0.886;  // the same area
}

// A wall, a large object that stays, and the one in question.
Draw Room(const Object& object) {
  return [object](double x, double y) -> Colour {
    if (Covers(object, x, y)) return object.colour;
    if (x > 130 && x < 190 && y > 30 && y < 90) return {60, 120, 70};
    const double level = 120 + 0.2 * y + 8 * std::sin(x / 6);
    return {level, level, level * 0.9};
  };
}

Draw Shifted(const Draw& draw, double by_x, double by_y) {
  return [=](double x, double y) { return draw(x - by_x, y - by_y); };
}

Draw Lit(const Draw& draw, double factor, double levels) {
  return [=](double x, double y) {
    Colour colour = draw(x, y);
    for (double& level : colour) level = level * factor + levels;
    return colour;
  };
}

LocalDifference Difference(const Picture& a, const Picture& b) { return Compare(SignatureOf(*a), SignatureOf(*b)); }
LocalDifference Difference(const Draw& a, const Draw& b) { return Difference(Drawn(a), Drawn(b)); }

Picture Flat(uint8_t level) { return Image::FromRgb(1, 1, {level, level, level}).value(); }

TEST(PictureSignatureTest, HasOneLengthForAllPictures) {
  EXPECT_EQ(SignatureOf(*Flat(7)).size(), kSignatureSize);
  EXPECT_EQ(SignatureOf(*Drawn(Room({}), 300, 100)).size(), kSignatureSize);
}

TEST(PictureSignatureTest, EqualPicturesDoNotDiffer) {
  EXPECT_EQ(Difference(Room({}), Room({})).largest, 0);
  EXPECT_EQ(Difference(Flat(0), Flat(0)).largest, 0);
  EXPECT_EQ(Difference(Flat(255), Flat(255)).largest, 0);
}

TEST(PictureSignatureTest, IsSymmetric) {
  const Draw room = Room({});
  const Draw mirrored = [&](double x, double y) { return room(kSide - x, y); };  // as bright
  for (const Draw& other : {mirrored, Room({.shape = Shape::kNone}), Lit(Room({.shape = Shape::kCube}), 1.1, 3)}) {
    const LocalDifference one_way = Difference(room, other);
    const LocalDifference other_way = Difference(other, room);
    EXPECT_EQ(one_way.largest, other_way.largest);
    EXPECT_EQ(one_way.x, other_way.x);
    EXPECT_EQ(one_way.y, other_way.y);
  }
}

TEST(PictureSignatureTest, LightIsAllowedFor) {
  for (const double factor : {0.9, 0.95, 1.05, 1.1}) {
    EXPECT_LT(Difference(Room({}), Lit(Room({}), factor, 0)).largest, 0.5) << factor;
  }
  for (const double levels : {-20, -12, 12, 20}) {
    EXPECT_LT(Difference(Room({}), Lit(Room({}), 1, levels)).largest, 0.5) << levels;
  }
}

TEST(PictureSignatureTest, LightThatIsCutOffAtWhiteIsAllowedFor) {
  const Draw room = Room({.colour = {250, 230, 40}});
  EXPECT_LT(Difference(room, Lit(room, 1.12, 0)).largest, kDefaultLocalDifference);
  // Most of it is white already, and says nothing about the light.
  const Draw window = [&](double x, double y) { return y < 150 ? Colour{255, 255, 255} : room(x, y); };
  EXPECT_LT(Difference(window, Lit(window, 1.12, 0)).largest, kDefaultLocalDifference);
}

TEST(PictureSignatureTest, AnotherTimeOfDayIsNotAllowedFor) {
  EXPECT_GT(Difference(Room({}), Lit(Room({}), 0.6, 0)).largest, 5);
  EXPECT_GT(Difference(Room({}), Lit(Room({}), 1, -60)).largest, 5);
  EXPECT_GT(Difference(Flat(0), Flat(60)).largest, 5);
}

TEST(PictureSignatureTest, DriftIsAllowedFor) {
  for (const double by : {0.7, 2.0, 4.0}) {
    EXPECT_LT(Difference(Room({}), Shifted(Room({}), by, -by)).largest, kDefaultLocalDifference) << by;
  }
}

TEST(PictureSignatureTest, SizeIsAllowedFor) {
  for (const double scale : {0.7, 1.5}) {
    const auto side = static_cast<uint32_t>(std::lround(kSide * scale));
    EXPECT_LT(Difference(Drawn(Room({})), Drawn(Room({}), side, side, scale)).largest, kDefaultLocalDifference);
  }
}

TEST(PictureSignatureTest, ACropIsAllowedFor) {
  EXPECT_LT(Difference(Drawn(Room({})), Drawn(Shifted(Room({}), -4, 0), kSide - 4, kSide - 4)).largest,
            kDefaultLocalDifference);
}

TEST(PictureSignatureTest, WhatLeavesThePictureAtItsEdgeIsNotMissed) {
  const Draw room = Room({});
  const Draw with_frame = [&](double x, double y) { return x < 4 ? Colour{255, 255, 255} : room(x, y); };
  EXPECT_LT(Difference(with_frame, Shifted(with_frame, -4, 0)).largest, kDefaultLocalDifference);
}

TEST(PictureSignatureTest, FineTextureMayFallBetweenCellsOtherwise) {
  const Draw gravel = [](double x, double y) -> Colour {
    const double level = 128 + 40 * std::sin(x * 1.1) * std::sin(y * 1.3);
    return {level, level, level};
  };
  EXPECT_LT(Difference(gravel, Shifted(gravel, 1.4, 0.6)).largest, kDefaultLocalDifference);
}

TEST(PictureSignatureTest, AnObjectThatVanishesIsFoundWhereItWas) {
  const LocalDifference difference = Difference(Room({}), Room({.shape = Shape::kNone}));
  EXPECT_GT(difference.largest, 30);
  EXPECT_NEAR(difference.x, 70.0 / kSide, 0.05);
  EXPECT_NEAR(difference.y, 150.0 / kSide, 0.05);
}

TEST(PictureSignatureTest, AnObjectThatAppearsAtTheEdgeIsFound) {
  const LocalDifference difference =
      Difference(Room({.shape = Shape::kNone}), Room({.shape = Shape::kCube, .x = 214, .y = 214}));
  EXPECT_GT(difference.largest, 30);
  EXPECT_GT(difference.x, 0.9);
  EXPECT_GT(difference.y, 0.9);
}

TEST(PictureSignatureTest, ABallThatBecomesACubeOfItsSizeIsFound) {
  for (const double factor : {0.97, 1.0, 1.03}) {  // whichever is the darker one
    const LocalDifference difference = Difference(Room({}), Lit(Room({.shape = Shape::kCube}), factor, 0));
    EXPECT_GT(difference.largest, kDefaultLocalDifference) << factor;
    EXPECT_NEAR(difference.x, 70.0 / kSide, 0.1) << factor;
    EXPECT_NEAR(difference.y, 150.0 / kSide, 0.1) << factor;
  }
}

TEST(PictureSignatureTest, AColourAsBrightAsTheOneBeforeIsFound) {
  // Luminances by BT.601: 97.7 and 97.8.
  EXPECT_GT(Difference(Room({}), Room({.colour = {60, 100, 186}})).largest, 30);
}

TEST(PictureSignatureTest, AnObjectThatMovesFarIsFound) {
  EXPECT_GT(Difference(Room({}), Room({.x = 110})).largest, 30);
}

TEST(PictureSignatureTest, AnObjectThatChangesInOtherLightAndDriftIsFound) {
  const Draw other = Lit(Shifted(Room({.shape = Shape::kNone}), 2, 1), 1.05, 0);
  EXPECT_GT(Difference(Room({}), other).largest, 30);
}

TEST(PictureSignatureTest, AnotherShapeIsAnotherPicture) {
  EXPECT_EQ(Difference(Drawn(Room({})), Drawn(Room({}), kSide, 200)).largest, 255);
  EXPECT_EQ(Difference(Drawn(Room({}), 200, kSide), Drawn(Room({}))).largest, 255);
  EXPECT_LT(Difference(Drawn(Room({})), Drawn(Room({}), kSide, 220)).largest, 255);
}

// The bits are part of what is stored: a change of them needs a new identity.
TEST(PictureSignatureTest, TheValuesOfVersionOneStayWhatTheyAre) {
  EXPECT_STREQ(kSignatureIdentity, "signature/1");
  const auto picture = Image::FromRgb(2, 2, {10, 20, 30, 200, 100, 50, 90, 80, 70, 0, 255, 0}).value();
  const std::vector<float> signature = SignatureOf(*picture);
  EXPECT_EQ(signature[0], 1);
  EXPECT_EQ(signature[1], 160);                         // red, upper left
  EXPECT_EQ(signature[kSignatureSize - 64 * 64], 480);  // blue, upper left
  EXPECT_EQ(signature[kSignatureSize - 1], 0);          // blue, lower right
  EXPECT_EQ(Sha256().Add(std::span<const float>(signature)).Finish().Short(), "408661b7b970");
  const auto other = Image::FromRgb(2, 2, {10, 20, 30, 200, 100, 50, 90, 80, 70, 10, 200, 40}).value();
  EXPECT_EQ(Difference(picture, other).largest, 32);  // (10 + 55 + 40) / 3 - 3
}

}  // namespace
}  // namespace afterimage
