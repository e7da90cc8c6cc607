#include "core/area_average.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

// One number a cell: the picture is grey.
std::vector<int> GreyMeans(uint32_t width, uint32_t height, const std::vector<uint8_t>& levels, int grid) {
  std::vector<uint8_t> rgb;
  for (const uint8_t level : levels) rgb.insert(rgb.end(), 3, level);
  const std::vector<int> means = AverageDown(*Image::FromRgb(width, height, rgb).value(), grid);
  std::vector<int> grey;
  for (size_t i = 0; i < means.size(); i += 3) grey.push_back(means[i]);
  return grey;
}

TEST(AreaAverageTest, ACellIsTheMeanOfItsPixels) {
  EXPECT_EQ(GreyMeans(4, 2, {0, 10, 20, 30, 40, 50, 60, 70}, 2), (std::vector{5 * 16, 25 * 16, 45 * 16, 65 * 16}));
  EXPECT_EQ(GreyMeans(2, 2, {0, 1, 0, 0}, 1), std::vector{4});
}

TEST(AreaAverageTest, APixelAtABorderCountsOnBothSides) {
  // Columns of 1.5 pixels: (0 + 30 / 2) / 1.5 and (30 / 2 + 90) / 1.5.
  EXPECT_EQ(GreyMeans(3, 1, {0, 30, 90}, 2), (std::vector{160, 70 * 16, 160, 70 * 16}));
}

TEST(AreaAverageTest, APictureSmallerThanTheGridIsEnlarged) {
  EXPECT_EQ(GreyMeans(2, 1, {1, 255}, 4),
            (std::vector{16, 16, 4080, 4080, 16, 16, 4080, 4080, 16, 16, 4080, 4080, 16, 16, 4080, 4080}));
}

TEST(AreaAverageTest, ColoursStayApart) {
  EXPECT_EQ(AverageDown(*Image::FromRgb(1, 2, {10, 20, 30, 20, 20, 50}).value(), 1), (std::vector{240, 320, 640}));
}

}  // namespace
}  // namespace afterimage
