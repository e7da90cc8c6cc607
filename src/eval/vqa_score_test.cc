#include "eval/vqa_score.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

// "yes" from this many of ten people.
std::vector<std::string> Agreeing(size_t people) {
  std::vector<std::string> answers(10, "no");
  std::fill_n(answers.begin(), people, "yes");
  return answers;
}

TEST(VqaScore, IsTheMeanOverThoseLeftOut) {
  for (size_t people = 0; people <= 10; ++people) {
    double sum = 0;
    for (size_t left_out = 0; left_out < 10; ++left_out) {
      const size_t agree = people - (left_out < people ? 1 : 0);
      sum += std::min(1.0, static_cast<double>(agree) / 3);
    }
    EXPECT_NEAR(VqaScore("yes", Agreeing(people)), sum / 10, 1e-12) << people;
  }
}

TEST(VqaScore, BothSidesAreBroughtToOneForm) {
  std::vector<std::string> answers(10, "The two dogs.");
  EXPECT_EQ(VqaScore("2 Dogs", answers), 1);
  EXPECT_EQ(VqaScore("3 dogs", answers), 0);
}

TEST(VqaForm, CaseArticlesNumberWordsAndSpaceDoNotCount) {
  EXPECT_EQ(VqaForm(" A cat\n\ton the  Sofa "), "cat on sofa");
  EXPECT_EQ(VqaForm("none"), "0");
  EXPECT_EQ(VqaForm("Ten"), "10");
  EXPECT_EQ(VqaForm("eleven"), "eleven");
  EXPECT_EQ(VqaForm("another theory"), "another theory");
  EXPECT_EQ(VqaForm(" \n"), "");
}

TEST(VqaForm, PunctuationBecomesASpaceOrNothing) {
  EXPECT_EQ(VqaForm("t-shirt"), "t shirt");
  EXPECT_EQ(VqaForm("red, blue"), "red blue");
  EXPECT_EQ(VqaForm("red - blue t-shirt"), "red blue tshirt") << "one beside a space: all of its kind are left out";
  EXPECT_EQ(VqaForm("1,000"), "1000");
  EXPECT_EQ(VqaForm("yes!"), "yes");
}

TEST(VqaForm, PeriodsStayInNumbersOnly) {
  EXPECT_EQ(VqaForm("3.5 m."), "3.5 m");
  EXPECT_EQ(VqaForm("U.S."), "us");
}

TEST(VqaForm, ContractionsGetTheirApostrophesBack) {
  EXPECT_EQ(VqaForm("dont"), "don't");
  EXPECT_EQ(VqaForm("don't"), "don't");
  EXPECT_EQ(VqaForm("couldntve"), "couldn't've");
  EXPECT_EQ(VqaForm("couldn'tve"), "couldn't've");
  EXPECT_EQ(VqaForm("its well"), "its well") << "words of their own";
  EXPECT_EQ(VqaForm("dog's"), "dog's");
}

}  // namespace
}  // namespace afterimage
