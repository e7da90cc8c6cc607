#include "gates/question_reading.h"

#include <algorithm>
#include <utility>

namespace afterimage {
namespace {

constexpr std::string_view kYesNo = "yes/no";
constexpr std::string_view kChoice = "choice";
constexpr std::string_view kWhat = "what";
constexpr std::string_view kWhere = "where";
constexpr std::string_view kCommand = "command";
constexpr std::string_view kObject = "object";
constexpr std::string_view kHave = "have";
constexpr std::string_view kSame = "same";
constexpr std::string_view kAnd = "and";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Letters of any language, digits, signs such as % and $.
bool IsPartOfWord(char c) {
  return std::string_view(" \t\r\n\v\f?!.,;:\"()[]{}<>-_/\\`'").find(c) == std::string_view::npos;
}

// "n't" is a word; "'s", "'re" and the like are not.
void AddWithoutContraction(std::string word, std::vector<std::string>* words) {
  bool negated = false;
  if (word.ends_with("n't")) {
    negated = true;
    word.resize(word.size() - 3);
  } else if (const size_t apostrophe = word.find('\''); apostrophe != std::string::npos) {
    word.resize(apostrophe);
  }
  if (!word.empty()) words->push_back(std::move(word));
  if (negated) words->emplace_back("not");
}

std::string LowerWithPlainApostrophes(std::string_view text) {
  static constexpr std::string_view kCurly = "\xE2\x80\x99";
  std::string lower;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kCurly)) {
      lower += '\'';
      i += kCurly.size() - 1;
    } else {
      lower += text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    }
  }
  return lower;
}

std::vector<std::string> Words(std::string_view text) {
  const std::string lower = LowerWithPlainApostrophes(text);
  std::vector<std::string> words;
  std::string word;
  for (size_t i = 0; i <= lower.size(); ++i) {
    const char c = i < lower.size() ? lower[i] : ' ';
    const char next = i + 1 < lower.size() ? lower[i + 1] : ' ';
    const bool inside = !word.empty() && IsPartOfWord(next);
    const bool minus = c == '-' && word.empty() && IsDigit(next) && (i == 0 || lower[i - 1] == ' ');
    if (IsPartOfWord(c) || minus || (c == '\'' && inside)) {
      word += c;
    } else if ((c == '.' || c == ':' || c == ',') && inside && IsDigit(word.back()) && IsDigit(next)) {
      if (c != ',') word += c;
    } else if (!word.empty()) {
      AddWithoutContraction(std::exchange(word, {}), &words);
    }
  }
  return words;
}

class Reader {
 public:
  Reader(std::string_view text, const Lexicon& lexicon) : lexicon_(lexicon) {
    words_ = Respelled(text);
    asks_ = text.find('?') != std::string_view::npos;
    const size_t comma = text.find_last_of(',');
    if (comma == std::string_view::npos) return;
    const std::vector<std::string> rest = Words(text.substr(comma));
    if (std::ranges::find(rest, "or") != rest.end()) alternatives_at_ = Respelled(text.substr(0, comma)).size();
  }

  QuestionReading Read() {
    for (size_t at = 0; at < words_.size();) {
      Lexicon::Match match = lexicon_.Longest(words_, at);
      if (match.length == 0) match.length = 1;
      Take(match, at);
      at += match.length;
    }
    DecideKind();
    DropLinks();
    DropImplied();
    ReadShared();
    JoinCompared();
    DropObject();
    return std::move(reading_);
  }

 private:
  void Take(const Lexicon::Match& match, size_t at) {
    const WordClass word_class = match.entry == nullptr ? WordClass::kWord : match.entry->word_class;
    switch (word_class) {
      case WordClass::kFiller:
        definite_ = false;
        break;
      case WordClass::kDefinite:
        TakeDefinite(at);
        break;
      case WordClass::kQuestion:
        TakeQuestion(match, at);
        break;
      case WordClass::kWord:
        TakeWord(match, at);
        break;
      case WordClass::kNumber:
        // "the red one" is a thing, not a number.
        if (words_[at] == "one" && SaysOfThing()) {
          Push(WordClass::kWord, {std::string(kObject)}, "one");
          break;
        }
        [[fallthrough]];
      default:
        if (IsStranded(at)) break;
        Push(word_class, {match.entry->group}, Written(at, match.length));
        // "the two dogs", but "the one left of dogs".
        definite_ = definite_ && (word_class == WordClass::kNumber || word_class == WordClass::kQuantifier);
    }
  }

