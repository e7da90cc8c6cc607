#include "cli/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace afterimage {
namespace {

constexpr double kAppearsAfterSeconds = 1;

std::string MinutesAndSeconds(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

size_t TerminalWidth(std::FILE* out) {
  winsize size = {};
  return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string ProgressLine(size_t done, std::optional<size_t> total, double seconds, size_t width) {
  std::string line;
  if (!total.has_value() || *total == 0) {
    line = fmt::format("{} done  {}", done, MinutesAndSeconds(seconds));
  } else {
    const size_t counted = std::min(done, *total);
    const double share = static_cast<double>(counted) / static_cast<double>(*total);
    const std::string left =
        counted == 0 ? "" : fmt::format("  {} left", MinutesAndSeconds(seconds / share * (1 - share)));
    const std::string numbers = fmt::format("  {}/{}  {:.0f} %{}", counted, *total, share * 100, left);
    // Two brackets, and one column left free: a full last column makes some terminals wrap.
    const size_t bar = std::min<size_t>(40, width > numbers.size() + 3 ? width - numbers.size() - 3 : 0);
    const size_t full = static_cast<size_t>(share * static_cast<double>(bar));
    line = fmt::format("[{}{}]{}", std::string(full, '#'), std::string(bar - full, '-'), numbers);
  }
  return line.substr(0, width > 0 ? width - 1 : 0);
}

Progress::Progress(std::FILE* out, std::optional<size_t> total, const Clock& clock)
    : out_(out), total_(total), clock_(clock), start_(clock.Now()), terminal_(::isatty(::fileno(out)) == 1) {}

void Progress::Show(size_t done) {
  const double seconds = Milliseconds(clock_.Now() - start_) / 1000;
  if (!terminal_ || seconds < kAppearsAfterSeconds) return;
  fmt::print(out_, "\r{}\x1b[K", ProgressLine(done, total_, seconds, TerminalWidth(out_)));
  std::fflush(out_);
  shown_ = true;
}

void Progress::Hide() {
  if (!shown_) return;
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
  shown_ = false;
}

}  // namespace afterimage
