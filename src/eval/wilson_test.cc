#include "eval/wilson.h"

#include <gtest/gtest.h>

#include <cmath>

namespace afterimage {
namespace {

void ExpectInterval(size_t part, size_t whole, double low, double high) {
  const Interval interval = WilsonInterval(part, whole);
  EXPECT_NEAR(interval.low, low, 5e-5) << part << " of " << whole;
  EXPECT_NEAR(interval.high, high, 5e-5) << part << " of " << whole;
}

// Its ends are the shares p from which the count is 1.96 deviations of p away: an equation the code does not solve.
TEST(WilsonInterval, EndsWhereTheCountWouldBeAtTheEdgeOfChance) {
  for (const size_t whole : {5u, 40u, 1000u}) {
    for (size_t part = 1; part < whole; part += whole / 5) {
      const double share = static_cast<double>(part) / static_cast<double>(whole);
      const Interval interval = WilsonInterval(part, whole);
      EXPECT_LT(interval.low, share);
      EXPECT_GT(interval.high, share);
      for (const double end : {interval.low, interval.high}) {
        const double deviation = std::sqrt(end * (1 - end) / static_cast<double>(whole));
        EXPECT_NEAR(std::abs(share - end) / deviation, 1.959964, 1e-6) << part << " of " << whole;
      }
    }
  }
}

TEST(WilsonInterval, OfNoneOrAllStaysWithinZeroAndOne) {
  ExpectInterval(0, 10, 0, 0.2775);
  ExpectInterval(10, 10, 0.7225, 1);
  ExpectInterval(0, 1, 0, 0.7935);
  EXPECT_EQ(WilsonInterval(0, 7).low, 0);
  EXPECT_EQ(WilsonInterval(7, 7).high, 1);
}

TEST(WilsonInterval, OfNothingIsAnything) { ExpectInterval(0, 0, 0, 1); }

}  // namespace
}  // namespace afterimage
