#include "data/world/sample.h"

#include <algorithm>
#include <numeric>

namespace afterimage::world {
namespace {

constexpr int kCells = 9;
constexpr int kFirst = 40 * kSubpixels;  // centre of the first cell
constexpr int kStep = 72 * kSubpixels;
constexpr int kJitter = 8 * kSubpixels;  // training jitters by 12: frames of a clip may drift 4 pixels further

void Place(Object& object, int cell, Rng& rng) {
  object.x = kFirst + kStep * (cell % 3) + rng.Between(-kJitter, kJitter);
  object.y = kFirst + kStep * (cell / 3) + rng.Between(-kJitter, kJitter);
}

std::vector<int> Shuffled(int n, Rng& rng) {
  std::vector<int> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  rng.Shuffle(values);
  return values;
}

void PaintBackground(Scene& scene, Rng& rng) {
  const int tone = rng.Between(96, 164);
  const int slope = rng.Between(-20, 20);
  for (size_t c = 0; c < 3; ++c) {
    const int level = tone + rng.Between(-18, 18);
    scene.top[c] = std::clamp(level - slope, 80, 188);
    scene.bottom[c] = std::clamp(level + slope, 80, 188);
  }
  scene.pattern = static_cast<Scene::Pattern>(rng.Below(5));
  scene.period = rng.Between(6, 56);
  scene.strength = rng.Between(2, 12);
  scene.noise = rng.Between(0, 24);  // training goes to 96; little noise keeps the files small
  scene.gain = 256 + rng.Between(-24, 24);
}

}  // namespace

Scene SampleScene(Rng& rng) {
  Scene scene;
  scene.seed = static_cast<uint32_t>(rng.Next() >> 33);
  PaintBackground(scene, rng);
  const int roll = rng.Below(10);
  const int count = roll < 1 ? 2 : roll < 4 ? 3 : roll < 7 ? 4 : 5;
  const std::vector<int> kinds = Shuffled(12, rng);
  const std::vector<int> cells = Shuffled(kCells, rng);
  for (int i = 0; i < count; ++i) {
    Object object;
    object.kind = kinds[static_cast<size_t>(i)];
    object.color = rng.Below(8);
    object.size = rng.Below(2);
    object.r = object.size == 1 ? rng.Between(27 * kSubpixels, 33 * kSubpixels)
                                : rng.Between(14 * kSubpixels, 18 * kSubpixels);
    object.tilt = rng.Between(-20, 20);
    for (int& level : object.tint) level = rng.Between(-16, 16);
    Place(object, cells[static_cast<size_t>(i)], rng);
    scene.objects.push_back(object);
  }
  if (count >= 3 && rng.Chance(35)) {
    scene.objects[1].kind = scene.objects[0].kind;
    if (count >= 4 && rng.Chance(40)) scene.objects[2].kind = scene.objects[0].kind;
  }
  if (rng.Chance(40)) scene.objects.back().color = scene.objects[scene.objects.size() - 2].color;
  return scene;
}

bool MoveAcross(Scene& scene, size_t object, Rng& rng) {
  std::vector<int> free;
  for (int cell = 0; cell < kCells; ++cell) {
    const bool taken = std::any_of(scene.objects.begin(), scene.objects.end(),
                                   [&](const Object& o) { return o.column() == cell % 3 && o.row() == cell / 3; });
    if (!taken && cell % 3 != scene.objects[object].column()) free.push_back(cell);
  }
  if (free.empty()) return false;
  Place(scene.objects[object], rng.Pick(free), rng);
  return true;
}

}  // namespace afterimage::world
