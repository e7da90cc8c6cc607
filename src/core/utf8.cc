#include "core/utf8.h"

#include <cstddef>
#include <cstdint>

namespace afterimage {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

enum class Scan { kWhole, kIncomplete, kInvalid };

// Looks at the character at the start of `bytes`. `length` is its size when whole, else how many bytes to replace.
Scan ScanCharacter(std::string_view bytes, size_t& length) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t lead = at(0);
  length = 1;
  if (lead < 0x80) return Scan::kWhole;
  size_t size = 0;
  uint8_t low = 0x80;  // bounds of the second byte: no overlong forms, no surrogates, nothing over U+10FFFF
  uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return Scan::kInvalid;
  }
  for (; length < size; ++length) {
    if (length == bytes.size()) return Scan::kIncomplete;
    if (at(length) < low || at(length) > high) return Scan::kInvalid;
    low = 0x80;
    high = 0xBF;
  }
  return Scan::kWhole;
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t length = 0;
    if (ScanCharacter(bytes, length) != Scan::kWhole) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string Utf8Stream::Push(std::string_view bytes) {
  pending_ += bytes;
  std::string out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    size_t length = 0;
    const Scan scan = ScanCharacter(rest, length);
    if (scan == Scan::kIncomplete) break;
    out += scan == Scan::kWhole ? rest.substr(0, length) : kReplacement;
    rest.remove_prefix(length);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return out;
}

std::string Utf8Stream::Finish() {
  const std::string out(pending_.empty() ? "" : kReplacement);
  pending_.clear();
  return out;
}

std::string_view FirstCharacters(std::string_view text, size_t n) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (begins && n-- == 0) break;
  }
  return text.substr(0, end);
}

}  // namespace afterimage
