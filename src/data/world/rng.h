// Rng: the generator's random numbers. The same on every machine and with every compiler, unlike <random>'s
// distributions. Not for secrets.
#ifndef AFTERIMAGE_DATA_WORLD_RNG_H_
#define AFTERIMAGE_DATA_WORLD_RNG_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace afterimage::world {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t Next() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // 0 .. n - 1. REQUIRES: n > 0. The bias of the remainder is below 2^-50 for the n used here.
  int Below(int n) {
    assert(n > 0);
    return static_cast<int>(Next() % static_cast<uint64_t>(n));
  }
  int Between(int low, int high) { return low + Below(high - low + 1); }  // both ends included
  bool Chance(int percent) { return Below(100) < percent; }
  // An independent generator, for a part of the work that must not shift the rest.
  Rng Fork() { return Rng(Next()); }

  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<size_t>(Below(static_cast<int>(i)))]);
  }
  template <typename T>
  const T& Pick(const std::vector<T>& values) {
    return values[static_cast<size_t>(Below(static_cast<int>(values.size())))];
  }

 private:
  uint64_t state_;
};

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_RNG_H_
