#include "data/world/render.h"

#include <algorithm>
#include <cmath>

#include "data/world/shapes.h"

namespace afterimage::world {
namespace {

uint32_t Hash(uint32_t x) {  // lowbias32
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

float Lattice(uint32_t seed, int ix, int iy) {  // [-1, 1] at whole places
  const uint32_t h = Hash(seed * 0x9E3779B1u + static_cast<uint32_t>(ix) * 0x85EBCA6Bu +
                          static_cast<uint32_t>(iy) * 0xC2B2AE35u + 0x27D4EB2Fu);
  return static_cast<float>(h & 0xFFFF) * (2.0f / 65535.0f) - 1.0f;
}

float Blotch(const Scene& scene, int x, int y) {
  const int cx = x / scene.period;
  const int cy = y / scene.period;
  const float fx = static_cast<float>(x - cx * scene.period) / static_cast<float>(scene.period);
  const float fy = static_cast<float>(y - cy * scene.period) / static_cast<float>(scene.period);
  const float a = Lattice(scene.seed, cx, cy);
  const float b = Lattice(scene.seed, cx + 1, cy);
  const float c = Lattice(scene.seed, cx, cy + 1);
  const float d = Lattice(scene.seed, cx + 1, cy + 1);
  const float upper = a + (b - a) * fx;
  const float lower = c + (d - c) * fx;
  return upper + (lower - upper) * fy;
}

float PatternAt(const Scene& scene, int x, int y) {  // [-1, 1]
  const auto sign = [](int cell) { return cell % 2 == 0 ? 1.0f : -1.0f; };
  switch (scene.pattern) {
    case Scene::Pattern::kPlain:
      return 0.0f;
    case Scene::Pattern::kUprightStripes:
      return sign(x / scene.period);
    case Scene::Pattern::kLevelStripes:
      return sign(y / scene.period);
    case Scene::Pattern::kChecks:
      return sign(x / scene.period + y / scene.period);
    case Scene::Pattern::kBlotches:
      return Blotch(scene, x, y);
  }
  return 0.0f;
}

using Canvas = std::vector<float>;  // [side, side, 3] levels

Canvas Background(const Scene& scene) {
  Canvas canvas;
  canvas.reserve(static_cast<size_t>(kPictureSide) * kPictureSide * 3);
  for (int y = 0; y < kPictureSide; ++y) {
    for (int x = 0; x < kPictureSide; ++x) {
      const float paper = PatternAt(scene, x, y) * static_cast<float>(scene.strength);
      for (size_t c = 0; c < 3; ++c) {
        const auto top = static_cast<float>(scene.top[c]);
        const auto bottom = static_cast<float>(scene.bottom[c]);
        canvas.push_back(top + (bottom - top) * ((static_cast<float>(y) + 0.5f) * (1.0f / kPictureSide)) + paper);
      }
    }
  }
  return canvas;
}

void Paint(const Object& object, const std::array<int, 3>& rgb, Canvas& canvas) {
  const float r = static_cast<float>(object.r) * 0.0625f;
  const float t = static_cast<float>(object.tilt) * 0.00390625f;
  const float cos = (1.0f - t * t) / (1.0f + t * t);
  const float sin = 2.0f * t / (1.0f + t * t);
  const float cx = static_cast<float>(object.x) * 0.0625f;
  const float cy = static_cast<float>(object.y) * 0.0625f;
  // No shape reaches further than 1.3 radii; outside, alpha is zero and the canvas stays as it is.
  const auto low = [&](float centre) { return std::clamp(static_cast<int>(centre - 1.3f * r) - 2, 0, kPictureSide); };
  const auto high = [&](float centre) { return std::clamp(static_cast<int>(centre + 1.3f * r) + 3, 0, kPictureSide); };
  for (int y = low(cy); y < high(cy); ++y) {
    for (int x = low(cx); x < high(cx); ++x) {
      const float u = (static_cast<float>(x) + 0.5f - cx) / r;
      const float w = (static_cast<float>(y) + 0.5f - cy) / r;
      const float distance = ShapeDistance(object.kind, cos * u + sin * w, cos * w - sin * u);
      const float alpha = std::clamp(0.5f - distance * r, 0.0f, 1.0f);
      if (alpha == 0.0f) continue;
      float* pixel = &canvas[(static_cast<size_t>(y) * kPictureSide + static_cast<size_t>(x)) * 3];
      for (size_t c = 0; c < 3; ++c) {
        const float paint = std::clamp(static_cast<float>(rgb[c] + object.tint[c]), 0.0f, 255.0f);
        pixel[c] += (paint - pixel[c]) * alpha;
      }
    }
  }
}

}  // namespace

std::vector<uint8_t> Render(const Scene& scene, const Vocabulary& words) {
  Canvas canvas = Background(scene);
  for (const Object& object : scene.objects) {
    Paint(object, words.color_rgb[static_cast<size_t>(object.color)], canvas);
  }
  const float gain = static_cast<float>(scene.gain) * 0.00390625f;
  const float noise = static_cast<float>(scene.noise) * 0.0625f;
  std::vector<uint8_t> rgb(canvas.size());
  for (size_t i = 0; i < canvas.size(); ++i) {
    const uint32_t h = Hash(scene.seed * 0x9E3779B1u + static_cast<uint32_t>(i) * 0x85EBCA6Bu);
    const int sum = static_cast<int>((h & 255) + ((h >> 8) & 255) + ((h >> 16) & 255) + (h >> 24));  // bell-shaped
    const float level = canvas[i] * gain + static_cast<float>(sum - 510) * (1.0f / 148.0f) * noise;
    rgb[i] = static_cast<uint8_t>(std::floor(std::clamp(level, 0.0f, 255.0f) + 0.5f));
  }
  return rgb;
}

}  // namespace afterimage::world
