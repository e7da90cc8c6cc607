// Digest: a SHA-256 value. Names contents: weights, pictures, token runs, chunks.
#ifndef AFTERIMAGE_DIGEST_H_
#define AFTERIMAGE_DIGEST_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace afterimage {

struct Digest {
  std::array<uint8_t, 32> bytes{};

  std::string Hex() const;
  // The first 12 hex digits: enough for a person to tell two apart.
  std::string Short() const { return Hex().substr(0, 12); }
  auto operator<=>(const Digest&) const = default;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DIGEST_H_
