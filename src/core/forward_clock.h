// ForwardClock: another clock, but one that never goes back.
#ifndef AFTERIMAGE_CORE_FORWARD_CLOCK_H_
#define AFTERIMAGE_CORE_FORWARD_CLOCK_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "afterimage/clock.h"

namespace afterimage {

class ForwardClock : public Clock {
 public:
  explicit ForwardClock(const Clock& base) : base_(base) {}

  std::chrono::nanoseconds Now() const override {
    const int64_t now = base_.Now().count();
    int64_t last = latest_.load();
    while (last < now && !latest_.compare_exchange_weak(last, now)) {
    }
    return std::chrono::nanoseconds(std::max(last, now));
  }

 private:
  const Clock& base_;
  mutable std::atomic<int64_t> latest_ = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_FORWARD_CLOCK_H_
