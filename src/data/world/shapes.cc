#include "data/world/shapes.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace afterimage::world {
namespace {

float Box(float x, float y, float cx, float cy, float hx, float hy) {
  return std::max(std::fabs(x - cx) - hx, std::fabs(y - cy) - hy);
}

float Disc(float x, float y, float cx, float cy, float r) {
  return std::sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy)) - r;
}

// Upright, apex at the top.
float Triangle(float x, float y, float cx, float top, float bottom, float half_width) {
  const float slope = half_width / (bottom - top);
  return std::max(std::max(std::fabs(x - cx) - (y - top) * slope, y - bottom), top - y);
}

// Inside a pentagram is inside at least four of its five lines, so the second largest distance decides. No angles.
float Star(float x, float y) {
  constexpr float kNormals[5][2] = {
      {0.0f, 1.0f}, {0.951057f, 0.309017f}, {0.587785f, -0.809017f}, {-0.587785f, -0.809017f}, {-0.951057f, 0.309017f}};
  float first = -1000.0f;
  float second = -1000.0f;
  for (const auto& normal : kNormals) {
    const float d = x * normal[0] + y * normal[1] - 0.34f;
    second = std::max(second, std::min(first, d));
    first = std::max(first, d);
  }
  return second;
}

float Flower(float x, float y) {
  constexpr float kPetals[6][2] = {{0.55f, 0.0f},  {0.275f, 0.476314f},   {-0.275f, 0.476314f},
                                   {-0.55f, 0.0f}, {-0.275f, -0.476314f}, {0.275f, -0.476314f}};
  float d = Disc(x, y, 0.0f, 0.0f, 0.3f);
  for (const auto& petal : kPetals) d = std::min(d, Disc(x, y, petal[0], petal[1], 0.25f));
  return d;
}

float Car(float x, float y) {
  const float body = std::min(Box(x, y, 0.0f, 0.15f, 0.9f, 0.25f), Box(x, y, 0.0f, -0.2f, 0.5f, 0.25f));
  return std::min(body, std::min(Disc(x, y, -0.5f, 0.5f, 0.25f), Disc(x, y, 0.5f, 0.5f, 0.25f)));
}

float Cup(float x, float y) {
  const float handle = std::max(Disc(x, y, 0.5f, 0.1f, 0.4f), -Disc(x, y, 0.5f, 0.1f, 0.22f));
  return std::min(Box(x, y, -0.1f, 0.1f, 0.5f, 0.6f), handle);
}

float Boat(float x, float y) {
  const float hull = std::max(Disc(x, y, 0.0f, 0.0f, 0.85f), 0.25f - y);
  return std::min(hull, Triangle(x, y, 0.1f, -0.9f, 0.15f, 0.5f));
}

float Fish(float x, float y) {
  const float tail = std::max(std::fabs(x - 0.6f) - 0.3f, std::fabs(y) - (x - 0.3f) * 0.9f);
  return std::min(Disc(x * 0.8f, y * 1.5f, -0.15f, 0.0f, 0.6f), tail);
}

}  // namespace

float ShapeDistance(int kind, float x, float y) {
  switch (kind) {
    case 0:
      return Car(x, y);
    case 1:
      return std::min(Triangle(x, y, 0.0f, -0.9f, 0.4f, 0.7f), Box(x, y, 0.0f, 0.65f, 0.12f, 0.3f));  // tree
    case 2:
      return std::min(Box(x, y, 0.0f, 0.35f, 0.6f, 0.5f), Triangle(x, y, 0.0f, -0.9f, -0.1f, 0.85f));  // house
    case 3:
      return Disc(x, y, 0.0f, 0.0f, 0.8f);  // ball
    case 4:
      return Cup(x, y);
    case 5:
      return Star(x, y);
    case 6:
      return Boat(x, y);
    case 7:
      return Fish(x, y);
    case 8:
      return Flower(x, y);
    case 9:
      return (std::fabs(x) / 0.6f + std::fabs(y) / 0.95f - 1.0f) * 0.5f;  // kite
    case 10:
      return std::max(Disc(x, y, 0.0f, 0.0f, 0.85f), -Disc(x, y, 0.45f, -0.1f, 0.7f));  // moon
    case 11:
      return std::min(Box(x, y, 0.0f, 0.0f, 0.25f, 0.85f), Box(x, y, 0.0f, 0.0f, 0.85f, 0.25f));  // cross
    default:
      assert(false);
      return 1000.0f;
  }
}

}  // namespace afterimage::world
