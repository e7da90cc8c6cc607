// Clock: where times come from. The engine, the planner and the stores take one, so that tests can give them a slow
// disk, a fast encoder or another day.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_CLOCK_H_
#define AFTERIMAGE_CLOCK_H_

#include <chrono>

namespace afterimage {

class Clock {
 public:
  virtual ~Clock() = default;
  // Time since some fixed moment; never goes back.
  virtual std::chrono::nanoseconds Now() const = 0;
};

// The machine's steady clock, for how long things take. Lives as long as the program.
const Clock& SteadyClock();

// Time since the Unix epoch, for when things happened: what a store is given, so that its times mean something to the
// next process and to people. Where the machine's clock is set back it stands still until that has caught up; lives as
// long as the program.
const Clock& WallClock();

inline double Milliseconds(std::chrono::nanoseconds t) { return static_cast<double>(t.count()) * 1e-6; }

// Adds the time from its making to its end to a number of milliseconds.
class StageTimer {
 public:
  StageTimer(const Clock& clock, double& total_ms) : clock_(clock), total_ms_(total_ms), start_(clock.Now()) {}
  ~StageTimer() { total_ms_ += Milliseconds(clock_.Now() - start_); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  const Clock& clock_;
  double& total_ms_;
  std::chrono::nanoseconds start_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CLOCK_H_
