#include "gates/inflection.h"

namespace afterimage {
namespace {

bool HasVowel(std::string_view word) { return word.find_first_of("aeiouy") != std::string_view::npos; }

bool EndsInDoubledConsonant(std::string_view word) {
  const size_t n = word.size();
  return n >= 3 && word[n - 1] == word[n - 2] && !HasVowel(word.substr(n - 1));
}

void AddSingulars(std::string_view word, std::vector<std::string>* forms) {
  const std::string_view stem = word.substr(0, word.size() - 1);
  forms->emplace_back(stem);
  if (!stem.ends_with('e')) return;
  const std::string_view shorter = stem.substr(0, stem.size() - 1);
  if (shorter.ends_with('i') && shorter.size() >= 3) {
    forms->push_back(std::string(shorter.substr(0, shorter.size() - 1)) + 'y');
  }
  for (const std::string_view ending : {"s", "x", "z", "ch", "sh", "o"}) {
    if (shorter.ends_with(ending)) forms->emplace_back(shorter);
  }
}

void AddVerbs(std::string_view word, std::vector<std::string>* forms) {
  const std::string_view stem = word.substr(0, word.size() - 3);
  if (stem.size() < 2 || !HasVowel(stem)) return;
  forms->emplace_back(stem);
  forms->push_back(std::string(stem) + 'e');
  if (EndsInDoubledConsonant(stem)) forms->emplace_back(stem.substr(0, stem.size() - 1));
  // "lying" is of "lie".
  if (stem.ends_with('y')) forms->push_back(std::string(stem.substr(0, stem.size() - 1)) + "ie");
}

}  // namespace

bool MayBePlural(std::string_view word) {
  return word.size() >= 4 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") &&
         !word.ends_with("is");
}

std::vector<std::string> BaseForms(std::string_view word) {
  std::vector<std::string> forms{std::string(word)};
  if (MayBePlural(word)) AddSingulars(word, &forms);
  if (word.size() >= 5 && word.ends_with("ing")) AddVerbs(word, &forms);
  return forms;
}

}  // namespace afterimage
