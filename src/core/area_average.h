// A picture averaged down to a square grid of cells, whatever its size and shape.
//
// Exact: every pixel counts in every cell by the part of it that lies there, in integers up to the last division, so
// the same pixels give the same numbers on every machine.
#ifndef AFTERIMAGE_CORE_AREA_AVERAGE_H_
#define AFTERIMAGE_CORE_AREA_AVERAGE_H_

#include <vector>

#include "afterimage/image.h"

namespace afterimage {

inline constexpr int kAverageUnit = 16;  // means are in 1/16 level

// [grid, grid, 3]: the means of the cells, 0 to 255 * kAverageUnit. A picture smaller than the grid is enlarged.
// REQUIRES: the image has pixels; 0 < grid <= 256.
std::vector<int> AverageDown(const Image& image, int grid);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_AREA_AVERAGE_H_
