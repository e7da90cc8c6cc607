#include "embed/pixel_descriptor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/area_average.h"
#include "embed/signs.h"

namespace afterimage {
namespace {

constexpr int kGrid = 32;
constexpr int kLumaGrid = 16;
constexpr int kCoarseGrid = 8;  // of colours and steps

// A block of luminances has 4 cells and the others 16, so the means of blocks count 1 : 4 : 4. There are a quarter as
// many of the others, and they are smaller; with these weights a shift by two pixels of 224 leaves a cosine of 0.97.
constexpr int64_t kLumaWeight = 4;
constexpr int64_t kColourWeight = 4;
constexpr int64_t kStepWeight = 4;

struct Cell {
  int64_t luma = 0;
  int64_t red = 0;   // less luma
  int64_t blue = 0;  // less luma
};
using Cells = std::array<Cell, kGrid * kGrid>;

// In units of 1/16 level, with the weights of BT.601 in 256ths.
Cells CellsOf(const Image& image) {
  const std::vector<int> means = AverageDown(image, kGrid);
  Cells cells;
  for (size_t i = 0; i < cells.size(); ++i) {
    const int64_t red = means[i * 3];
    const int64_t green = means[i * 3 + 1];
    const int64_t blue = means[i * 3 + 2];
    const int64_t luma = 77 * red + 150 * green + 29 * blue;
    cells[i] = {luma, 256 * red - luma, 256 * blue - luma};
  }
  return cells;
}

// The sums over the blocks of a `grid` x `grid` division of the cells, appended to `out`.
template <typename ValueOfCell>
void AppendBlocks(int grid, const ValueOfCell& value, std::vector<int64_t>& out) {
  const int block = kGrid / grid;
  const size_t begin = out.size();
  out.resize(begin + static_cast<size_t>(grid) * grid);
  for (int y = 0; y < kGrid; ++y) {
    for (int x = 0; x < kGrid; ++x) out[begin + static_cast<size_t>(y / block) * grid + x / block] += value(x, y);
  }
}

void SubtractMean(std::span<int64_t> values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  const int64_t mean = sum / static_cast<int64_t>(values.size());
  for (int64_t& value : values) value -= mean;
}

std::vector<int64_t> Parts(const Cells& cells) {
  const auto at = [&](int x, int y) -> const Cell& { return cells[static_cast<size_t>(y) * kGrid + x]; };
  std::vector<int64_t> parts;
  parts.reserve(kPixelDescriptorDim);
  const auto without_mean = [&](size_t count) { SubtractMean(std::span(parts).last(count)); };

  AppendBlocks(kLumaGrid, [&](int x, int y) { return kLumaWeight * at(x, y).luma; }, parts);
  without_mean(kLumaGrid * kLumaGrid);
  AppendBlocks(kCoarseGrid, [&](int x, int y) { return kColourWeight * at(x, y).red; }, parts);
  AppendBlocks(kCoarseGrid, [&](int x, int y) { return kColourWeight * at(x, y).blue; }, parts);
  const auto step = [&](int x, int y, int dx, int dy) -> int64_t {
    if (x + dx == kGrid || y + dy == kGrid) return 0;
    return kStepWeight * std::abs(at(x + dx, y + dy).luma - at(x, y).luma);
  };
  AppendBlocks(kCoarseGrid, [&](int x, int y) { return step(x, y, 1, 0); }, parts);
  without_mean(kCoarseGrid * kCoarseGrid);
  AppendBlocks(kCoarseGrid, [&](int x, int y) { return step(x, y, 0, 1); }, parts);
  without_mean(kCoarseGrid * kCoarseGrid);
  return parts;
}

// The square root is one of the operations IEEE 754 rounds the same everywhere.
std::vector<float> Normalized(const std::vector<int64_t>& values) {
  int64_t squares = 0;  // 512 * (2^28)^2 < 2^63
  for (const int64_t value : values) squares += value * value;
  std::vector<float> unit(values.size());
  if (squares == 0) return unit;
  const double length = std::sqrt(static_cast<double>(squares));
  for (size_t i = 0; i < values.size(); ++i) unit[i] = static_cast<float>(static_cast<double>(values[i]) / length);
  return unit;
}

}  // namespace

std::vector<float> PixelDescriptor(std::span<const std::shared_ptr<const Image>> images) {
  if (images.size() == 1) return Normalized(Parts(CellsOf(*images[0])));
  constexpr double kUnit = 1 << 20;  // numbers up to 1 as integers again, so that their sum is exact too
  std::vector<int64_t> sums(kPixelDescriptorDim);
  for (size_t picture = 0; picture < images.size(); ++picture) {
    const std::vector<float> vector = Normalized(Parts(CellsOf(*images[picture])));
    Signs signs(picture);
    for (size_t i = 0; i < vector.size(); i += 64) {
      const uint64_t word = picture == 0 ? 0 : signs.NextWord();
      for (size_t bit = 0; bit < 64; ++bit) {
        const auto value = static_cast<int64_t>(vector[i + bit] * kUnit);
        sums[i + bit] += (word >> bit & 1) != 0 ? -value : value;
      }
    }
  }
  return Normalized(sums);
}

}  // namespace afterimage