  // "the man", "the bag that she carries", but "is that a bag".
  void TakeDefinite(size_t at) {
    definite_ = true;
    if (words_[at] == "the" || FollowsWord()) return;
    const Lexicon::Match next = at + 1 < words_.size() ? lexicon_.Longest(words_, at + 1) : Lexicon::Match{};
    const bool stands_alone =
        at + 1 == words_.size() || (next.entry != nullptr && next.entry->word_class != WordClass::kWord &&
                                    next.entry->word_class != WordClass::kNumber);
    if (stands_alone) Push(WordClass::kWord, {words_[at]}, words_[at]);
  }

  // The first that counts makes the kind. "What is the number of" and "can you count" are made by their second.
  void TakeQuestion(const Lexicon::Match& match, size_t at) {
    definite_ = false;
    const Lexicon::Entry& entry = *match.entry;
    const bool auxiliary = entry.group == kYesNo;
    const bool at_start = reading_.units.empty();
    if (reading_.kind.empty()) {
      if (auxiliary && !at_start) return;
      reading_.kind = entry.group;
      lists_alternatives_ = ListsAlternatives(at + match.length);
    } else if (auxiliary) {
      return;
    } else if (at_start && (reading_.kind == kWhat || reading_.kind == kCommand)) {
      reading_.kind = entry.group;
    } else if (!FollowsWord() || (entry.group != kWhat && entry.group != "who")) {
      Push(WordClass::kWord, {entry.group}, Written(at, match.length));  // "the man who" says no more than "the man"
    }
  }

  // "Where is the cup, left or right", "what is it, a cup or a glass": the alternatives say what is asked for. Not so
  // in "which cup is red, the left or the right", which is not "is the red cup left or right".
  bool ListsAlternatives(size_t next) const {
    if (next >= alternatives_at_) return false;
    if (reading_.kind == kWhere || AsksForPart()) return true;
    const Lexicon::Match match = lexicon_.Longest(words_, next);
    return reading_.kind == kWhat && match.entry != nullptr && match.entry->group == kYesNo;
  }

  // Whether it asks for a side, part or half of the picture.
  bool AsksForPart() const { return reading_.kind.starts_with("which "); }

  // The "on" of "which side of the picture is the cup on", which is "on which side of the picture is the cup".
  bool IsStranded(size_t at) const {
    const size_t end = alternatives_at_ == 0 ? words_.size() : alternatives_at_;
    return AsksForPart() && at + 1 == end && (words_[at] == "on" || words_[at] == "in");
  }

  void TakeWord(const Lexicon::Match& match, size_t at) {
    const std::string& last = words_[at + match.length - 1];
    std::vector<std::string> groups =
        match.length == 1 ? lexicon_.ContentGroups(last) : std::vector<std::string>{match.entry->group};
    const bool number = match.entry == nullptr && std::ranges::any_of(last, IsDigit);
    Push(number ? WordClass::kNumber : WordClass::kWord, std::move(groups), Written(at, match.length));
    reading_.units.back().plural = lexicon_.IsPlural(last);
  }

  void Push(WordClass word_class, std::vector<std::string> groups, std::string written) {
    Unit unit{word_class, std::move(groups), std::move(written), false, definite_, false};
    unit.free = word_class == WordClass::kWord && std::ranges::any_of(unit.groups, [&](const std::string& group) {
                  return lexicon_.IsProperty(group) || !lexicon_.PropertyOf(group).empty();
                });
    reading_.units.push_back(std::move(unit));
  }

  void DecideKind() {
    const std::vector<Unit>& units = reading_.units;
    if (reading_.kind.empty()) {
      // "The color of the cup?", but not "has the bus left?".
      const std::string first = units.empty() ? "" : units.front().groups.front();
      const bool names_property = first != kHave && lexicon_.IsProperty(first);
      reading_.kind = names_property ? kWhat : asks_ ? kYesNo : kCommand;
    }
    const bool chooses = std::ranges::any_of(units, [](const Unit& unit) { return unit.written == "or"; });
    // "Which color is it, red or blue" is "is it red or blue".
    const bool names_choice = reading_.kind == kWhat && !units.empty() && IsImplied(0);
    if (chooses && (reading_.kind == kYesNo || names_choice || lists_alternatives_)) reading_.kind = kChoice;
  }

  // "Do they share a color" is "are they the same color"; what else is shared need not be the same.
  void ReadShared() {
    std::vector<Unit>& units = reading_.units;
    for (size_t i = 0; i + 1 < units.size(); ++i) {
      const std::string& next = units[i + 1].groups.front();
      if (units[i].groups.front() != "share" || next == kHave || !lexicon_.IsProperty(next)) continue;
      units[i].word_class = WordClass::kComparison;
      units[i].groups = {std::string(kSame)};
    }
  }

