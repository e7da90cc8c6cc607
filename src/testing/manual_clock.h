// ManualClock: time that moves when a test says so.
#ifndef AFTERIMAGE_TESTING_MANUAL_CLOCK_H_
#define AFTERIMAGE_TESTING_MANUAL_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "afterimage/clock.h"

namespace afterimage {

class ManualClock : public Clock {
 public:
  std::chrono::nanoseconds Now() const override { return std::chrono::nanoseconds(now_ns_.load()); }
  void AdvanceMs(double ms) { now_ns_ += static_cast<int64_t>(ms * 1e6); }

 private:
  std::atomic<int64_t> now_ns_ = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_MANUAL_CLOCK_H_
