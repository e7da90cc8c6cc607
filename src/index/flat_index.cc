#include "index/flat_index.h"

#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/utils/distances.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <tuple>

namespace afterimage {
namespace {

using RowNumber = faiss::Index::idx_t;

// Settings of the FAISS inside this library; nobody else sees them.
void TuneFaiss() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Even one query goes through BLAS: Debian compiles FAISS's own loops for any x86-64, which is two to ten times
    // slower, by processor.
    faiss::distance_compute_blas_threshold = 0;
    // Rows per call of BLAS. OpenBLAS spreads a product of more than 2^18 multiplications over threads, which costs
    // more than it brings; with 256 rows that begins at 1,024 dimensions. Its number of threads is left alone: it is
    // the whole process's.
    faiss::distance_compute_blas_database_bs = 256;
  });
}

// While it lives, OpenMP regions that this thread opens have one thread. The setting is the calling thread's own.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

double Product(const float* a, const float* b, int dim) {
  double sum = 0;
  for (int i = 0; i < dim; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

Status Check(std::span<const float> vector, int dim) {
  if (vector.size() != static_cast<size_t>(dim)) {
    return Error{Errc::kInvalidArgument, fmt::format("a vector of {} numbers in an index of {}", vector.size(), dim)};
  }
  // Where the squares of two vectors fit a float, so do their product and every sum on the way to it; half, for
  // rounding.
  const double square = Product(vector.data(), vector.data(), dim);
  if (!(square <= double{std::numeric_limits<float>::max()} / 2)) {
    return Error{Errc::kInvalidArgument, "a vector that is not finite, or too long to be compared"};
  }
  return {};
}

// `call` returns a Status or a Result.
template <typename Call>
auto Guarded(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Error{Errc::kInternal, std::string("vector index: ") + e.what()};
  }
}

}  // namespace

FlatIndex::FlatIndex(int dim) : dim_(dim), faiss_(dim) { TuneFaiss(); }

size_t FlatIndex::size() const {
  const std::shared_lock lock(mutex_);
  return ids_.size();
}

Status FlatIndex::Add(int64_t id, std::span<const float> vector) {
  if (Status status = Check(vector, dim_); !status.ok()) return status;
  return Guarded([&]() -> Status {
    const std::unique_lock lock(mutex_);
    if (const auto found = row_of_.find(id); found != row_of_.end()) {
      std::ranges::copy(vector, faiss_.get_xb() + found->second * static_cast<size_t>(dim_));
    } else {
      // What may throw comes before what others see.
      ids_.reserve(ids_.size() + 1);
      row_of_.emplace(id, ids_.size());
      try {
        faiss_.add(1, vector.data());
      } catch (...) {
        row_of_.erase(id);
        throw;
      }
      ids_.push_back(id);
    }
    longest_ = std::max(longest_, std::sqrt(Product(vector.data(), vector.data(), dim_)));
    return {};
  });
}

bool FlatIndex::Remove(int64_t id) {
  const std::unique_lock lock(mutex_);
  const auto found = row_of_.find(id);
  if (found == row_of_.end()) return false;
  const size_t row = found->second;
  const size_t last = ids_.size() - 1;
  row_of_.erase(found);
  if (row != last) {
    std::copy_n(Row(last), dim_, faiss_.get_xb() + row * static_cast<size_t>(dim_));
    ids_[row] = ids_[last];
    row_of_[ids_[row]] = row;
  }
  ids_.pop_back();
  faiss_.remove_ids(faiss::IDSelectorRange(static_cast<RowNumber>(last), static_cast<RowNumber>(last + 1)));
  return true;
}

Result<std::vector<Neighbour>> FlatIndex::Search(std::span<const float> vector, size_t k) const {
  if (Status status = Check(vector, dim_); !status.ok()) return status.error();
  return Guarded([&]() -> Result<std::vector<Neighbour>> {
    const std::shared_lock lock(mutex_);
    k = std::min(k, ids_.size());
    std::vector<Neighbour> neighbours;
    if (k == 0) return neighbours;
    for (const RowNumber candidate : Candidates(vector, k)) {
      const auto row = static_cast<size_t>(candidate);
      neighbours.push_back({ids_[row], static_cast<float>(Product(vector.data(), Row(row), dim_))});
    }
    std::ranges::sort(neighbours, [](const Neighbour& a, const Neighbour& b) {
      return std::tuple(-a.score, a.id) < std::tuple(-b.score, b.id);
    });
    neighbours.resize(k);
    return neighbours;
  });
}

std::vector<RowNumber> FlatIndex::Candidates(std::span<const float> vector, size_t k) const {
  const OneThread one_thread;
  // One more than asked for tells whether there is a tie for the last place.
  const size_t n = std::min(k + 1, ids_.size());
  std::vector<float> scores(n);
  std::vector<RowNumber> rows(n);
  faiss_.search(1, vector.data(), static_cast<RowNumber>(n), scores.data(), rows.data());
  // Summed in any order, a float product errs by at most half of this; so all that may belong to the k best has a score
  // above the k-th less this.
  const double margin = (dim_ + 1) * double{std::numeric_limits<float>::epsilon()} * longest_ *
                        std::sqrt(Product(vector.data(), vector.data(), dim_));
  const double bound = double{scores[k - 1]} - margin;
  if (n == k || double{scores[k]} < bound) {
    rows.resize(k);
    return rows;
  }
  faiss::RangeSearchResult tied(1);
  faiss_.range_search(1, vector.data(), std::nextafter(static_cast<float>(bound), -INFINITY), &tied);
  return {tied.labels, tied.labels + tied.lims[1]};
}

}  // namespace afterimage
