#include "embed/projection.h"

#include <fmt/format.h>

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "core/sha256.h"
#include "embed/signs.h"

namespace afterimage {
namespace {

uint64_t SeedOf(std::string_view identity, int from, int to) {
  const Digest digest =
      Sha256().Add("projection").Add(identity).Add(static_cast<int64_t>(from)).Add(static_cast<int64_t>(to)).Finish();
  uint64_t seed = 0;
  std::memcpy(&seed, digest.bytes.data(), sizeof(seed));
  return seed;
}

}  // namespace

Projection::Projection(std::string_view source_identity, int from, int to)
    : from_(static_cast<size_t>(from)),
      to_(static_cast<size_t>(to)),
      words_per_value_((to_ + 63) / 64),
      identity_(fmt::format("{}>signs/1:{}", source_identity, to)),
      signs_(from_ * words_per_value_) {
  Signs signs(SeedOf(source_identity, from, to));
  for (uint64_t& word : signs_) word = signs.NextWord();
}

std::vector<float> Projection::Apply(std::span<const float> vector) const {
  assert(vector.size() == from_);
  std::vector<double> sums(to_);
  for (size_t i = 0; i < from_; ++i) {
    const auto value = std::bit_cast<uint64_t>(static_cast<double>(vector[i]));
    const uint64_t* words = signs_.data() + i * words_per_value_;
    for (size_t row = 0; row < to_; ++row) {  // without a branch, which would be guessed wrong every other time
      const uint64_t sign = words[row / 64] >> (row % 64) << 63;
      sums[row] += std::bit_cast<double>(value ^ sign);
    }
  }
  const double scale = std::sqrt(static_cast<double>(to_));  // keeps the length too
  std::vector<float> projected(to_);
  for (size_t row = 0; row < to_; ++row) projected[row] = static_cast<float>(sums[row] / scale);
  return projected;
}

}  // namespace afterimage
