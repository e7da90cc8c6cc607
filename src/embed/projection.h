// Projection: vectors of one dimension from vectors of another, nearly keeping their cosines.
//
// A layer may be registered with a dimension other than its source's ("vision:128"). Every value of the new vector is
// then the sum of all values of the old one under fixed random signs. A cosine is off by about (1 - cos^2) / sqrt(to):
// at 128 dimensions 0.09 for unrelated vectors, and far less for those that are alike, which are the ones that matter.
//
// Signs, not Gaussian numbers: they keep cosines as well, and a sum without products has the same bits on every
// machine.
#ifndef AFTERIMAGE_EMBED_PROJECTION_H_
#define AFTERIMAGE_EMBED_PROJECTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afterimage {

class Projection {
 public:
  // The signs follow from the identity of the source and both dimensions. Costs from * to / 8 bytes.
  Projection(std::string_view source_identity, int from, int to);

  const std::string& identity() const { return identity_; }  // of the vectors made: "pixels/1>signs/1:128"
  // REQUIRES: `vector` has dimension `from`.
  std::vector<float> Apply(std::span<const float> vector) const;

 private:
  const size_t from_;
  const size_t to_;
  const size_t words_per_value_;
  const std::string identity_;
  std::vector<uint64_t> signs_;  // [from, words_per_value], a bit for each value and sum
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_PROJECTION_H_
