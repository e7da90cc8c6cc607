#include "embed/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace afterimage {
namespace {

constexpr size_t kKeptOutputBytes = 4096;
constexpr std::chrono::milliseconds kTimeToEnd{500};

Error SystemError(std::string_view what, int error_number) {
  return Error{Errc::kIo, fmt::format("{}: {}.", what, std::system_category().message(error_number))};
}

// Out of the way of descriptors 0 to 3, which the program's own are put on one by one: this process may have closed
// some of them, and a new pipe would be given their numbers.
int MovedUp(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
  close(descriptor);
  return moved;
}

// posix_spawn and not fork: other threads of this process may hold any lock at this moment.
Result<pid_t> Spawn(const std::vector<std::string>& arguments, int socket, int output, int lifeline) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, lifeline, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);

  // What this process blocks or ignores is no business of the program's.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT) return Error{Errc::kNotFound, fmt::format("There is no program '{}'.", arguments[0])};
  if (failed != 0) return SystemError(fmt::format("Cannot start '{}'", arguments[0]), failed);
  return pid;
}

std::string Fate(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("It exited with status {}.", WEXITSTATUS(wait_status));
  if (WIFSIGNALED(wait_status)) {
    return fmt::format("It was ended by signal {} ({}).", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  }
  return "It ended.";
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::vector<std::string>& arguments) {
  std::array<int, 2> socket{-1, -1};
  std::array<int, 2> output{-1, -1};
  std::array<int, 2> lifeline{-1, -1};
  const bool made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket.data()) == 0 &&
                    pipe2(output.data(), O_CLOEXEC) == 0 && pipe2(lifeline.data(), O_CLOEXEC) == 0;
  const int error_number = errno;
  const Fd child_socket(MovedUp(socket[1]));
  const Fd child_output(MovedUp(output[1]));
  const Fd child_lifeline(MovedUp(lifeline[0]));
  // The process takes the ends that stay here, so that they are closed on every way out.
  std::unique_ptr<ChildProcess> child(new ChildProcess(0, socket[0], output[0], lifeline[1]));
  child->reaped_ = true;
  if (!made) return SystemError("Cannot make pipes", error_number);
  if (child_socket.number < 0 || child_output.number < 0 || child_lifeline.number < 0) {
    return SystemError("Cannot make pipes", EMFILE);
  }
  fcntl(child->output_.number, F_SETFL, O_NONBLOCK);
  const Result<pid_t> pid = Spawn(arguments, child_socket.number, child_output.number, child_lifeline.number);
  if (!pid.ok()) return pid.error();
  child->pid_ = *pid;
  child->reaped_ = false;
  return child;
}

ChildProcess::~ChildProcess() { KillAndReap(); }

Status ChildProcess::Send(std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    Status ready = WaitFor(POLLOUT, deadline);
    if (!ready.ok()) return ready;
    const ssize_t sent = send(socket_.number, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes = bytes.subspan(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return SystemError("It does not listen", errno);
  }
  return {};
}

Status ChildProcess::Receive(std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    Status ready = WaitFor(POLLIN, deadline);
    if (!ready.ok()) return ready;
    const ssize_t received = recv(socket_.number, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received > 0) bytes = bytes.subspan(static_cast<size_t>(received));
    if (received == 0) return Error{Errc::kIo, "It has closed its end."};
    if (received < 0 && errno != EAGAIN && errno != EINTR) return SystemError("It does not answer", errno);
  }
  return {};
}

// Meanwhile its output is read, or a program that prints much would wait for us and we for it.
Status ChildProcess::WaitFor(short events, Deadline deadline) {
  for (;;) {
    std::array<pollfd, 2> polled{{{socket_.number, events, 0}, {output_ended_ ? -1 : output_.number, POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    const int timeout_ms = static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
    const int ready = poll(polled.data(), polled.size(), timeout_ms);
    if (ready < 0 && errno != EINTR) return SystemError("Cannot wait for it", errno);
    if (ready > 0 && polled[1].revents != 0) KeepOutput();
    if (ready > 0 && polled[0].revents != 0) return {};
    if (std::chrono::steady_clock::now() >= deadline) return Error{Errc::kBusy, "It has not answered in time."};
  }
}

// What there is to read now, up to a limit: a program that prints without end must not keep us here.
void ChildProcess::KeepOutput() {
  std::array<char, 4096> buffer;
  for (int i = 0; i < 16; ++i) {
    const ssize_t n = read(output_.number, buffer.data(), buffer.size());
    if (n == 0) output_ended_ = true;
    if (n <= 0) return;
    last_output_.append(buffer.data(), static_cast<size_t>(n));
    if (last_output_.size() > kKeptOutputBytes) last_output_.erase(0, last_output_.size() - kKeptOutputBytes);
  }
}

// It is left unreaped, so that its number stays that of its process group.
bool ChildProcess::HasEnded() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

std::string ChildProcess::Kill() {
  shutdown(socket_.number, SHUT_RDWR);
  const Deadline until = std::chrono::steady_clock::now() + kTimeToEnd;
  bool ended = HasEnded();
  while (!ended && std::chrono::steady_clock::now() < until) {
    pollfd polled{output_ended_ ? -1 : output_.number, POLLIN, 0};
    if (poll(&polled, 1, 5) > 0) KeepOutput();
    ended = HasEnded();
  }
  KeepOutput();
  KillAndReap();
  return ended ? Fate(wait_status_) : "It was killed.";
}

void ChildProcess::KillAndReap() {
  if (reaped_) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

}  // namespace afterimage
