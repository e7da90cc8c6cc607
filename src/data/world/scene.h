// Scene: a picture as a record of integers.
//
// A record says everything about its picture, and drawing is a pure function of it (render.h): a frame in which an
// object moved a quarter of a pixel, the light flickered or the noise changed is another record.
// models/training/world.py reads and draws the same records.
#ifndef AFTERIMAGE_DATA_WORLD_SCENE_H_
#define AFTERIMAGE_DATA_WORLD_SCENE_H_

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "afterimage/result.h"

namespace afterimage::world {

inline constexpr int kMaxObjects = 5;
inline constexpr int kSubpixels = 16;  // lengths are in 1/16 pixel
// Two centres this far apart on an axis are left and right, or above and below, of each other; closer is neither.
inline constexpr int kApart = 36 * kSubpixels;

struct Object {
  int kind = 0;  // indices into the vocabulary
  int color = 0;
  int size = 0;  // 0 small, 1 large
  int x = 0;     // centre and radius, 1/16 pixel
  int y = 0;
  int r = kSubpixels;
  int tilt = 0;                         // tangent of half the angle, 1/256
  std::array<int, 3> tint = {0, 0, 0};  // added to the colour, levels

  // 0, 1, 2: left, middle, right (top, middle, bottom) third of the picture.
  int column() const;
  int row() const;

  bool operator==(const Object&) const = default;
};

struct Scene {
  enum class Pattern { kPlain, kUprightStripes, kLevelStripes, kChecks, kBlotches };

  uint32_t seed = 0;                   // of noise and blotches
  std::array<int, 3> top = {0, 0, 0};  // background levels at the upper and lower edge
  std::array<int, 3> bottom = {0, 0, 0};
  Pattern pattern = Pattern::kPlain;
  int period = 16;              // of the pattern, pixels
  int strength = 0;             // of the pattern, levels
  int noise = 0;                // standard deviation, 1/16 level
  int gain = 256;               // brightness, 1/256
  std::vector<Object> objects;  // later ones are drawn over earlier ones

  bool operator==(const Scene&) const = default;
};

nlohmann::ordered_json ToJson(const Scene& scene);
// Errors: kInvalidArgument, for a record that is not complete or holds what cannot be drawn.
Result<Scene> SceneFromJson(const nlohmann::json& json);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_SCENE_H_
