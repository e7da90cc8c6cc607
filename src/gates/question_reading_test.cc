#include "gates/question_reading.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

const Lexicon& Words() {
  static const Lexicon lexicon = [] {
    Lexicon made;
    EXPECT_TRUE(
        made.Add("[questions]\nyes/no, is, are, do, can\nwhat, which\nwho\nhow many, number of, count the?\n"
                 "command, can you\n[negations]\nnot, no\n[numbers]\n1, one\n2, two\n[relations]\nleft\nin\nor\n"
                 "[definites]\nthe, this, that\n[fillers]\na, of, please, can you tell me, in the picture\n"
                 "[links]\nlook\n[spelling]\ncolour = color\nca = can\n[properties]\ncolor: red, blue\n",
                 "test")
            .ok());
    return made;
  }();
  return lexicon;
}

// "what: color cup": the kind, and what is left of the words.
std::string Read(std::string_view text) {
  const QuestionReading reading = ReadQuestion(text, Words());
  std::string read = reading.kind + ":";
  for (const Unit& unit : reading.units) read += " " + unit.written;
  return read;
}

TEST(QuestionReadingTest, WhatSaysNothingIsGone) {
  EXPECT_EQ(Read("Can you tell me what COLOUR the two cups are, please?"), "what: color two cups");
  EXPECT_EQ(Read("Is the cup in the picture red?"), "yes/no: cup red");
  EXPECT_EQ(Read("Is the cup in the box?"), "yes/no: cup in box");
}

TEST(QuestionReadingTest, ContractionsAreTakenApart) {
  EXPECT_EQ(Read("What's the dog's color?"), "what: dog color");
  EXPECT_EQ(Read("Isn't it red?"), "yes/no: not it red");
  EXPECT_EQ(Read("Isn\xE2\x80\x99t it 'red'?"), "yes/no: not it red");
  EXPECT_EQ(Read("Can't dogs swim?"), "yes/no: not dogs swim");
}

TEST(QuestionReadingTest, NumbersKeepTheirPointsAndSigns) {
  EXPECT_EQ(Read("Is it 1,000 or 3.5 or 3:30 or -5 or 3-5?"), "choice: it 1000 or 3.5 or 3:30 or -5 or 3 5");
}

TEST(QuestionReadingTest, TheFirstQuestionWordMakesTheKind) {
  EXPECT_EQ(Read("What is left of the man who is red?"), "what: left man red");
  EXPECT_EQ(Read("Is the man who is red left?"), "yes/no: man red left");
  EXPECT_EQ(Read("What is the number of cups?"), "how many: cups");
  EXPECT_EQ(Read("Can you count the cups?"), "how many: cups");
  EXPECT_EQ(Read("Is it red or blue?"), "choice: it red or blue");
  EXPECT_EQ(Read("Which color is it, red or blue?"), "choice: it red or blue");
}

TEST(QuestionReadingTest, WithoutAQuestionWordTheSignsDecide) {
  EXPECT_EQ(Read("The cup is red?"), "yes/no: cup red");
  EXPECT_EQ(Read("Describe it."), "command: describe it");
  EXPECT_EQ(Read("Can you describe it?"), "command: describe it");
  EXPECT_EQ(Read("The color of the cup?"), "what: color cup");
}

TEST(QuestionReadingTest, ThisAndThatCountOnlyWhereTheyStandAlone) {
  EXPECT_EQ(Read("Is this a dog?"), "yes/no: this dog");
  EXPECT_EQ(Read("What is that?"), "what: that");
  EXPECT_EQ(Read("Is this dog red?"), "yes/no: dog red");
  EXPECT_EQ(Read("Is the dog that is left red?"), "yes/no: dog left red");
}

TEST(QuestionReadingTest, OneAfterAPropertyIsAThing) {
  EXPECT_EQ(ReadQuestion("Is the red one left?", Words()).units[1].word_class, WordClass::kWord);
  EXPECT_EQ(ReadQuestion("Is one cup left?", Words()).units[0].word_class, WordClass::kNumber);
}

TEST(QuestionReadingTest, WhatIsImpliedIsGone) {
  EXPECT_EQ(Read("Is the color of the cup red?"), "yes/no: cup red");
  EXPECT_EQ(Read("Do the cups look red?"), "yes/no: cups red");
  EXPECT_EQ(Read("Is the color left of the red cup?"), "yes/no: color left red cup");
  EXPECT_EQ(Read("What color is the red cup?"), "what: color red cup");
}

TEST(QuestionReadingTest, KnownThingsAreMarkedUpToTheNextRelation) {
  const std::vector<Unit> units = ReadQuestion("Are the two red cups left of boxes?", Words()).units;
  ASSERT_EQ(units.size(), 5u);
  EXPECT_TRUE(units[2].definite && units[2].plural);
  EXPECT_FALSE(units[4].definite);
  EXPECT_TRUE(units[4].plural);
}

}  // namespace
}  // namespace afterimage
