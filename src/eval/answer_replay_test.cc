#include "eval/answer_replay.h"

#include <gtest/gtest.h>

#include "testing/manual_clock.h"

namespace afterimage {
namespace {

Query Asked(const std::string& id, const std::string& question, const std::string& image_path) {
  Query query;
  query.id = id;
  query.question = question;
  query.image_paths = {image_path};
  return query;
}

class AnswerReplayTest : public testing::Test {
 protected:
  AnswerReplayTest() {
    Served served;
    served.answer.text = "red";
    served.answer.tokens = {7};
    served.report.prompt_tokens = 60;
    replay_.Keep(Asked("1", "What color is it?", "a.png"), served);
    served.answer.text = "blue";
    replay_.Keep(Asked("2", "What color is it?", "b.png"), served);
  }

  AnswerReplay replay_;
  ManualClock clock_;
};

TEST_F(AnswerReplayTest, AQuestionAboutAnotherPictureGetsTheFirstAnswerAndSaysSo) {
  const std::optional<Served> served = replay_.Find(Asked("3", "What color is it?", "b.png"), clock_);
  ASSERT_TRUE(served.has_value());
  EXPECT_EQ(served->answer.text, "red");
  EXPECT_TRUE(served->report.hit());
  EXPECT_EQ(served->report.provenance, "answer:replay");
  EXPECT_EQ(served->report.reuse_class, ReuseClass::kApproximate);
  EXPECT_EQ(served->report.substitution, "picture");
  EXPECT_EQ(served->report.donor->id, "1");
  EXPECT_EQ(served->report.stats.tokens_reused, 60);
  EXPECT_EQ(served->report.stats.tokens_computed, 0);
}

TEST_F(AnswerReplayTest, TheSameRequestIsExact) {
  const std::optional<Served> served = replay_.Find(Asked("3", "What color is it?", "a.png"), clock_);
  ASSERT_TRUE(served.has_value());
  EXPECT_EQ(served->report.reuse_class, ReuseClass::kExact);
  EXPECT_EQ(served->report.substitution, "");
}

TEST_F(AnswerReplayTest, AnotherWordingIsAnotherQuestion) {
  EXPECT_FALSE(replay_.Find(Asked("3", "What colour is it?", "a.png"), clock_).has_value());
  EXPECT_FALSE(replay_.Find(Asked("3", "what color is it?", "a.png"), clock_).has_value());
}

}  // namespace
}  // namespace afterimage
