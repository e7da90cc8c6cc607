// Drawing a scene. A pure function of the record, in single precision with + - * / sqrt min max and integer hashes
// only, so that models/training/world.py draws the same picture within one level of 255.
#ifndef AFTERIMAGE_DATA_WORLD_RENDER_H_
#define AFTERIMAGE_DATA_WORLD_RENDER_H_

#include <cstdint>
#include <vector>

#include "data/world/scene.h"
#include "data/world/vocabulary.h"

namespace afterimage::world {

// RGB, row by row: [kPictureSide, kPictureSide, 3].
std::vector<uint8_t> Render(const Scene& scene, const Vocabulary& words);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_RENDER_H_
