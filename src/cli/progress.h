// Progress: one line at the bottom of a terminal that says how far a long job is.
//
//   [#########-----------]  58/128  45 %  0:12 left
//
// It appears after a second, and only on a terminal. Whoever prints to the same terminal hides it first.
#ifndef AFTERIMAGE_CLI_PROGRESS_H_
#define AFTERIMAGE_CLI_PROGRESS_H_

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "afterimage/clock.h"

namespace afterimage {

// `width` is the terminal's; the line is shorter. Without a total there is only a count and the time so far.
std::string ProgressLine(size_t done, std::optional<size_t> total, double seconds, size_t width);

class Progress {
 public:
  // Does nothing unless `out` is a terminal. REQUIRES: out and clock outlive it.
  Progress(std::FILE* out, std::optional<size_t> total, const Clock& clock = SteadyClock());
  ~Progress() { Hide(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(size_t done);
  void Hide();

 private:
  std::FILE* const out_;
  const std::optional<size_t> total_;
  const Clock& clock_;
  const std::chrono::nanoseconds start_;
  const bool terminal_;
  bool shown_ = false;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_PROGRESS_H_
