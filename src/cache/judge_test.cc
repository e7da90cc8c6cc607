#include "cache/judge.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

Digest DigestOf(uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

class TestLayer : public Layer {
 public:
  explicit TestLayer(Modality modality) : modality_(modality) {}
  std::string_view key() const override { return "test"; }
  std::string_view provenance() const override { return "test"; }
  Modality modality() const override { return modality_; }
  double threshold() const override { return 0.8; }
  Result<std::vector<Candidate>> Lookup(const LayerQuery&) override { return std::vector<Candidate>(); }
  void Record(const LayerQuery&, RequestRow&, std::vector<VectorRow>&) override {}

 private:
  const Modality modality_;
};

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() { options_.loosest = ReuseClass::kApproximate; }

  // A donor that asks `question` about a picture.
  static Candidate Donor(const std::string& question, uint8_t picture, double score = 0.9) {
    Candidate candidate;
    candidate.record.text = candidate.record.donor.question = question;
    candidate.record.sizes.push_back({8, 8});
    candidate.pictures.push_back(DigestOf(picture));
    candidate.leaf = DigestOf(99);
    candidate.score = score;
    return candidate;
  }
  CandidateReport Judged(const Candidate& candidate, Modality modality) const {
    const Judge judge(options_, &*guard_, [this](size_t, const Digest&) { return difference_; });
    Asked asked = {&query_, "Is the cup red?", "Is the cup red?", {}, DigestOf(50)};
    asked.pictures.push_back(DigestOf(1));
    return judge.Report(candidate, asked, TestLayer(modality));
  }
  std::string Refused(const Candidate& candidate, Modality modality) const {
    return Judged(candidate, modality).refused;
  }

  CacheOptions options_;
  const Query query_;
  const Result<TextGuard> guard_ = TextGuard::Open("");
  std::optional<double> difference_ = 0.2;
};

constexpr const char* kSame = "is the cup RED?";
constexpr const char* kLike = "Can you tell me if the cup is red?";
constexpr const char* kFlip = "Is the cup blue?";

TEST_F(JudgeTest, AMatchLicensesWhatItMatched) {
  EXPECT_EQ(Judged(Donor(kLike, 1), Modality::kText).substitution, "question");
  EXPECT_EQ(Judged(Donor(kFlip, 2), Modality::kImage).substitution, "picture");
  EXPECT_EQ(Judged(Donor(kLike, 2), Modality::kJoint).substitution, "question and picture");
  options_.license_whole = true;
  EXPECT_EQ(Judged(Donor(kLike, 2), Modality::kImage).substitution, "question and picture");
  EXPECT_EQ(Judged(Donor(kLike, 1), Modality::kImage).substitution, "question");
}

TEST_F(JudgeTest, TheThresholdComesFirst) {
  EXPECT_EQ(Refused(Donor(kFlip, 2, 0.7), Modality::kText), "threshold: 0.700 is under 0.800");
}

TEST_F(JudgeTest, TheGuardNamesTheWordsAndCanBeSwitchedOff) {
  EXPECT_EQ(Refused(Donor(kLike, 1), Modality::kText), "");
  const std::string why = Refused(Donor(kFlip, 1), Modality::kText);
  EXPECT_TRUE(why.starts_with("text guard: ")) << why;
  EXPECT_NE(why.find("blue"), std::string::npos) << why;
  EXPECT_EQ(Refused(Donor(kFlip, 2), Modality::kImage), "") << "its question is not put in";
  options_.license_whole = true;
  EXPECT_TRUE(Refused(Donor(kFlip, 2), Modality::kImage).starts_with("text guard: "));
}

TEST_F(JudgeTest, TheSameQuestionButForCaseIsNoBusinessOfTheGuards) {
  const CandidateReport judged = Judged(Donor(kSame, 1), Modality::kText);
  EXPECT_EQ(judged.reuse_class, ReuseClass::kNormalized);
  EXPECT_EQ(judged.refused, "");
}

TEST_F(JudgeTest, AnotherPictureMustBeNear) {
  const Candidate donor = Donor(kFlip, 2);
  EXPECT_EQ(Refused(donor, Modality::kImage), "");
  EXPECT_EQ(Judged(donor, Modality::kImage).passed.back(),
            "image gate: no place differs by more than 0.2, at most 0.4");
  difference_ = 0.5;
  EXPECT_EQ(Refused(donor, Modality::kImage), "image gate: one place differs by 0.5, more than 0.4");
  difference_.reset();
  EXPECT_EQ(Refused(donor, Modality::kImage), "image gate: nothing is kept to compare the pictures with");
  difference_ = 0.2;
  options_.near_score = 0.95;
  EXPECT_EQ(Refused(donor, Modality::kImage), "image gate: a score of 0.900 is under 0.950");
  options_.image_gate = ImageGate::kExact;
  EXPECT_EQ(Refused(donor, Modality::kImage), "image gate: another picture");
  options_.image_gate = ImageGate::kOff;
  difference_ = 255;
  EXPECT_EQ(Refused(donor, Modality::kImage), "");
}

TEST_F(JudgeTest, ATextMatchIsForThisPictureUnlessTheGateIsOff) {
  EXPECT_EQ(Refused(Donor(kLike, 2), Modality::kText), "image gate: another picture");
  options_.image_gate = ImageGate::kOff;
  const CandidateReport judged = Judged(Donor(kLike, 2), Modality::kText);
  EXPECT_EQ(judged.refused, "");
  EXPECT_EQ(judged.substitution, "question and picture");
}

TEST_F(JudgeTest, TheWholeRequestOfATextMatchMustHaveANearPicture) {
  options_.license_whole = true;
  EXPECT_EQ(Refused(Donor(kLike, 2), Modality::kText), "");
  difference_ = 9;
  EXPECT_NE(Refused(Donor(kLike, 2), Modality::kText), "");
}

TEST_F(JudgeTest, AnotherNumberOfPicturesIsRefused) {
  Candidate donor = Donor(kLike, 2);
  donor.pictures.push_back(DigestOf(3));
  EXPECT_EQ(Refused(donor, Modality::kImage), "image gate: another number of pictures");
}

TEST_F(JudgeTest, WhereNothingIsLeftToSubstituteItIsRefused) {
  EXPECT_EQ(Refused(Donor(kFlip, 1), Modality::kImage), "the same picture: nothing to substitute");
  EXPECT_EQ(Refused(Donor("Is the cup red?", 1), Modality::kText), "another conversation before the question");
}

TEST_F(JudgeTest, TheLoosestClassIsAGateToo) {
  options_.loosest = ReuseClass::kNormalized;
  EXPECT_EQ(Refused(Donor(kSame, 1), Modality::kText), "");
  EXPECT_EQ(Refused(Donor(kLike, 1), Modality::kText), "class approximate, and --reuse allows normalized at most");
}

TEST_F(JudgeTest, TheOracleReplacesThresholdImageGateAndGuard) {
  std::optional<bool> answer = true;
  options_.oracle = [&](const Query&, const afterimage::Donor&, bool, bool) { return answer; };
  difference_ = 255;
  EXPECT_EQ(Refused(Donor(kFlip, 1, 0.1), Modality::kText), "");
  EXPECT_EQ(Refused(Donor(kFlip, 2, 0.1), Modality::kImage), "");
  answer = false;
  EXPECT_EQ(Refused(Donor(kLike, 1), Modality::kText), "oracle: the labels say that they are not the same");
  answer.reset();
  EXPECT_EQ(Refused(Donor(kLike, 1), Modality::kText), "oracle: nothing is known about it");
}

}  // namespace
}  // namespace afterimage
