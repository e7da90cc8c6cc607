#include "eval/verdict.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

// 1 and 2 ask the same of picture p, 3 something else; 4 asks 1's question of q. 5 has no labels.
class VerdictTest : public ::testing::Test {
 protected:
  VerdictTest() {
    Add("1", "Is it red?", "p", {"1", "2", "4"});
    Add("2", "Is the thing red?", "p", {"1", "2"});
    Add("3", "Is it large?", "p", {"3"});
    Add("4", "Is it red?", "q", {"4"});
    Add("5", "Is it small?", "p", {});
  }

  void Add(const std::string& id, const std::string& question, const std::string& picture,
           std::vector<std::string> equivalent) {
    Sample sample;
    sample.id = id;
    sample.question = question;
    sample.image_path = picture;
    sample.equivalent = std::move(equivalent);
    labels_.Add(sample);
  }

  static Report Substituted(const std::string& what, const Donor& donor,
                            ReuseClass reuse_class = ReuseClass::kApproximate) {
    Report report;
    report.reuse_class = reuse_class;
    report.substitution = what;
    report.donor = donor;
    return report;
  }
  // Nothing substituted, though this layer named this candidate.
  static Report Declined(const std::string& layer, const CandidateReport& candidate) {
    Report report;
    report.stats.tokens_computed = 9;
    report.layers = {{.key = "prefix"}, {.key = layer, .candidates = {candidate}}};
    return report;
  }
  Verdict Judge(const Report& report) { return JudgeReport(labels_, asked_, report); }

  Labels labels_;
  LabelQuery asked_ = {"1", "Is it red?", "p"};
  const Donor same_ = {"2", "Is the thing red?", {"p"}};
  const Donor other_ = {"3", "Is it large?", {"p"}};
};

TEST_F(VerdictTest, ASubstitutionIsAsRightAsTheLabelsSay) {
  EXPECT_EQ(Judge(Substituted("question", same_)).same, true);
  EXPECT_EQ(Judge(Substituted("question", other_)).same, false);
  EXPECT_EQ(Judge(Substituted("question and picture", {"4", "", {"q"}})).same, true);
  EXPECT_EQ(Judge(Substituted("question and picture", {"9", "", {"q"}})).same, false);
  EXPECT_TRUE(Judge(Substituted("question", same_)).labelled);
  EXPECT_FALSE(Judge(Substituted("question", other_)).missed);
}

TEST_F(VerdictTest, WithThePictureOnlyTheDonorsOwnQuestionDoesNotMatter) {
  EXPECT_EQ(Judge(Substituted("picture", {"9", "Is it large?", {"q"}})).same, true);
  EXPECT_EQ(Judge(Substituted("picture", {"2", "", {"r"}})).same, false);
}

TEST_F(VerdictTest, ANormalizedQuestionIsNeverWrong) {
  EXPECT_EQ(Judge(Substituted("question", other_, ReuseClass::kNormalized)).same, true);
  asked_ = {"5", "Is it small?", "p"};
  EXPECT_EQ(Judge(Substituted("question", other_, ReuseClass::kNormalized)).same, true);
}

TEST_F(VerdictTest, WithoutLabelsThereIsNone) {
  asked_ = {"5", "Is it small?", "p"};
  const Verdict verdict = Judge(Substituted("question", same_));
  EXPECT_FALSE(verdict.labelled);
  EXPECT_EQ(verdict.same, std::nullopt);
  EXPECT_FALSE(Judge(Declined("semantic_text", {.donor = same_})).missed);
}

TEST_F(VerdictTest, WhereNothingWasSubstitutedThereIsNothingToJudge) {
  Report equal;
  equal.reuse_class = ReuseClass::kExact;
  equal.donor = other_;
  EXPECT_EQ(Judge(equal).same, std::nullopt);
  EXPECT_TRUE(Judge(equal).labelled);
}

TEST_F(VerdictTest, ARightCandidateNotTakenIsMissedEvenIfRefused) {
  EXPECT_TRUE(Judge(Declined("semantic_text", {.donor = same_, .refused = "threshold"})).missed);
  EXPECT_TRUE(Judge(Declined("semantic_text", {.donor = same_})).missed);
  EXPECT_FALSE(Judge(Declined("semantic_text", {.donor = other_})).missed);
  EXPECT_TRUE(Judge(Declined("exact_text", {.donor = other_, .reuse_class = ReuseClass::kNormalized})).missed);
  EXPECT_TRUE(Judge(Declined("semantic_text", {.donor = {"4", "", {"q"}}})).missed) << "and its picture too";
}

TEST_F(VerdictTest, AnEmbeddingLayerCouldHavePutInThePictureAlone) {
  const CandidateReport candidate = {.donor = {"9", "Is it large?", {"q"}}};
  EXPECT_TRUE(Judge(Declined("embedding:vision", candidate)).missed);
  EXPECT_FALSE(Judge(Declined("semantic_text", candidate)).missed);
  EXPECT_FALSE(Judge(Declined("embedding:vision", {.donor = other_})).missed) << "the same picture is none";
}

TEST_F(VerdictTest, ARequestWhoseOwnStateWasAllThereMissedNothing) {
  Report report = Declined("semantic_text", {.donor = same_});
  report.stats.tokens_computed = 0;
  EXPECT_FALSE(Judge(report).missed);
  EXPECT_FALSE(Judge(Declined("exact_text", {.donor = same_, .reuse_class = ReuseClass::kExact})).missed)
      << "the request itself is no substitute";
}

}  // namespace
}  // namespace afterimage
