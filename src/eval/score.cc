#include "eval/score.h"

namespace afterimage {

std::string ScoredForm(std::string_view answer) {
  // Not the functions of <cctype>: they ask the locale.
  constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::string form;
  for (const char c : answer) {
    if (kPunctuation.find(c) != std::string_view::npos) continue;
    form.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  const size_t first = form.find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return form.substr(first, form.find_last_not_of(kSpace) - first + 1);
}

bool IsCorrect(std::string_view response, std::string_view reference) {
  return ScoredForm(response) == ScoredForm(reference);
}

}  // namespace afterimage
