#include "embed/remembering_encoder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace afterimage {
namespace {

std::vector<float> VectorOf(std::string_view text) { return {static_cast<float>(text.size()), 1}; }

// Writes down what it was asked; an empty text is an error.
class LoggingEncoder : public TextEncoder {
 public:
  explicit LoggingEncoder(std::vector<std::string>& log) : log_(log) {}

  int dim() const override { return 2; }
  const std::string& identity() const override { return identity_; }
  Result<std::vector<float>> Encode(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    log_.emplace_back(text);
    if (text.empty()) return Error{Errc::kInvalidArgument, "nothing to encode"};
    return VectorOf(text);
  }

 private:
  const std::string identity_ = "logging/1";
  std::mutex mutex_;
  std::vector<std::string>& log_;
};

using Log = std::vector<std::string>;

class Remembering : public testing::Test {
 protected:
  std::unique_ptr<TextEncoder> Make(size_t capacity) {
    return std::make_unique<RememberingEncoder>(std::make_unique<LoggingEncoder>(log_), capacity);
  }
  Log log_;
};

TEST_F(Remembering, ATextIsEncodedOnce) {
  const auto encoder = Make(2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(encoder->Encode("one").value(), VectorOf("one"));
    EXPECT_EQ(encoder->Encode("three").value(), VectorOf("three"));
  }
  EXPECT_EQ(log_, (Log{"one", "three"}));
}

TEST_F(Remembering, TheTextThatWasNotUsedForLongestIsForgotten) {
  const auto encoder = Make(2);
  for (const char* text : {"a", "bb", "a", "ccc", "a", "bb"}) EXPECT_EQ(encoder->Encode(text).value(), VectorOf(text));
  EXPECT_EQ(log_, (Log{"a", "bb", "ccc", "bb"}));
}

TEST_F(Remembering, TheCallersTextNeedNotOutliveTheCall) {
  const auto encoder = Make(2);
  std::string text = "a text that is too long to lie inside of a std::string";
  const std::vector<float> expected = VectorOf(text);
  EXPECT_EQ(encoder->Encode(text).value(), expected);
  const std::string same = text;
  text.assign(text.size(), 'x');
  EXPECT_EQ(encoder->Encode(same).value(), expected);
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(Remembering, ErrorsAreNotRemembered) {
  const auto encoder = Make(2);
  EXPECT_EQ(encoder->Encode("").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(encoder->Encode("").error().message, "nothing to encode");
  EXPECT_EQ(log_.size(), 2u);
}

TEST_F(Remembering, IsOtherwiseTheEncoderItHolds) {
  const auto encoder = Make(1);
  EXPECT_EQ(encoder->dim(), 2);
  EXPECT_EQ(encoder->identity(), "logging/1");
}

TEST_F(Remembering, ThreadsGetTheVectorsOfTheirTexts) {
  const auto encoder = Make(3);
  std::atomic<bool> wrong = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string text(static_cast<size_t>(1 + (i * (t + 1)) % 5), 'a');
        if (encoder->Encode(text).value() != VectorOf(text)) wrong = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace afterimage
