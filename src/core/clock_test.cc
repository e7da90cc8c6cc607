#include "afterimage/clock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/forward_clock.h"

namespace afterimage {
namespace {

TEST(WallClockTest, TellsTheTimeOfDay) {
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const auto now = WallClock().Now();
  const auto after = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_GE(now, before);
  EXPECT_LE(now, after);
}

class SetClock : public Clock {
 public:
  std::chrono::nanoseconds Now() const override { return std::chrono::nanoseconds(now_ns); }
  int64_t now_ns = 0;
};

TEST(ForwardClockTest, StandsStillWhereTheOtherGoesBack) {
  SetClock set;
  const ForwardClock clock(set);
  std::vector<int64_t> seen;
  for (const int64_t now_ns : {10, 20, 5, 19, 21}) {
    set.now_ns = now_ns;
    seen.push_back(clock.Now().count());
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{10, 20, 20, 20, 21}));
}

TEST(ForwardClockTest, NoThreadSeesItGoBack) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      auto last = WallClock().Now();
      for (int i = 0; i < 10000; ++i) {
        const auto now = WallClock().Now();
        ASSERT_GE(now, last);
        last = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace afterimage
