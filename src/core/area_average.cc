#include "core/area_average.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace afterimage {
namespace {

// How much of pixel `pixel` lies in cell `cell`, along one side of the picture.
struct Overlap {
  uint32_t pixel;
  uint32_t cell;
  uint64_t weight;  // in 1/grid of a pixel
};

std::vector<Overlap> OverlapsAlong(uint64_t side, uint64_t grid) {
  std::vector<Overlap> overlaps;
  for (uint64_t cell = 0; cell < grid; ++cell) {
    const uint64_t begin = cell * side;  // cells end at multiples of `side`, pixels at multiples of `grid`
    const uint64_t end = begin + side;
    for (uint64_t pixel = begin / grid; pixel * grid < end; ++pixel) {
      const uint64_t weight = std::min(end, (pixel + 1) * grid) - std::max(begin, pixel * grid);
      overlaps.push_back({static_cast<uint32_t>(pixel), static_cast<uint32_t>(cell), weight});
    }
  }
  return overlaps;
}

}  // namespace

std::vector<int> AverageDown(const Image& image, int grid) {
  assert(image.has_pixels() && grid > 0 && grid <= 256);
  const auto cells = static_cast<size_t>(grid);
  const std::vector<Overlap> columns = OverlapsAlong(image.width(), cells);
  std::vector<uint64_t> sums(cells * cells * 3);
  std::vector<uint64_t> row_sums(cells * 3);
  uint32_t summed_row = image.height();  // none
  for (const Overlap& row : OverlapsAlong(image.height(), cells)) {
    if (row.pixel != summed_row) {  // a row at the border of two cells is summed once
      const uint8_t* pixels = image.rgb().data() + static_cast<size_t>(row.pixel) * image.width() * 3;
      std::fill(row_sums.begin(), row_sums.end(), 0);
      for (const Overlap& column : columns) {
        for (uint32_t channel = 0; channel < 3; ++channel) {
          row_sums[column.cell * 3 + channel] += column.weight * pixels[size_t{column.pixel} * 3 + channel];
        }
      }
      summed_row = row.pixel;
    }
    for (size_t i = 0; i < row_sums.size(); ++i) sums[row.cell * row_sums.size() + i] += row.weight * row_sums[i];
  }

  const uint64_t area = uint64_t{image.width()} * image.height();  // what the weights of a cell add up to
  std::vector<int> means(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) means[i] = static_cast<int>((sums[i] * kAverageUnit + area / 2) / area);
  return means;
}

}  // namespace afterimage
