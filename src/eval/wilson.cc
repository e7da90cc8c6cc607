#include "eval/wilson.h"

#include <algorithm>
#include <cmath>

namespace afterimage {

Interval WilsonInterval(size_t part, size_t whole) {
  if (whole == 0) return {};
  constexpr double kZ = 1.959963984540054;  // 95 % of a normal distribution lie this many deviations around its mean
  const double n = static_cast<double>(whole);
  const double share = static_cast<double>(part) / n;
  const double middle = share + kZ * kZ / (2 * n);
  const double reach = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  // At the ends rounding would leave a hair.
  return {part == 0 ? 0 : std::max(0.0, (middle - reach) / scale),
          part == whole ? 1 : std::min(1.0, (middle + reach) / scale)};
}

}  // namespace afterimage
