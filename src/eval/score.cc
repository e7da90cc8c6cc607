#include "eval/score.h"

#include <algorithm>
#include <vector>

#include "eval/vqa_score.h"

namespace afterimage {
namespace {

// The things of a list, sorted: what stands between "a", "an", commas and "and", without what stands before the first.
std::vector<std::string> Things(std::string_view list) {
  std::string words;
  for (const char c : list) words += c == ',' ? " and " : std::string(1, c);
  words = " " + ScoredForm(words) + " and ";
  std::vector<std::string> things;
  std::string thing;
  bool inside = false;
  size_t at = 0;
  while (at < words.size()) {
    const size_t end = std::min(words.find_first_of(" \t\n", at), words.size());
    const std::string word = words.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (word == "a" || word == "an" || word == "and") {
      if (inside && !thing.empty()) things.push_back(thing);
      thing.clear();
      inside = true;
      continue;
    }
    thing += (thing.empty() ? "" : " ") + word;
  }
  std::sort(things.begin(), things.end());
  return things;
}

}  // namespace

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

std::optional<double> ScoreOf(std::string_view response, const Sample& sample) {
  if (!sample.answers.empty()) return VqaScore(response, sample.answers);
  if (sample.answer.empty()) return std::nullopt;
  return IsCorrect(response, sample.answer) ? 1 : 0;
}

double FactScore(std::string_view response, std::string_view reference) {
  const std::vector<std::string> named = Things(response);
  const std::vector<std::string> wanted = Things(reference);
  std::vector<std::string> both;
  std::set_intersection(named.begin(), named.end(), wanted.begin(), wanted.end(), std::back_inserter(both));
  const size_t all = named.size() + wanted.size();
  return all == 0 ? 1 : 2 * static_cast<double>(both.size()) / static_cast<double>(all);
}

}  // namespace afterimage
