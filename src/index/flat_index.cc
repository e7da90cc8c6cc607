#include "index/flat_index.h"

#include <faiss/impl/IDSelector.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <tuple>

// Of BLAS: y = alpha * A^T * x + beta * y.
extern "C" void sgemv_(const char* trans, const int* m, const int* n, const float* alpha, const float* a,
                       const int* lda, const float* x, const int* incx, const float* beta, float* y, const int* incy);

namespace afterimage {
namespace {

using RowNumber = faiss::Index::idx_t;

// OpenBLAS spreads a product of more numbers than this over threads, which costs more than it brings. Its number of
// threads is left alone: it is the whole process's.
constexpr int kOneThreadNumbers = 9000;

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

FlatIndex::FlatIndex(int dim) : dim_(dim), faiss_(dim) {}

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
    for (const size_t row : Candidates(vector, k)) {
      neighbours.push_back({ids_[row], static_cast<float>(Product(vector.data(), Row(row), dim_))});
    }
    std::ranges::sort(neighbours, [](const Neighbour& a, const Neighbour& b) {
      return std::tuple(-a.score, a.id) < std::tuple(-b.score, b.id);
    });
    neighbours.resize(k);
    return neighbours;
  });
}

// The products of all rows with the vector.
std::vector<float> FlatIndex::Scores(std::span<const float> vector) const {
  std::vector<float> scores(ids_.size());
  const size_t rows_a_call = std::max<size_t>(1, kOneThreadNumbers / static_cast<size_t>(dim_));
  const float one = 1;
  const float zero = 0;
  const int step = 1;
  for (size_t row = 0; row < scores.size(); row += rows_a_call) {
    const int n = static_cast<int>(std::min(rows_a_call, scores.size() - row));
    sgemv_("T", &dim_, &n, &one, Row(row), &dim_, vector.data(), &step, &zero, scores.data() + row, &step);
  }
  return scores;
}

std::vector<size_t> FlatIndex::Candidates(std::span<const float> vector, size_t k) const {
  const std::vector<float> scores = Scores(vector);
  std::vector<float> best = scores;
  std::ranges::nth_element(best, best.begin() + static_cast<std::ptrdiff_t>(k - 1), std::greater());
  // Summed in any order, a float product errs by at most half of this; so all that may belong to the k best has a score
  // above the k-th less this.
  const double margin = (dim_ + 1) * double{std::numeric_limits<float>::epsilon()} * longest_ *
                        std::sqrt(Product(vector.data(), vector.data(), dim_));
  const double bound = double{best[k - 1]} - margin;
  std::vector<size_t> rows;
  for (size_t row = 0; row < scores.size(); ++row) {
    if (double{scores[row]} >= bound) rows.push_back(row);
  }
  return rows;
}

}  // namespace afterimage
