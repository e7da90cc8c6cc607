#include "gates/lexicon.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

using Words = std::vector<std::string>;

Lexicon Of(std::string_view text) {
  Lexicon lexicon;
  const Status added = lexicon.Add(text, "test");
  EXPECT_TRUE(added.ok()) << added.error().message;
  return lexicon;
}

std::string ErrorOf(std::string_view text) {
  Lexicon lexicon;
  const Status added = lexicon.Add(text, "words.txt");
  if (added.ok()) return "";
  EXPECT_EQ(added.error().code, Errc::kInvalidArgument);
  return added.error().message;
}

// The group and the length of what is found at the start.
std::pair<std::string, size_t> Found(const Lexicon& lexicon, const Words& words) {
  const Lexicon::Match match = lexicon.Longest(words, 0);
  return {match.entry == nullptr ? "" : match.entry->group, match.length};
}

TEST(LexiconTest, TheLongestEntryIsFound) {
  const Lexicon lexicon = Of("[relations]\nin\nin front of\n");
  EXPECT_EQ(Found(lexicon, {"in", "front", "of", "it"}), std::pair(std::string("in front of"), size_t{3}));
  EXPECT_EQ(Found(lexicon, {"in", "front"}), std::pair(std::string("in"), size_t{1}));
  EXPECT_EQ(Found(lexicon, {"front"}), std::pair(std::string(), size_t{0}));
}

TEST(LexiconTest, AnEntryStandsForAllItsChoices) {
  const Lexicon lexicon = Of("[relations]\nleft, to|on the left side?\n");
  for (const Words& words :
       {Words{"to", "the", "left"}, {"on", "the", "left"}, {"on", "the", "left", "side"}, {"left"}}) {
    EXPECT_EQ(Found(lexicon, words), std::pair(std::string("left"), words.size())) << words.back();
  }
  EXPECT_EQ(Found(lexicon, {"at", "the", "left"}).second, 0u);
}

TEST(LexiconTest, OnlyTheLastWordOfContentMayBeInflected) {
  const Lexicon lexicon = Of("[synonyms]\nphone, cell phone\n[relations]\ntop\n");
  EXPECT_EQ(Found(lexicon, {"cell", "phones"}), std::pair(std::string("phone"), size_t{2}));
  EXPECT_EQ(Found(lexicon, {"cells", "phone"}).second, 0u);
  EXPECT_EQ(Found(lexicon, {"tops"}).second, 0u);
}

TEST(LexiconTest, ALineThatBeginsWithAKnownEntryAddsToItsGroup) {
  Lexicon lexicon = Of("[synonyms]\nsofa, couch\n");
  ASSERT_TRUE(lexicon.Add("[synonyms]\ncouch, davenport\n", "more").ok());
  EXPECT_EQ(lexicon.ContentGroups("davenport"), Words{"sofa"});
}

TEST(LexiconTest, IrregularPluralsAreOfTheirSingular) {
  const Lexicon lexicon = Of("[plurals]\nman, men\n[synonyms]\nman, guy\n");
  EXPECT_EQ(lexicon.ContentGroups("men"), Words{"man"});
  EXPECT_TRUE(lexicon.IsPlural("men"));
  EXPECT_FALSE(lexicon.IsPlural("man"));
}

TEST(LexiconTest, WordsApartAreNoForms) {
  const Lexicon lexicon = Of("[apart]\nglasses\n");
  EXPECT_EQ(lexicon.ContentGroups("glasses"), Words{"glasses"});
  EXPECT_FALSE(lexicon.IsPlural("glasses"));
  EXPECT_TRUE(lexicon.IsPlural("dogs"));
}

TEST(LexiconTest, SpellingsAreReadAsWordsOrSeveral) {
  const Lexicon lexicon = Of("[spelling]\ncolour = color\ncannot = can not\n");
  EXPECT_EQ(lexicon.Respelled("colour"), Words{"color"});
  EXPECT_EQ(lexicon.Respelled("cannot"), (Words{"can", "not"}));
  EXPECT_EQ(lexicon.Respelled("color"), Words{"color"});
}

TEST(LexiconTest, APropertyTakesTheSynonymsOfItsWordsAlong) {
  const Lexicon lexicon = Of("[properties]\nsize: large\n[synonyms]\nbig, large\n");
  EXPECT_EQ(lexicon.PropertyOf("big"), "size");
  EXPECT_TRUE(lexicon.IsProperty("size"));
  EXPECT_EQ(lexicon.PropertyOf("red"), "");
  EXPECT_FALSE(lexicon.IsProperty("big"));
}

TEST(LexiconTest, CommentsAndEmptyLinesAreSkipped) {
  EXPECT_EQ(Of("# all\n\n[synonyms]\r\nsofa, couch # seats\n").ContentGroups("couch"), Words{"sofa"});
}

TEST(LexiconTest, AnErrorNamesTheLineAndTheReason) {
  EXPECT_EQ(ErrorOf("sofa, couch\n"), "words.txt, line 1: No section, such as [synonyms], has begun.");
  EXPECT_EQ(ErrorOf("\n[furniture]\nsofa\n"), "words.txt, line 3: There is no section [furniture].");
  EXPECT_EQ(ErrorOf("[synonyms]\nsofa, , couch\n"), "words.txt, line 2: An entry is empty, or may be.");
  EXPECT_EQ(ErrorOf("[synonyms]\nsofa?, couch\n"), "words.txt, line 2: An entry is empty, or may be.");
  EXPECT_EQ(ErrorOf("[synonyms]\nsofa||couch\n"), "words.txt, line 2: 'sofa||couch' has an empty choice.");
  EXPECT_EQ(ErrorOf("[synonyms]\nSofa, couch\n"), "words.txt, line 2: Entries are in lower case.");
  EXPECT_EQ(ErrorOf("[spelling]\ncolour\n"), "words.txt, line 2: A spelling is 'word = word or words'.");
  EXPECT_EQ(ErrorOf("[properties]\ncolor red\n"), "words.txt, line 2: A property is 'property: word, word'.");
}

TEST(LexiconTest, AnEntryCannotMeanTwoThings) {
  EXPECT_EQ(ErrorOf("[relations]\nleft\nright\nleft, right\n"),
            "words.txt, line 4: 'right' already has a meaning of its own.");
  EXPECT_EQ(ErrorOf("[relations]\nleft\nport, left\n"), "words.txt, line 3: 'left' already has a meaning of its own.");
  EXPECT_EQ(ErrorOf("[relations]\nleft\n[fillers]\nleft\n"),
            "words.txt, line 4: 'left' already has a meaning of its own.");
}

TEST(LexiconTest, AnEntryOfTooManyPhrasesIsRefused) {
  EXPECT_NE(
      ErrorOf("[fillers]\na|b|c|d a|b|c|d a|b|c|d a|b|c|d a|b|c|d a|b|c|d a|b|c|d\n").find("more than 4096 phrases"),
      std::string::npos);
}

}  // namespace
}  // namespace afterimage
