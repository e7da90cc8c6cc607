#include "eval/score.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(Score, CasePunctuationAndSpaceAroundAreIgnored) {
  EXPECT_TRUE(IsCorrect(" Yes.\n", "yes"));
  EXPECT_TRUE(IsCorrect("\"T-Shirt\"", "tshirt"));
  EXPECT_TRUE(IsCorrect("yes .", "yes"));
  EXPECT_EQ(ScoredForm("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), "");
}

TEST(Score, NothingElseIs) {
  EXPECT_FALSE(IsCorrect("yes the sky is dark", "yes"));
  EXPECT_FALSE(IsCorrect("the cat", "cat"));
  EXPECT_FALSE(IsCorrect("on  top", "on top"));
  EXPECT_FALSE(IsCorrect("no", "yes"));
  EXPECT_EQ(ScoredForm("Ünde"), "Ünde");
}

TEST(Score, AnEmptyResponseIsWrong) { EXPECT_FALSE(IsCorrect("...", "yes")); }

TEST(Score, TenAnswersAreScoredByHowManyAgree) {
  Sample sample;
  EXPECT_EQ(ScoreOf("yes", sample), std::nullopt);
  sample.answer = "no";
  EXPECT_EQ(ScoreOf("No.", sample), 1);
  EXPECT_EQ(ScoreOf("yes", sample), 0);
  sample.answers.assign(10, "no");
  sample.answers[4] = "yes";
  EXPECT_EQ(ScoreOf("Yes", sample), 0.3);
  EXPECT_FALSE(CountsAsRight(0.3));
  EXPECT_TRUE(CountsAsRight(0.6));
}

TEST(FactScore, CountsTheThingsNamedAndTheThingsRight) {
  const char* reference = "a small green ball, a large green cup and a large blue car";
  EXPECT_EQ(FactScore(reference, reference), 1);
  EXPECT_EQ(FactScore("The picture shows a large blue car, a small green ball and a large green cup.", reference), 1);
  EXPECT_NEAR(FactScore("a small green ball and a large green cup", reference), 2 * 2.0 / 5, 1e-9);
  EXPECT_NEAR(FactScore("a small red ball, a large green cup and a large blue car", reference), 2 * 2.0 / 6, 1e-9);
  EXPECT_EQ(FactScore("", reference), 0);
  EXPECT_EQ(FactScore("yes", reference), 0);
}

TEST(FactScore, AThingNamedTwiceMustBeThereTwice) {
  EXPECT_EQ(FactScore("a car and a car", "a car and a car"), 1);
  EXPECT_NEAR(FactScore("a car and a car", "a car"), 2.0 / 3, 1e-9);
}

}  // namespace
}  // namespace afterimage
