#include "gates/picture_signature.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/area_average.h"

namespace afterimage {
namespace {

constexpr int kGrid = 64;
constexpr int kBlock = 6;   // cells along a side
constexpr int kReach = 3;   // half cells a block is looked for around its place, each way
constexpr int kMargin = 2;  // cells around a picture: kReach, rounded up
constexpr int kUnit = 64;   // one level; means of four cells are whole numbers
constexpr int kWhite = 255 * kUnit;
constexpr int kSlack =
    3 * kUnit;  // a cell may be off by: flicker on a large object is 1 to 3, a corner that is gone more
constexpr double kLargestShapeRatio = 1.05;
constexpr double kOtherShape = 255;

// Of the light that is allowed for: exposure beyond this shows another time of day.
constexpr int kGainUnit = 4096;
constexpr int kMaxGain = kGainUnit + kGainUnit / 4;
constexpr int kMaxOffset = 32 * kUnit;

using Plane = std::array<std::array<int16_t, kGrid>, kGrid>;
using Planes = std::array<Plane, 3>;

// At most 3 * 64 * 64 * kWhite < 2^31.
int Sum(const Planes& planes) {
  int sum = 0;
  for (const Plane& plane : planes) {
    for (const auto& row : plane) {
      for (const int value : row) sum += value;
    }
  }
  return sum;
}

Planes PlanesOf(std::span<const float> signature) {
  Planes planes;
  size_t next = 1;
  for (Plane& plane : planes) {
    for (auto& row : plane) {
      for (int16_t& value : row)
        value = static_cast<int16_t>(static_cast<int>(signature[next++]) * kUnit / kAverageUnit);
    }
  }
  return planes;
}

// Calls `visit(dark, bright)` with the values of both pictures, cell by cell and colour by colour.
template <typename Visit>
void ForEachValue(Planes& dark, const Planes& bright, const Visit& visit) {
  for (size_t channel = 0; channel < dark.size(); ++channel) {
    for (size_t y = 0; y < kGrid; ++y) {
      for (size_t x = 0; x < kGrid; ++x) visit(dark[channel][y][x], bright[channel][y][x]);
    }
  }
}

int Median(std::vector<int>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Brightens `dark` as `bright` was. Medians: an object that changed is not to be explained by light. Not a factor and
// levels at once: where most is one plain colour, any line through it would do.
void AllowForLight(Planes& dark, const Planes& bright) {
  constexpr int kDarkest = 8 * kUnit;      // below, a factor says nothing
  constexpr int kBrightest = 250 * kUnit;  // above, light is cut off
  std::vector<int> gains;
  std::vector<int> offsets;
  ForEachValue(dark, bright, [&](int from, int to) {
    if (from < kDarkest || from > kBrightest || to > kBrightest) return;
    gains.push_back(to * kGainUnit / from);
    offsets.push_back(to - from);
  });
  if (gains.empty()) return;
  const int gain = std::clamp(Median(gains), kGainUnit, kMaxGain);
  const int offset = std::clamp(Median(offsets), 0, kMaxOffset);
  const auto times = [&](int value) { return std::min(value * gain / kGainUnit, kWhite); };
  const auto plus = [&](int value) { return std::min(value + offset, kWhite); };

  constexpr int kFar = 16 * kUnit;  // beyond, it is not light
  int64_t times_misses = 0;
  int64_t plus_misses = 0;
  ForEachValue(dark, bright, [&](int from, int to) {
    times_misses += std::min(std::abs(times(from) - to), kFar);
    plus_misses += std::min(std::abs(plus(from) - to), kFar);
  });
  ForEachValue(dark, bright, [&](int16_t& from, int) {
    from = static_cast<int16_t>(times_misses <= plus_misses ? times(from) : plus(from));
  });
}

// Every cell with its neighbours, by weights of 1, 2, 1 each way.
void Smooth(Plane& plane) {
  std::array<std::array<int, kGrid>, kGrid> across;
  for (int y = 0; y < kGrid; ++y) {
    for (int x = 0; x < kGrid; ++x) {
      across[y][x] = plane[y][std::max(x - 1, 0)] + 2 * plane[y][x] + plane[y][std::min(x + 1, kGrid - 1)];
    }
  }
  for (int y = 0; y < kGrid; ++y) {
    const auto& above = across[std::max(y - 1, 0)];
    const auto& below = across[std::min(y + 1, kGrid - 1)];
    for (int x = 0; x < kGrid; ++x) plane[y][x] = static_cast<int16_t>((above[x] + 2 * across[y][x] + below[x]) / 16);
  }
}

// The least and the most of what half a cell around a place holds, for places at whole or half cells. Outside of the
// picture, where nothing is known, anything fits.
struct Bounds {
  static constexpr int kSide = kGrid + 2 * kMargin;
  using Row = std::array<int16_t, kSide>;
  std::array<std::array<Row, kSide>, 3> low{};  // 0
  std::array<std::array<Row, kSide>, 3> high;

  Bounds() {
    for (auto& plane : high) {
      for (Row& row : plane) row.fill(kWhite);
    }
  }
};

// [2, 2]: at whole and half cells downwards, and to the right.
using AllBounds = std::array<std::array<Bounds, 2>, 2>;

void BoundsOf(const Planes& planes, AllBounds& bounds) {
  constexpr int kHalves = 2 * kGrid - 1;
  std::array<std::array<int16_t, kHalves>, kHalves> fine;  // the picture at half cells
  for (size_t channel = 0; channel < planes.size(); ++channel) {
    const Plane& plane = planes[channel];
    for (int y = 0; y < kHalves; ++y) {
      for (int x = 0; x < kHalves; ++x) {
        const int sum = plane[y / 2][x / 2] + plane[y / 2][(x + 1) / 2] + plane[(y + 1) / 2][x / 2] +
                        plane[(y + 1) / 2][(x + 1) / 2];
        fine[y][x] = static_cast<int16_t>(sum / 4);
      }
    }
    for (int y = 0; y < kHalves; ++y) {
      const auto& above = fine[std::max(y - 1, 0)];
      const auto& below = fine[std::min(y + 1, kHalves - 1)];
      for (int x = 0; x < kHalves; ++x) {
        const int16_t left = fine[y][std::max(x - 1, 0)];
        const int16_t right = fine[y][std::min(x + 1, kHalves - 1)];
        const int16_t low = std::min(std::min(std::min(left, right), std::min(above[x], below[x])), fine[y][x]);
        const int16_t high = std::max(std::max(std::max(left, right), std::max(above[x], below[x])), fine[y][x]);
        Bounds& of = bounds[y % 2][x % 2];
        of.low[channel][kMargin + y / 2][kMargin + x / 2] = static_cast<int16_t>(low - kSlack);
        of.high[channel][kMargin + y / 2][kMargin + x / 2] = static_cast<int16_t>(high + kSlack);
      }
    }
  }
}

using Sums = std::array<std::array<int32_t, kGrid>, kGrid>;  // of the block whose upper left cell it is

// How far the cells of row `y` lie outside of the bounds `dx`, `dy` cells away. In 16 bits, which hold it (3 * kWhite)
// and are eight to a vector register.
std::array<uint16_t, kGrid> RowDifferences(const Planes& picture, const Bounds& bounds, int y, int dy, int dx) {
  std::array<uint16_t, kGrid> differences{};
  for (size_t channel = 0; channel < picture.size(); ++channel) {
    const int16_t* values = picture[channel][y].data();
    const int16_t* low = bounds.low[channel][y + dy + kMargin].data() + dx + kMargin;
    const int16_t* high = bounds.high[channel][y + dy + kMargin].data() + dx + kMargin;
    for (int x = 0; x < kGrid; ++x) {
      const auto above = static_cast<int16_t>(values[x] - high[x]);
      const auto below = static_cast<int16_t>(low[x] - values[x]);
      const int16_t outside = std::max(std::max(above, below), int16_t{0});  // a list would not be vectorised
      differences[x] = static_cast<uint16_t>(differences[x] + outside);
    }
  }
  return differences;
}

// Takes the sums of all blocks into `best` where they are less.
void MatchShifted(const Planes& picture, const Bounds& bounds, int dy, int dx, Sums& best) {
  std::array<std::array<uint16_t, kGrid>, kGrid> rows;
  std::array<int32_t, kGrid + kBlock> columns{};  // the last kBlock rows, added up
  for (int y = 0; y < kGrid; ++y) {
    rows[y] = RowDifferences(picture, bounds, y, dy, dx);
    for (int x = 0; x < kGrid; ++x) columns[x] += rows[y][x];
    if (y + 1 < kBlock) continue;
    const int top = y + 1 - kBlock;
    for (int x = 0; x < kGrid; ++x) {
      int32_t sum = 0;
      for (int i = 0; i < kBlock; ++i) sum += columns[x + i];
      best[top][x] = std::min(best[top][x], sum);
    }
    for (int x = 0; x < kGrid; ++x) columns[x] -= rows[top][x];
  }
}

// What `picture` has and `other` has not.
LocalDifference LargestMissing(const Planes& picture, const Planes& other) {
  AllBounds bounds;
  BoundsOf(other, bounds);
  Sums best;
  for (auto& row : best) row.fill(kBlock * kBlock * 3 * kWhite);
  for (int dy = -kReach; dy <= kReach; ++dy) {
    for (int dx = -kReach; dx <= kReach; ++dx) {
      // >> rounds down, and & 1 is the half that is left, for numbers below zero too.
      MatchShifted(picture, bounds[dy & 1][dx & 1], dy >> 1, dx >> 1, best);
    }
  }

  int32_t largest = -1;
  LocalDifference difference;
  for (int y = 0; y + kBlock <= kGrid; ++y) {
    for (int x = 0; x + kBlock <= kGrid; ++x) {
      if (best[y][x] <= largest) continue;
      largest = best[y][x];
      difference = {static_cast<double>(largest) / (kBlock * kBlock * 3 * kUnit), (x + kBlock / 2.0) / kGrid,
                    (y + kBlock / 2.0) / kGrid};
    }
  }
  return difference;
}

}  // namespace

std::vector<float> SignatureOf(const Image& image) {
  const std::vector<int> means = AverageDown(image, kGrid);
  std::vector<float> signature;
  signature.reserve(kSignatureSize);
  signature.push_back(static_cast<float>(image.width()) / static_cast<float>(image.height()));
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t i = channel; i < means.size(); i += 3) signature.push_back(static_cast<float>(means[i]));
  }
  return signature;
}

LocalDifference Compare(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == kSignatureSize && b.size() == kSignatureSize);
  const double shape_ratio = static_cast<double>(std::max(a[0], b[0])) / std::min(a[0], b[0]);
  if (shape_ratio > kLargestShapeRatio) return {kOtherShape, 0.5, 0.5};
  Planes dark = PlanesOf(a);
  Planes bright = PlanesOf(b);
  // An order of the two that does not depend on which came first.
  const int dark_sum = Sum(dark);
  const int bright_sum = Sum(bright);
  if (dark_sum > bright_sum || (dark_sum == bright_sum && bright < dark)) std::swap(dark, bright);
  AllowForLight(dark, bright);
  for (Plane& plane : dark) Smooth(plane);
  for (Plane& plane : bright) Smooth(plane);
  const LocalDifference in_dark = LargestMissing(dark, bright);
  const LocalDifference in_bright = LargestMissing(bright, dark);
  return in_dark.largest >= in_bright.largest ? in_dark : in_bright;
}

}  // namespace afterimage
