#include "cli/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "testing/manual_clock.h"

namespace afterimage {
namespace {

TEST(ProgressLine, ShowsShareAndTimeLeft) {
  EXPECT_EQ(ProgressLine(32, 128, 10, 40), "[###---------]  32/128  25 %  0:30 left");
  EXPECT_EQ(ProgressLine(0, 8, 2, 26), "[-------------]  0/8  0 %");
  EXPECT_EQ(ProgressLine(8, 8, 2, 40), "[##############]  8/8  100 %  0:00 left");
  EXPECT_EQ(ProgressLine(1, 4, 3600, 60), "[########------------------------]  1/4  25 %  3:00:00 left");
}

TEST(ProgressLine, WithoutATotalThereIsACount) { EXPECT_EQ(ProgressLine(7, std::nullopt, 65, 80), "7 done  1:05"); }

TEST(ProgressLine, NeverFillsTheLastColumn) {
  for (size_t width = 0; width < 100; ++width) {
    EXPECT_LT(ProgressLine(32, 128, 10, width).size(), std::max<size_t>(width, 1)) << width;
  }
}

class ProgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int child = -1;
    if (::openpty(&terminal_, &child, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "this machine has no terminals";
    out_ = ::fdopen(child, "w");
  }
  void TearDown() override {
    if (out_ == nullptr) return;
    std::fclose(out_);
    ::close(terminal_);
  }
  // What the terminal was sent; there must be something.
  std::string Sent() {
    char bytes[1000];
    const ssize_t n = ::read(terminal_, bytes, sizeof(bytes));
    return n > 0 ? std::string(bytes, static_cast<size_t>(n)) : "";
  }

  ManualClock clock_;
  int terminal_ = -1;
  std::FILE* out_ = nullptr;
};

TEST_F(ProgressTest, AppearsAfterASecondAndLeavesNothingBehind) {
  {
    Progress progress(out_, 4, clock_);
    progress.Show(1);  // too early: sends nothing
    clock_.AdvanceMs(1500);
    progress.Show(2);
    EXPECT_EQ(Sent(), "\r" + ProgressLine(2, 4, 1.5, 80) + "\x1b[K");
  }
  EXPECT_EQ(Sent(), "\r\x1b[K");
}

TEST(Progress, AFileIsNoTerminal) {
  ManualClock clock;
  std::FILE* file = std::tmpfile();
  {
    Progress progress(file, 4, clock);
    clock.AdvanceMs(5000);
    progress.Show(2);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace afterimage
