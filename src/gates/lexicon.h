// Lexicon: what is known of English words, read from text.
//
// The built-in one is lexicon.txt. The format, which a user's file shares:
//
//   # a comment
//   [synonyms]                        a section; the lines after it belong to it
//   sofa, couch, settee               a group: entries that mean the same
//   near, close to|by                 an entry is a word or a phrase; a|b: one of these words
//   left, on the left hand? side? of? word?: may be missing
//   [spelling]
//   colour = color                    written = read as (one word or several)
//   [properties]
//   color: red, green, blue           a property and words that already say which property is meant
//
//   section        what its entries are
//   [questions]    what makes the kind of a question; the group's first entry names the kind
//   [negations]    [numbers] [relations] [comparisons] [quantifiers]: groups that must be the same in both questions
//   [synonyms]     groups of words of content
//   [plurals]      irregular ones, after their singular: man, men
//   [apart]        words that are not forms of others, whatever they end in: glasses, building
//   [definites]    the, this, those: words before a thing that is known already
//   [links]        what says nothing between a thing and what is said of it: look, in "does the cup look red"
//   [fillers]      what says nothing anywhere
//   [spelling]     [properties]: as above
//
// Entries are in lower case, without punctuation. A line whose first entry is known already adds to that entry's
// group; an entry cannot belong to two groups or two sections. Sections may come in any order and more than once.
//
// Thread safety: const methods may be called from any thread.
#ifndef AFTERIMAGE_GATES_LEXICON_H_
#define AFTERIMAGE_GATES_LEXICON_H_

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

enum class WordClass {
  kQuestion,
  kNegation,
  kNumber,
  kRelation,
  kComparison,
  kQuantifier,
  kWord,
  kDefinite,
  kLink,
  kFiller,
};

class Lexicon {
 public:
  struct Entry {
    WordClass word_class = WordClass::kWord;
    std::string group;  // the group's first entry; "" for fillers
  };
  struct Match {
    const Entry* entry = nullptr;
    size_t length = 0;  // in words
  };

  // Adds the lines of a text; `name` is for messages. After an error the lexicon is not to be used.
  // Errors: kInvalidArgument, naming the line and the reason.
  Status Add(std::string_view text, std::string_view name);

  // The longest entry that begins at words[at]; length 0 where there is none. The last word of an entry of content may
  // be inflected.
  Match Longest(std::span<const std::string> words, size_t at) const;

  // The words of `word` as they are read: {"color"} for "colour", and itself where nothing is known.
  std::vector<std::string> Respelled(const std::string& word) const;
  // The groups of which a word of content may be a form, or the word's possible base forms where they have no group.
  std::vector<std::string> ContentGroups(const std::string& word) const;
  bool IsPlural(const std::string& word) const;

  // The property that a group's words say something of ("color" for "red"), or "".
  std::string PropertyOf(const std::string& group) const;
  bool IsProperty(const std::string& group) const { return property_names_.contains(group); }

 private:
  Status AddLine(std::string_view section, std::string_view line);
  Status AddGroup(std::string_view line, WordClass word_class);
  Status AddPlurals(std::string_view line);
  Status AddSpelling(std::string_view line);
  Status AddProperty(std::string_view line);
  std::vector<std::string> Bases(const std::string& word) const;
  std::string GroupOf(const std::string& word) const;

  std::unordered_map<std::string, Entry> entries_;   // by phrase, words joined by a space
  std::unordered_map<std::string, size_t> longest_;  // words in the longest phrase, by its first
  std::unordered_map<std::string, std::vector<std::string>> spelling_;
  std::unordered_map<std::string, std::string> singulars_;  // by irregular plural
  std::unordered_set<std::string> apart_;
  std::unordered_map<std::string, std::string> properties_;  // by word, and by the group of the word
  std::unordered_set<std::string> property_names_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_GATES_LEXICON_H_
