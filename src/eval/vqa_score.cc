#include "eval/vqa_score.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace afterimage {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool HasCommaInNumber(std::string_view text) {
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == ',' && IsDigit(text[i - 1]) && IsDigit(text[i + 1])) return true;
  }
  return false;
}

// Every mark is left out where one of its kind stands beside a space, or where a comma stands within a number; else it
// becomes a space. That is the rule people's scores were made with, however it looks.
std::string WithoutPunctuation(std::string_view text) {
  constexpr std::string_view kMarks = ";/[]\"{}()=+\\_-><@`,?!";
  const bool comma_in_number = HasCommaInNumber(text);
  std::string without;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (i + 1 < text.size() && IsDigit(text[i + 1])) without.push_back(c);
    } else if (kMarks.find(c) == std::string_view::npos) {
      without.push_back(c);
    } else if (!comma_in_number && text.find(std::string{c, ' '}) == std::string_view::npos &&
               text.find(std::string{' ', c}) == std::string_view::npos) {
      without.push_back(' ');
    }
  }
  return without;
}

// Contractions by what is left of them without apostrophes. Those that would then be other words (its, were, well,
// ill, id, shell) are not among them.
const std::map<std::string, std::string, std::less<>>& Contractions() {
  static const std::map<std::string, std::string, std::less<>> kByLetters = [] {
    std::map<std::string, std::string, std::less<>> by_letters;
    for (const std::string whole :
         {"ain't",      "aren't",    "can't",       "could've",    "couldn't", "couldn't've", "didn't",    "doesn't",
          "don't",      "hadn't",    "hadn't've",   "hasn't",      "haven't",  "he'd've",     "he's",      "how'd",
          "how'll",     "how's",     "i'd've",      "i'm",         "i've",     "isn't",       "it'd",      "it'd've",
          "it'll",      "let's",     "ma'am",       "mightn't",    "might've", "mustn't",     "must've",   "needn't",
          "not've",     "o'clock",   "oughtn't",    "shan't",      "she'd've", "she's",       "should've", "shouldn't",
          "somebody'd", "someone's", "something's", "somebody's",  "that'd",   "that'll",     "that's",    "there'd",
          "there're",   "there's",   "they'd",      "they'll",     "they're",  "they've",     "wasn't",    "we've",
          "weren't",    "what'll",   "what're",     "what's",      "what've",  "when's",      "where'd",   "where's",
          "where've",   "who'd",     "who'll",      "who's",       "who've",   "why'll",      "why're",    "why's",
          "won't",      "would've",  "wouldn't",    "wouldn't've", "y'all",    "you'd",       "you'll",    "you're",
          "you've"}) {
      std::string letters = whole;
      std::erase(letters, '\'');
      by_letters.emplace(letters, whole);
    }
    return by_letters;
  }();
  return kByLetters;
}

std::string WordForm(const std::string& word) {
  static constexpr std::pair<std::string_view, std::string_view> kNumbers[] = {
      {"none", "0"}, {"zero", "0"}, {"one", "1"},   {"two", "2"},   {"three", "3"}, {"four", "4"},
      {"five", "5"}, {"six", "6"},  {"seven", "7"}, {"eight", "8"}, {"nine", "9"},  {"ten", "10"}};
  for (const auto& [name, digits] : kNumbers) {
    if (word == name) return std::string(digits);
  }
  std::string letters = word;
  std::erase(letters, '\'');
  const auto contraction = Contractions().find(letters);
  return contraction == Contractions().end() ? word : contraction->second;
}

}  // namespace

std::string VqaForm(std::string_view answer) {
  std::string text;
  for (const char c : answer) text.push_back(IsSpace(c) ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  text = text.substr(first, text.find_last_not_of(' ') - first + 1);
  const std::string words = WithoutPunctuation(text) + " ";
  std::string form;
  std::string word;
  for (const char c : words) {
    if (c != ' ') {
      word.push_back(c);
      continue;
    }
    if (!word.empty() && word != "a" && word != "an" && word != "the") {
      form += (form.empty() ? "" : " ") + WordForm(word);
    }
    word.clear();
  }
  return form;
}

double VqaScore(std::string_view response, const std::vector<std::string>& answers) {
  assert(answers.size() == 10);
  const std::string form = VqaForm(response);
  const auto agree =
      std::count_if(answers.begin(), answers.end(), [&](const std::string& answer) { return VqaForm(answer) == form; });
  return std::min(1.0, 0.3 * static_cast<double>(agree));
}

}  // namespace afterimage
