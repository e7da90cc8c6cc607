// A description of pictures made from their pixels alone: 512 numbers, alike for pictures that look alike.
//
// A picture is averaged down to 32 x 32 cells, whatever its size, and of these are taken
//   - 16 x 16 luminances, less their mean: light and shade, and where (a brighter picture points the same way);
//   - 8 x 8 differences red - luminance and blue - luminance: the colours, and where;
//   - 8 x 8 sums of luminance steps from left to right, and from top to bottom, less their means: how busy each place
//     is, and in which direction; unlike the luminances they hardly notice a shift.
// Each part has a fixed weight, so that it counts in the cosine as much as it is there: a grey picture is not compared
// by the noise of its colours.
//
// What it is good for: frames of one scene (shifted by a pixel, flickering, compressed) have a cosine close to 1,
// other scenes clearly less. What it is not: it knows nothing of meaning, and one small object that changes is a small
// change of the vector, of the size that compression or a camera's drift makes (docs/hooks.md has the measured
// numbers).
//
// All arithmetic is of integers up to one division a number, so the same pixels give the same bits on every machine.
#ifndef AFTERIMAGE_EMBED_PIXEL_DESCRIPTOR_H_
#define AFTERIMAGE_EMBED_PIXEL_DESCRIPTOR_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "afterimage/image.h"

namespace afterimage {

inline constexpr int kPixelDescriptorDim = 512;
inline constexpr std::string_view kPixelDescriptorIdentity = "pixels/1";  // a new number for every change of a value

// Of length 1, or all zeros where there is nothing to describe: no picture, or one flat grey.
//
// Several pictures: the mean of their vectors, where every picture after the first has its own fixed half of the signs
// turned. So the order counts, and where one picture of n is exchanged for another, the cosine falls by 1/n of what it
// would for these two alone: the more pictures, the higher a threshold must be.
std::vector<float> PixelDescriptor(std::span<const std::shared_ptr<const Image>> images);

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_PIXEL_DESCRIPTOR_H_
