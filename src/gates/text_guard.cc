#include "gates/text_guard.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "core/posix_file.h"
#include "gates/question_reading.h"
#include "lexicon_text.h"

namespace afterimage {
namespace {

struct Rule {
  WordClass word_class;
  std::string_view name;
};

constexpr Rule kRules[] = {
    {WordClass::kNegation, "negation"},     {WordClass::kNumber, "number"},         {WordClass::kRelation, "relation"},
    {WordClass::kComparison, "comparison"}, {WordClass::kQuantifier, "quantifier"}, {WordClass::kWord, "word"},
};

using Units = std::span<const Unit>;

bool Same(const Unit& a, const Unit& b) {
  return a.word_class == b.word_class && std::ranges::find_first_of(a.groups, b.groups) != a.groups.end();
}

// The words of `units` that have no partner in `others`, in quotes; "" where all have one.
std::string Unpaired(Units units, Units others, WordClass word_class) {
  std::vector<bool> paired(others.size());
  std::string words;
  for (const Unit& unit : units) {
    if (unit.word_class != word_class) continue;
    size_t partner = 0;
    while (partner < others.size() && (paired[partner] || !Same(unit, others[partner]))) ++partner;
    if (partner < others.size()) {
      paired[partner] = true;
    } else {
      words += fmt::format("{}'{}'", words.empty() ? "" : ", ", unit.written);
    }
  }
  return words;
}

// The first units up to one that keeps its place: a relation, a number, anything but a word of content.
Units FirstPart(Units units) {
  const auto keeps_place = [](const Unit& unit) { return unit.word_class != WordClass::kWord; };
  return units.first(static_cast<size_t>(std::ranges::find_if(units, keeps_place) - units.begin()));
}

// Whether properties stand only before, or only after, one single thing. They may then change sides: "is there a red
// cup", "is the cup red". Not so where order tells what belongs to what: "is the red cup big", "is the big cup red".
bool OrderIsFree(Units part) {
  const auto thing = [](const Unit& unit) { return !unit.free; };
  const auto first = std::ranges::find_if(part, thing);
  if (first == part.end()) return true;
  return std::none_of(first + 1, part.end(), thing) && (first == part.begin() || first + 1 == part.end());
}

bool SamePart(Units a, Units b) {
  if (a.size() != b.size()) return false;
  if (!OrderIsFree(a) || !OrderIsFree(b)) return std::ranges::equal(a, b, Same);
  return std::ranges::all_of(a, [&](const Unit& unit) {
    return std::ranges::count_if(a, [&](const Unit& other) { return Same(unit, other); }) ==
           std::ranges::count_if(b, [&](const Unit& other) { return Same(unit, other); });
  });
}

bool SameRoles(Units a, Units b) {
  while (true) {
    const Units part_a = FirstPart(a);
    const Units part_b = FirstPart(b);
    if (!SamePart(part_a, part_b)) return false;
    a = a.subspan(part_a.size());
    b = b.subspan(part_b.size());
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (!Same(a.front(), b.front())) return false;
    a = a.subspan(1);
    b = b.subspan(1);
  }
}

// "small or large" as "large or small": what follows the last "and" or "or" in the place of as much before it; of "left
// or right of the dog" only the two relations. Empty where there is not as much.
std::vector<Unit> Swapped(Units units) {
  const auto joins = [](const Unit& unit) { return unit.written == "and" || unit.written == "or"; };
  const std::ptrdiff_t before = units.rend() - std::find_if(units.rbegin(), units.rend(), joins) - 1;
  std::ptrdiff_t n = std::ssize(units) - before - 1;
  if (before < 1 || n < 1) return {};
  std::vector<Unit> swapped(units.begin(), units.end());
  const auto join = swapped.begin() + before;
  if (join[-1].word_class == WordClass::kRelation && join[1].word_class == WordClass::kRelation) n = 1;
  if (before < n) return {};
  std::swap_ranges(join - n, join, join + 1);
  return swapped;
}

bool SamePlural(const Unit& a, const Unit& b) {
  // "carries" and "carrying" are no things.
  if (a.written.ends_with("ing") || b.written.ends_with("ing")) return true;
  if (a.plural != b.plural) return !a.definite && !b.definite;
  return !a.plural || a.definite == b.definite;
}

// Whether a property stands right after the thing: "is the cup red", not "is there a red cup".
bool SaidAfter(Units units, const Unit& thing) {
  const size_t next = static_cast<size_t>(&thing - units.data()) + 1;
  return !thing.free && next < units.size() && units[next].free;
}

// What is said of a thing that is known ("is the cup red") is not that there is such a thing ("is there a red cup"):
// with two cups the answers may differ.
bool SameKnown(Units a, const Unit& of_a, Units b, const Unit& of_b) {
  return of_a.definite == of_b.definite || (!SaidAfter(a, of_a) && !SaidAfter(b, of_b));
}

std::string OtherThing(Units a, Units b) {
  for (const Unit& unit : a) {
    const auto partner = std::ranges::find_if(b, [&](const Unit& other) { return Same(unit, other); });
    if (unit.word_class != WordClass::kWord || partner == b.end()) continue;
    const bool same_known = SameKnown(a, unit, b, *partner);
    if (same_known && SamePlural(unit, *partner)) continue;
    const auto written = [](const Unit& of) { return fmt::format("'{}{}'", of.definite ? "the " : "", of.written); };
    return fmt::format("{}: {} against {}", same_known ? "plural" : "known", written(unit), written(*partner));
  }
  return "";
}

std::string Joined(Units units) {
  std::string joined;
  for (const Unit& unit : units) joined += (joined.empty() ? "" : " ") + unit.written;
  return joined;
}

Result<std::string> ReadText(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return ReadError(path, errno);
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t n = ::read(file.number, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ReadError(path, errno);
    if (n == 0) return text;
    text.append(piece.data(), static_cast<size_t>(n));
  }
}

}  // namespace

Result<TextGuard> TextGuard::Open(const std::string& lexicon_file) {
  Lexicon lexicon;
  if (const Status added = lexicon.Add(kLexiconText, "built-in lexicon"); !added.ok()) return added.error();
  if (!lexicon_file.empty()) {
    const Result<std::string> text = ReadText(lexicon_file);
    if (!text.ok()) return text.error();
    if (const Status added = lexicon.Add(*text, lexicon_file); !added.ok()) return added.error();
  }
  return TextGuard(std::move(lexicon));
}

std::string TextGuard::Refuse(std::string_view asked, std::string_view donor) const {
  const QuestionReading a = ReadQuestion(asked, lexicon_);
  const QuestionReading b = ReadQuestion(donor, lexicon_);
  if (a.kind != b.kind) return fmt::format("question: '{}' against '{}'", a.kind, b.kind);
  for (const Rule& rule : kRules) {
    const std::string of_a = Unpaired(a.units, b.units, rule.word_class);
    const std::string of_b = Unpaired(b.units, a.units, rule.word_class);
    if (of_a.empty() && of_b.empty()) continue;
    return fmt::format("{}: {} against {}", rule.name, of_a.empty() ? "nothing" : of_a,
                       of_b.empty() ? "nothing" : of_b);
  }
  if (!SameRoles(a.units, b.units) && !SameRoles(Swapped(a.units), b.units)) {
    return fmt::format("order: '{}' against '{}'", Joined(a.units), Joined(b.units));
  }
  return a.kind == "how many" ? "" : OtherThing(a.units, b.units);
}

}  // namespace afterimage
