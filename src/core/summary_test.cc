#include "core/summary.h"

#include <gtest/gtest.h>

#include <numeric>

namespace afterimage {
namespace {

std::vector<double> OneTo(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(SummaryTest, TheMedianIsTheMiddle) {
  EXPECT_EQ(Summarize({3, 1, 2}).median, 2);
  EXPECT_EQ(Summarize({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(Summarize({7}).median, 7);
}

TEST(SummaryTest, TheIntervalIsTheOneOfTheTables) {
  // Ranks of the 95 % interval for a median: n = 6: 1 and 6, n = 10: 2 and 9, n = 30: 10 and 21.
  EXPECT_EQ(Summarize(OneTo(6)).low, 1);
  EXPECT_EQ(Summarize(OneTo(10)).low, 2);
  EXPECT_EQ(Summarize(OneTo(10)).high, 9);
  EXPECT_EQ(Summarize(OneTo(30)).low, 10);
  EXPECT_EQ(Summarize(OneTo(30)).high, 21);
}

}  // namespace
}  // namespace afterimage
