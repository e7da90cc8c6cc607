// FlatIndex: every vector is compared. A search costs in proportion to their number: of 1,000 vectors of 384 numbers
// 0.05 ms on one thread of a processor with AVX2, of 10,000 some 1.5 ms.
//
// FAISS holds the vectors; its own search of one query (3.5 ms of 10,000, with BLAS or without) multiplies matrices, so
// the rows are multiplied here, by the product of BLAS that is made for one vector. Its last bits depend on how it
// sums, and requests that ask the same question have equal vectors, so ties are the rule: candidates are taken with a
// margin of the rounding error, scored again one by one, and ordered by score and id.
//
// FAISS ids are rows. A map from ids beside it costs less than FAISS's own IndexIDMap, whose removal moves all rows
// behind the one removed; here the last row moves into its place.
#ifndef AFTERIMAGE_INDEX_FLAT_INDEX_H_
#define AFTERIMAGE_INDEX_FLAT_INDEX_H_

#include <faiss/IndexFlat.h>

#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "index/vector_index.h"

namespace afterimage {

class FlatIndex : public VectorIndex {
 public:
  // REQUIRES: dim >= 1
  explicit FlatIndex(int dim);

  int dim() const override { return dim_; }
  size_t size() const override;
  Status Add(int64_t id, std::span<const float> vector) override;
  bool Remove(int64_t id) override;
  Result<std::vector<Neighbour>> Search(std::span<const float> vector, size_t k) const override;

 private:
  // Rows among which are the k best, ties included; in no order. REQUIRES: 1 <= k <= size, mutex_ held.
  std::vector<size_t> Candidates(std::span<const float> vector, size_t k) const;
  std::vector<float> Scores(std::span<const float> vector) const;
  const float* Row(size_t row) const { return faiss_.get_xb() + row * static_cast<size_t>(dim_); }

  const int dim_;
  mutable std::shared_mutex mutex_;
  // Guarded by mutex_:
  faiss::IndexFlatIP faiss_;
  std::vector<int64_t> ids_;                    // by row
  std::unordered_map<int64_t, size_t> row_of_;  // by id
  double longest_ = 0;                          // no vector that is or was here is longer
};

}  // namespace afterimage

#endif  // AFTERIMAGE_INDEX_FLAT_INDEX_H_
