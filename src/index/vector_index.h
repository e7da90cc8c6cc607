// VectorIndex: the nearest of many vectors, by inner product.
//
// Answers depend on the vectors that are in the index and on nothing else: not on the order in which they came and
// went, nor on where they lie in memory. Equal vectors have equal scores, to the bit.
//
// Thread safety: all methods may be called from any thread. Searches run side by side, each on its caller's thread.
#ifndef AFTERIMAGE_INDEX_VECTOR_INDEX_H_
#define AFTERIMAGE_INDEX_VECTOR_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

struct Neighbour {
  int64_t id = 0;
  float score = 0;  // the inner product
  bool operator==(const Neighbour&) const = default;
};

class VectorIndex {
 public:
  virtual ~VectorIndex() = default;

  virtual int dim() const = 0;
  virtual size_t size() const = 0;

  // Replaces the vector of an id that is there. Errors: kInvalidArgument (another dimension, not finite, or so long
  // that a score could overflow); kInternal.
  virtual Status Add(int64_t id, std::span<const float> vector) = 0;
  // False if there is no such id.
  virtual bool Remove(int64_t id) = 0;
  // At most `k`, the best first; of equal scores the lower id first. Errors: as Add's.
  virtual Result<std::vector<Neighbour>> Search(std::span<const float> vector, size_t k) const = 0;
};

// By name: "flat" (every vector is compared; exact). Errors: kInvalidArgument (no such kind, naming those there are; a
// dimension below 1).
Result<std::unique_ptr<VectorIndex>> NewVectorIndex(const std::string& kind, int dim);

}  // namespace afterimage

#endif  // AFTERIMAGE_INDEX_VECTOR_INDEX_H_
