#include "embed/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace afterimage {
namespace {

using std::chrono::milliseconds;

ChildProcess::Deadline In(milliseconds time) { return std::chrono::steady_clock::now() + time; }
ChildProcess::Deadline Soon() { return In(milliseconds(100)); }
ChildProcess::Deadline Later() { return In(std::chrono::minutes(2)); }

std::unique_ptr<ChildProcess> Shell(const std::string& script) {
  return ChildProcess::Start({"sh", "-c", script}).value();
}

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// The next n bytes it sends, or "" if they do not come.
std::string Hear(ChildProcess& child, size_t n) {
  std::string text(n, ' ');
  return child.Receive(std::as_writable_bytes(std::span(text)), Later()).ok() ? text : "";
}

Errc WhyNothingIsHeard(ChildProcess& child, ChildProcess::Deadline deadline) {
  std::array<std::byte, 1> byte;
  return child.Receive(byte, deadline).error().code;
}

size_t OpenDescriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

bool Exists(pid_t pid) { return std::filesystem::exists("/proc/" + std::to_string(pid)); }

// An orphan that has ended exists until somebody asks for it, and who that is is not up to us.
bool Runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number;
  std::string name;
  char state = 'Z';
  file >> number >> name >> state;
  return state != 'Z' && state != 'X';
}

TEST(ChildProcessTest, BytesGoBothWays) {
  const auto child = Shell("head -c 5 <&3 | tr a-z A-Z >&3");
  ASSERT_TRUE(child->Send(Bytes("hello"), Later()).ok());
  EXPECT_EQ(Hear(*child, 5), "HELLO");
}

TEST(ChildProcessTest, AProgramThatPrintsMuchDoesNotStopUs) {
  const auto child =
      Shell("head -c 1000000 /dev/zero | tr '\\0' x; echo the end >&2; head -c 300000 <&3 >/dev/null; printf done >&3");
  ASSERT_TRUE(child->Send(Bytes(std::string(300000, 'y')), Later()).ok());
  EXPECT_EQ(Hear(*child, 4), "done");
  child->Kill();
  EXPECT_TRUE(child->last_output().ends_with("xxxthe end\n")) << child->last_output();
  EXPECT_LE(child->last_output().size(), 4096u);
}

TEST(ChildProcessTest, AnEndIsToldFromBeingLate) {
  const auto ended = Shell("echo sorry >&2; exit 7");
  EXPECT_EQ(WhyNothingIsHeard(*ended, Later()), Errc::kIo);
  EXPECT_EQ(ended->Kill(), "It exited with status 7.");
  EXPECT_EQ(ended->last_output(), "sorry\n");

  const auto late = Shell("sleep 1000");
  EXPECT_EQ(WhyNothingIsHeard(*late, Soon()), Errc::kBusy);
  EXPECT_EQ(late->Kill(), "It was killed.");
}

TEST(ChildProcessTest, AProgramThatDoesNotListenIsLate) {
  const auto child = Shell("sleep 1000");
  EXPECT_EQ(child->Send(Bytes(std::string(10 << 20, 'y')), Soon()).error().code, Errc::kBusy);
}

TEST(ChildProcessTest, SendingToAnEndedProgramIsAnErrorNotASignal) {
  const auto child = Shell("exit 0");
  EXPECT_EQ(child->Send(Bytes(std::string(10 << 20, 'y')), Later()).error().code, Errc::kIo);
}

TEST(ChildProcessTest, ASignalThatEndedItIsNamed) {
  const auto child = Shell("kill -SEGV $$");
  EXPECT_EQ(WhyNothingIsHeard(*child, Later()), Errc::kIo);
  EXPECT_NE(child->Kill().find("signal 11"), std::string::npos);
}

TEST(ChildProcessTest, AProgramThatIsNotThereIsAnErrorAndLeavesNothing) {
  const size_t before = OpenDescriptors();
  const auto child = ChildProcess::Start({"no-such-program-anywhere"});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code, Errc::kNotFound);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(ChildProcessTest, NeitherDescriptorsNorProcessesAreLeftBehind) {
  const size_t before = OpenDescriptors();
  pid_t pid = 0;
  pid_t grandchild = 0;
  {
    const auto child = Shell("sleep 1000 & printf '%08d' $! >&3; wait");
    pid = child->pid();
    grandchild = std::stoi(Hear(*child, 8));
    ASSERT_TRUE(Runs(pid));
    ASSERT_TRUE(Runs(grandchild));
  }
  EXPECT_FALSE(Exists(pid));
  while (Runs(grandchild)) std::this_thread::sleep_for(milliseconds(5));  // killed, and soon gone
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST(ChildProcessTest, WhatAnEndedProgramLeftRunningIsKilledToo) {
  const auto child = Shell("sleep 1000 & printf '%08d' $! >&3");
  const pid_t grandchild = std::stoi(Hear(*child, 8));
  child->Kill();
  EXPECT_FALSE(Exists(child->pid()));
  while (Runs(grandchild)) std::this_thread::sleep_for(milliseconds(5));
}

TEST(ChildProcessTest, NoOtherDescriptorIsOpenInIt) {
  const Fd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd leaked(fcntl(file.number, F_DUPFD, 7));  // without close-on-exec, as code of others opens files
  ASSERT_GE(leaked.number, 7);
  const auto child = Shell("for i in 4 5 6 7 8; do [ -e /proc/$$/fd/$i ] && printf open >&3; done; printf none >&3");
  EXPECT_EQ(Hear(*child, 4), "none");
}

TEST(ChildProcessTest, OurIgnoredSignalsAreNotItsOwn) {
  const auto before = signal(SIGIO, SIG_IGN);
  const auto child = Shell("kill -IO $$; printf survived >&3");
  EXPECT_EQ(Hear(*child, 8), "");
  signal(SIGIO, before);
}

}  // namespace
}  // namespace afterimage
