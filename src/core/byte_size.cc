#include "core/byte_size.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace afterimage {
namespace {

// 0: not a unit.
double UnitBytes(std::string_view unit) {
  std::string lower;
  for (const char c : unit) lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  if (lower.empty() || lower == "b") return 1;
  const size_t power = std::string_view("kmgt").find(lower[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (rest.empty() || rest == "b") return std::pow(1000, static_cast<double>(power + 1));
  if (rest == "ib") return std::pow(1024, static_cast<double>(power + 1));
  return 0;
}

}  // namespace

Result<uint64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const double bytes = number * UnitBytes(unit);
  const bool fits = bytes >= 0 && bytes < 9e18;
  if (status != std::errc() || !fits || UnitBytes(unit) == 0) {
    return Error{Errc::kInvalidArgument, fmt::format("'{}' is not a size: give bytes, or a number with KB, MB, GB, "
                                                     "TB, KiB, MiB, GiB or TiB.",
                                                     text)};
  }
  return static_cast<uint64_t>(bytes);
}

std::string FormatByteSize(uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (value < 999.95e3) return fmt::format("{:.1f} KB", value / 1e3);
  if (value < 999.95e6) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.2f} GB", value / 1e9);
}

}  // namespace afterimage
