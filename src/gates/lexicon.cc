#include "gates/lexicon.h"

#include <fmt/format.h>

#include <algorithm>

#include "gates/inflection.h"

namespace afterimage {
namespace {

// More is a slip of the pen: "a|b|c|d? ..." grows fast.
constexpr size_t kMaxPhrasesPerEntry = 4096;

struct GroupSection {
  std::string_view name;
  WordClass word_class;
};

constexpr GroupSection kGroupSections[] = {
    {"questions", WordClass::kQuestion},
    {"negations", WordClass::kNegation},
    {"numbers", WordClass::kNumber},
    {"relations", WordClass::kRelation},
    {"comparisons", WordClass::kComparison},
    {"quantifiers", WordClass::kQuantifier},
    {"synonyms", WordClass::kWord},
    {"definites", WordClass::kDefinite},
    {"links", WordClass::kLink},
    {"fillers", WordClass::kFiller},
};

Error Invalid(std::string reason) { return Error{Errc::kInvalidArgument, std::move(reason)}; }

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(Trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

// All phrases an entry stands for: "on|at the top?" is "on the", "on the top", "at the", "at the top".
Result<std::vector<std::string>> Phrases(std::string_view entry) {
  std::vector<std::string> phrases{""};
  for (const std::string& word : Words(entry)) {
    const bool optional = word.ends_with('?');
    const std::vector<std::string_view> choices =
        Split(std::string_view(word).substr(0, word.size() - (optional ? 1 : 0)), '|');
    std::vector<std::string> longer;
    for (const std::string& phrase : phrases) {
      if (optional) longer.push_back(phrase);
      for (const std::string_view choice : choices) {
        if (choice.empty()) return Invalid(fmt::format("'{}' has an empty choice.", word));
        longer.push_back(phrase.empty() ? std::string(choice) : fmt::format("{} {}", phrase, choice));
      }
    }
    if (longer.size() > kMaxPhrasesPerEntry) {
      return Invalid(fmt::format("'{}' stands for more than {} phrases.", entry, kMaxPhrasesPerEntry));
    }
    phrases = std::move(longer);
  }
  if (std::ranges::find(phrases, "") != phrases.end()) return Invalid("An entry is empty, or may be.");
  return phrases;
}

}  // namespace

Status Lexicon::Add(std::string_view text, std::string_view name) {
  std::string_view section;
  int line_number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    line = Trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const Status added = AddLine(section, line);
    if (!added.ok()) return Invalid(fmt::format("{}, line {}: {}", name, line_number, added.error().message));
  }
  // Last, since a property's words take their synonyms with them, and those may stand further down.
  const auto by_word = properties_;
  for (const auto& [word, property] : by_word) properties_[GroupOf(word)] = property;
  return {};
}

Status Lexicon::AddLine(std::string_view section, std::string_view line) {
  if (std::ranges::any_of(line, [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return Invalid("Entries are in lower case.");
  }
  for (const GroupSection& known : kGroupSections) {
    if (section == known.name) return AddGroup(line, known.word_class);
  }
  if (section == "plurals") return AddPlurals(line);
  if (section == "spelling") return AddSpelling(line);
  if (section == "properties") return AddProperty(line);
  if (section == "apart") {
    for (const std::string_view word : Split(line, ',')) apart_.emplace(word);
    return {};
  }
  if (section.empty()) return Invalid("No section, such as [synonyms], has begun.");
  return Invalid(fmt::format("There is no section [{}].", section));
}

Status Lexicon::AddGroup(std::string_view line, WordClass word_class) {
  std::vector<std::string> phrases;
  for (const std::string_view part : Split(line, ',')) {
    Result<std::vector<std::string>> more = Phrases(part);
    if (!more.ok()) return more.error();
    phrases.insert(phrases.end(), more->begin(), more->end());
  }
  const auto known = entries_.find(phrases.front());
  const std::string group = known != entries_.end()            ? known->second.group
                            : word_class == WordClass::kFiller ? ""
                                                               : phrases.front();
  for (const std::string& phrase : phrases) {
    const auto [place, added] = entries_.try_emplace(phrase, Entry{word_class, group});
    if (!added && (place->second.word_class != word_class || place->second.group != group)) {
      return Invalid(fmt::format("'{}' already has a meaning of its own.", phrase));
    }
    size_t& longest = longest_[phrase.substr(0, phrase.find(' '))];
    longest = std::max(longest, static_cast<size_t>(std::ranges::count(phrase, ' ')) + 1);
  }
  return {};
}

Status Lexicon::AddPlurals(std::string_view line) {
  const std::vector<std::string_view> words = Split(line, ',');
  for (size_t i = 1; i < words.size(); ++i) singulars_[std::string(words[i])] = words.front();
  return {};
}

Status Lexicon::AddSpelling(std::string_view line) {
  const std::vector<std::string_view> sides = Split(line, '=');
  if (sides.size() != 2 || Words(sides[0]).size() != 1 || Words(sides[1]).empty()) {
    return Invalid("A spelling is 'word = word or words'.");
  }
  spelling_[std::string(sides[0])] = Words(sides[1]);
  return {};
}

Status Lexicon::AddProperty(std::string_view line) {
  const std::vector<std::string_view> sides = Split(line, ':');
  if (sides.size() != 2 || Words(sides[0]).size() != 1) return Invalid("A property is 'property: word, word'.");
  property_names_.emplace(sides[0]);
  for (const std::string_view word : Split(sides[1], ',')) properties_[std::string(word)] = sides[0];
  return {};
}

Lexicon::Match Lexicon::Longest(std::span<const std::string> words, size_t at) const {
  const auto longest = longest_.find(words[at]);
  const size_t most = longest == longest_.end() ? 1 : longest->second;
  for (size_t length = std::min(most, words.size() - at); length > 0; --length) {
    std::string before;
    for (size_t i = at; i + 1 < at + length; ++i) before += words[i] + ' ';
    const std::string& last = words[at + length - 1];
    if (const auto entry = entries_.find(before + last); entry != entries_.end()) return {&entry->second, length};
    for (const std::string& base : Bases(last)) {
      const auto entry = entries_.find(before + base);
      if (entry != entries_.end() && entry->second.word_class == WordClass::kWord) return {&entry->second, length};
    }
  }
  return {};
}

std::vector<std::string> Lexicon::Respelled(const std::string& word) const {
  const auto known = spelling_.find(word);
  return known == spelling_.end() ? std::vector<std::string>{word} : known->second;
}

std::vector<std::string> Lexicon::ContentGroups(const std::string& word) const {
  std::vector<std::string> groups;
  for (const std::string& base : Bases(word)) groups.push_back(GroupOf(base));
  return groups;
}

bool Lexicon::IsPlural(const std::string& word) const {
  return singulars_.contains(word) || (!apart_.contains(word) && MayBePlural(word));
}

std::string Lexicon::PropertyOf(const std::string& group) const {
  const auto known = properties_.find(group);
  return known == properties_.end() ? "" : known->second;
}

std::vector<std::string> Lexicon::Bases(const std::string& word) const {
  if (const auto singular = singulars_.find(word); singular != singulars_.end()) return {singular->second};
  if (apart_.contains(word)) return {word};
  return BaseForms(word);
}

std::string Lexicon::GroupOf(const std::string& word) const {
  const auto entry = entries_.find(word);
  return entry != entries_.end() && entry->second.word_class == WordClass::kWord ? entry->second.group : word;
}

}  // namespace afterimage