  // "Is the cup the same color as the plate" is "are the cup and the plate the same color".
  void JoinCompared() {
    std::vector<Unit>& units = reading_.units;
    const auto is = [](WordClass word_class, std::string_view group) {
      return [=](const Unit& unit) { return unit.word_class == word_class && unit.groups.front() == group; };
    };
    const auto is_word = [](const Unit& unit) { return unit.word_class == WordClass::kWord; };
    const auto same = std::ranges::find_if(units, is(WordClass::kComparison, kSame));
    const auto as = std::find_if(same, units.end(), is(WordClass::kComparison, "as"));
    if (reading_.kind != kYesNo || same == units.begin() || as == units.end() || as + 1 == units.end()) return;
    if (!std::all_of(units.begin(), same, is_word) || !std::all_of(as + 1, units.end(), is_word)) return;
    *as = Unit{WordClass::kRelation, {std::string(kAnd)}, std::string(kAnd), false, false, false};
    std::rotate(same, as, units.end());
  }

  // "Does the cup look red" is "is the cup red", but "does the man look at" and "what does it look like" stay.
  void DropLinks() {
    std::vector<Unit>& units = reading_.units;
    const bool asks_whether = reading_.kind == kYesNo || reading_.kind == kChoice;
    for (size_t i = units.size(); i-- > 0;) {
      if (units[i].word_class != WordClass::kLink) continue;
      units[i].word_class = WordClass::kWord;
      const bool says = i + 1 < units.size() && units[i + 1].word_class != WordClass::kRelation;
      if (i > 0 && says && asks_whether) units.erase(units.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // "the color red" is "red", and "what color does it have" is "what color is it". The first word after "what" is what
  // is asked for, and stays.
  void DropImplied() {
    std::vector<Unit>& units = reading_.units;
    const size_t first = reading_.kind == kWhat ? 1 : 0;
    for (size_t i = units.size(); i-- > first;) {
      if (IsImplied(i)) units.erase(units.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // "Which object is red" and "what is the red object" are "what is red". Further on it has a part to play: "what holds
  // the object" is not "what does the object hold".
  void DropObject() {
    std::vector<Unit>& units = reading_.units;
    if (reading_.kind != kWhat) return;
    auto first = std::ranges::find_if_not(units, &Unit::free);
    while (first != units.end() && first->groups.front() == kObject) {
      units.erase(first);
      first = std::ranges::find_if_not(units, &Unit::free);
    }
  }

  // Whether another unit, on the same side of all relations, says which property is meant.
  bool IsImplied(size_t at) const {
    const std::vector<Unit>& units = reading_.units;
    const std::string& property = units[at].groups.front();
    if (!lexicon_.IsProperty(property)) return false;
    const auto says = [&](const Unit& unit) {
      return std::ranges::any_of(unit.groups, [&](const std::string& group) {
        return group == property || lexicon_.PropertyOf(group) == property;
      });
    };
    const auto related = [](const Unit& unit) { return unit.word_class == WordClass::kRelation; };
    const auto here = units.begin() + static_cast<std::ptrdiff_t>(at);
    const auto begin = std::find_if(std::make_reverse_iterator(here), units.rend(), related).base();
    const auto end = std::find_if(here, units.end(), related);
    return std::any_of(begin, here, says) || std::any_of(here + 1, end, says);
  }

  // Whether the last unit is one such as "red".
  bool SaysOfThing() const { return FollowsWord() && reading_.units.back().free; }

  bool FollowsWord() const { return !reading_.units.empty() && reading_.units.back().word_class == WordClass::kWord; }

  std::string Written(size_t at, size_t length) const {
    std::string written = words_[at];
    for (size_t i = 1; i < length; ++i) written += " " + words_[at + i];
    return written;
  }

  std::vector<std::string> Respelled(std::string_view text) const {
    std::vector<std::string> words;
    for (const std::string& word : Words(text)) {
      for (std::string& respelled : lexicon_.Respelled(word)) words.push_back(std::move(respelled));
    }
    return words;
  }

  const Lexicon& lexicon_;
  std::vector<std::string> words_;
  size_t alternatives_at_ = 0;  // the word after the comma of "..., red or blue"; 0: there is none
  bool asks_ = false;
  bool lists_alternatives_ = false;
  bool definite_ = false;
  QuestionReading reading_;
};

}  // namespace

QuestionReading ReadQuestion(std::string_view text, const Lexicon& lexicon) { return Reader(text, lexicon).Read(); }

}  // namespace afterimage
