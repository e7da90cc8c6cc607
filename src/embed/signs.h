// Signs: an endless sequence of random bits from a seed, the same on every machine (SplitMix64). What the standard
// library calls a distribution may give other numbers with every implementation.
#ifndef AFTERIMAGE_EMBED_SIGNS_H_
#define AFTERIMAGE_EMBED_SIGNS_H_

#include <cstdint>

namespace afterimage {

class Signs {
 public:
  explicit Signs(uint64_t seed) : state_(seed) {}

  // Sixty-four signs at once, one in each bit.
  uint64_t NextWord() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_SIGNS_H_
