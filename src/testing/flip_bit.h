// FlipBit: the smallest damage there is.
#ifndef AFTERIMAGE_TESTING_FLIP_BIT_H_
#define AFTERIMAGE_TESTING_FLIP_BIT_H_

#include <cstddef>
#include <string>

namespace afterimage {

// `bit` counts modulo 8.
inline void FlipBit(std::string& bytes, size_t at, size_t bit) {
  bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << bit % 8));
}

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_FLIP_BIT_H_
