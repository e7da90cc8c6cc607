#include "core/normalized_text.h"

namespace afterimage {

std::string NormalizedText(std::string_view text) {
  std::string normalized;
  bool space = false;
  for (const char c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      space = !normalized.empty();
      continue;
    }
    if (space) normalized += ' ';
    space = false;
    normalized += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return normalized;
}

}  // namespace afterimage
