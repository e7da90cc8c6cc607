#include "core/summary.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace afterimage {

Summary Summarize(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // The largest k with P(fewer than k of n fall below the median) <= 2.5 %; the interval is the k-th value from each
  // end.
  size_t k = 0;
  double probability = std::pow(0.5, static_cast<double>(n));  // of exactly `k` below, starting with none
  double cumulative = 0;
  while (k < n / 2 && cumulative + probability <= 0.025) {
    cumulative += probability;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  const size_t from_end = k == 0 ? 0 : k - 1;
  Summary summary;
  summary.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  summary.low = values[from_end];
  summary.high = values[n - 1 - from_end];
  return summary;
}

}  // namespace afterimage
