// What is kept of a picture to tell later whether another shows the same, and where it does not.
//
// The cosine of a description of the whole picture cannot tell a camera that drifts from a small object that changed:
// both are small against the rest. Here the largest difference of any one place counts, after all that is harmless has
// been allowed for:
//   - size: pictures are averaged down to 64 x 64 cells, whatever their size, and smoothed, since fine texture would
//     change from cell to cell with every fraction of a pixel;
//   - light: the darker picture is brightened, by the factor or by the levels that suit it better;
//   - drift, crops, objects that move a little: every block of 6 x 6 cells is looked for up to one and a half cells
//     around its place, and takes the best match there;
//   - edges between two positions, noise, light that is not even: a cell differs by as much as it lies more than three
//     levels outside of what half a cell around it holds.
// What is left, averaged over the block, is the block's difference, both ways: what one picture has and the other has
// not. An object that appears, vanishes, changes colour, size or shape or moves far leaves a block that fits nowhere.
//
// What it cannot see: what is smaller than a cell or two, such as a digit on a sign far away, what hardly stands out
// from its surroundings, and small changes of an outline. docs/gates.md has the measured numbers.
#ifndef AFTERIMAGE_GATES_PICTURE_SIGNATURE_H_
#define AFTERIMAGE_GATES_PICTURE_SIGNATURE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "afterimage/image.h"

namespace afterimage {

inline constexpr const char* kSignatureIdentity = "signature/1";  // a new number for every change of a value
inline constexpr size_t kSignatureSize = 1 + 3 * 64 * 64;         // 48 KiB

// Below this, pictures of the world show the same: chosen where all that changed an answer was refused, on seeds that
// were not reported. Photographs bear more (docs/gates.md).
inline constexpr double kDefaultLocalDifference = 0.4;

// Width over height, then red, green and blue, [3, 64, 64], in 1/16 level. The same bits on every machine.
// REQUIRES: the image has pixels.
std::vector<float> SignatureOf(const Image& image);

struct LocalDifference {
  double largest = 0;  // levels of 255, mean over a block and the three colours; 0 for (nearly) equal pictures
  double x = 0;        // the middle of that block; 0 to 1, from left to right and from top to bottom
  double y = 0;
};

// Symmetric, and the same on every machine. Pictures whose shapes differ by more than a twentieth differ by 255.
// REQUIRES: both are signatures.
LocalDifference Compare(std::span<const float> a, std::span<const float> b);

}  // namespace afterimage

#endif  // AFTERIMAGE_GATES_PICTURE_SIGNATURE_H_
