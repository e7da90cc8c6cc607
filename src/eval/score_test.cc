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

}  // namespace
}  // namespace afterimage
