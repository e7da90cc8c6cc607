#include "afterimage/clock.h"

#include "core/forward_clock.h"

namespace afterimage {
namespace {

template <typename MachineClock>
class ClockOf : public Clock {
  std::chrono::nanoseconds Now() const override { return MachineClock::now().time_since_epoch(); }
};

}  // namespace

const Clock& SteadyClock() {
  static const ClockOf<std::chrono::steady_clock> clock;
  return clock;
}

const Clock& WallClock() {
  static const ClockOf<std::chrono::system_clock> machine;
  static const ForwardClock clock(machine);
  return clock;
}

}  // namespace afterimage
