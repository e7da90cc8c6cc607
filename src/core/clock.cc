#include "afterimage/clock.h"

namespace afterimage {

const Clock& SteadyClock() {
  class MachineClock : public Clock {
    std::chrono::nanoseconds Now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
  };
  static const MachineClock clock;
  return clock;
}

}  // namespace afterimage
