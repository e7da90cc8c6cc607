// ChildProcess: a program we talk to over a socket, with limits of time.
//
// The program finds the socket at descriptor 3. What it prints, to standard output or error, is kept for error messages
// (the last of it) and never shown. Its standard input never has anything to read, and ends when this process does, by
// which it can tell. It has a process group of its own, so that it can be killed with all it started and is not reached
// by Ctrl-C at the terminal. No other descriptor of ours is open in it.
//
// Thread safety: for one thread at a time.
#ifndef AFTERIMAGE_EMBED_CHILD_PROCESS_H_
#define AFTERIMAGE_EMBED_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/result.h"
#include "core/posix_file.h"

namespace afterimage {

class ChildProcess {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Looks for arguments[0] along PATH. Errors: kNotFound, kIo.
  static Result<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& arguments);
  // Kills the program, and all of its process group, if that has not happened yet.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }

  // All bytes, or an error. Errors: kIo (it has ended, or closed its end), kBusy (not done by the deadline). After an
  // error the two sides no longer agree on where a message begins: there is only Kill().
  Status Send(std::span<const std::byte> bytes, Deadline deadline);
  Status Receive(std::span<std::byte> bytes, Deadline deadline);

  // Gives it a moment to end by itself, kills what is left, and returns how it ended: "It exited with status 1."
  std::string Kill();

  // The last lines it printed, as far as they have been read; after Kill(), all of them. At most 4 KiB.
  const std::string& last_output() const { return last_output_; }

 private:
  ChildProcess(pid_t pid, int socket, int output, int lifeline)
      : pid_(pid), socket_(socket), output_(output), lifeline_(lifeline) {}

  Status WaitFor(short events, Deadline deadline);
  void KeepOutput();
  bool HasEnded() const;
  void KillAndReap();

  pid_t pid_;
  Fd socket_;
  Fd output_;    // what it prints
  Fd lifeline_;  // its standard input
  std::string last_output_;
  bool output_ended_ = false;
  bool reaped_ = false;
  int wait_status_ = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_CHILD_PROCESS_H_
