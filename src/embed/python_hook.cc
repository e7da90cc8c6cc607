#include "embed/python_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <regex>
#include <utility>

#include "embed/child_process.h"
#include "embed/python_messages.h"
#include "embed/sources.h"
#include "python_hook_script.h"

namespace afterimage {
namespace {

using Vector = std::vector<float>;
using Deadline = ChildProcess::Deadline;

constexpr int kMaxRestarts = 3;

std::string WithOutput(std::string message, const ChildProcess& child) {
  const size_t last = child.last_output().find_last_not_of(" \n\r\t");
  if (last == std::string::npos) return message;
  return message + " It printed last:\n" + child.last_output().substr(0, last + 1);
}

class PythonHook : public EmbeddingHook {
 public:
  PythonHook(std::string module, std::string factory, PythonHookOptions options)
      : module_(std::move(module)), factory_(std::move(factory)), options_(std::move(options)) {}

  Status Start() {
    Result<Started> started = StartProcess();
    if (!started.ok()) {
      return Error{started.error().code,
                   fmt::format("The embedding hook '{}' did not start. {}", name(), started.error().message)};
    }
    child_ = std::move(started->child);
    sources_ = std::move(started->sources);
    return {};
  }

  std::span<const EmbeddingSource> sources() const override { return sources_; }

  Result<std::vector<Vector>> Embed(std::span<const std::string> names, const EmbeddingInput& input) override {
    const std::lock_guard lock(mutex_);
    if (child_ == nullptr) {
      const Status restarted = Restart();
      if (!restarted.ok()) return restarted.error();
    }
    const Result<Message> answer = Converse(names, input);
    if (!answer.ok()) return Fail(answer.error());
    Result<std::vector<Vector>> vectors = VectorsOf(*answer, names, sources_);
    if (vectors.ok() || vectors.error().code == Errc::kNotFound) return vectors;
    if (vectors.error().code == Errc::kCorrupt) return Fail(vectors.error());
    return Error{vectors.error().code, fmt::format("The embedding hook '{}': {}", name(), vectors.error().message)};
  }

 private:
  struct Started {
    std::unique_ptr<ChildProcess> child;
    std::vector<EmbeddingSource> sources;
  };

  std::string name() const { return module_ + ":" + factory_; }

  Result<Started> StartProcess() const {
    Result<std::unique_ptr<ChildProcess>> child =
        ChildProcess::Start({options_.python, "-c", kPythonHookScript, module_, factory_});
    if (!child.ok()) return child.error();
    const Deadline deadline = std::chrono::steady_clock::now() + options_.start_limit;
    const Result<Message> first = ReceiveMessage(**child, 0, deadline);
    if (!first.ok()) return Epitaph(first.error(), **child, options_.start_limit);
    if (first->header.contains("error")) {
      (*child)->Kill();
      return Error{Errc::kInternal, WithOutput(TextOf(first->header, "error"), **child)};
    }
    Result<std::vector<EmbeddingSource>> sources = SourcesOf(*first);
    if (!sources.ok()) return sources.error();
    return Started{std::move(*child), std::move(*sources)};
  }

  // Sends the request and answers what the process asks, up to its last message.
  Result<Message> Converse(std::span<const std::string> names, const EmbeddingInput& input) {
    Deadline deadline = std::chrono::steady_clock::now() + options_.call_limit;
    const uint64_t max_payload_bytes = names.size() * sizeof(float) * kMaxEmbeddingDim;
    Status sent = SendMessage(*child_, RequestHeader(names, input), {}, deadline);
    while (sent.ok()) {
      Result<Message> message = ReceiveMessage(*child_, max_payload_bytes, deadline);
      if (!message.ok() || !message->header.contains("ask")) return message;
      sent = SendAsked(*child_, TextOf(message->header, "ask"), input, deadline);
    }
    return sent.error();
  }

  // Kills the process, and says what happened to it.
  static Error Epitaph(const Error& cause, ChildProcess& child, std::chrono::milliseconds limit) {
    std::string message = cause.message;
    if (cause.code == Errc::kBusy) {
      message = fmt::format("It did not answer within {} s.", static_cast<double>(limit.count()) / 1000);
    }
    message += " " + child.Kill();
    return Error{Errc::kInternal, WithOutput(std::move(message), child)};
  }

  Error Fail(const Error& cause) {
    last_failure_ = Epitaph(cause, *child_, options_.call_limit).message;
    child_.reset();
    return Error{Errc::kInternal, fmt::format("The embedding hook '{}' failed. {}", name(), last_failure_)};
  }

  Status Restart() {
    if (restarts_ == kMaxRestarts) {
      return Error{Errc::kInternal, fmt::format("The embedding hook '{}' is out of service: it was restarted {} times "
                                                "and failed again. {}",
                                                name(), kMaxRestarts, last_failure_)};
    }
    ++restarts_;
    Result<Started> started = StartProcess();
    if (started.ok() && !std::ranges::equal(started->sources, sources_, SameSource)) {
      started = Error{Errc::kInternal, "Its sources are no longer those it had at first."};
    }
    if (!started.ok()) {
      last_failure_ = started.error().message;
      return Error{Errc::kInternal,
                   fmt::format("The embedding hook '{}' did not start again. {}", name(), last_failure_)};
    }
    child_ = std::move(started->child);
    return {};
  }

  static bool SameSource(const EmbeddingSource& a, const EmbeddingSource& b) {
    return a.name == b.name && a.dim == b.dim && a.modality == b.modality && a.identity == b.identity;
  }

  const std::string module_;
  const std::string factory_;
  const PythonHookOptions options_;
  std::vector<EmbeddingSource> sources_;
  std::mutex mutex_;                     // for all below: one conversation at a time
  std::unique_ptr<ChildProcess> child_;  // null after a failure
  int restarts_ = 0;
  std::string last_failure_;
};

}  // namespace

Result<std::unique_ptr<EmbeddingHook>> NewPythonHook(const std::string& spec, const PythonHookOptions& options) {
  static const std::regex kForm(R"(([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*))");
  std::smatch match;
  if (!std::regex_match(spec, match, kForm)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("'{}' does not name a Python hook: that is package.module:Factory.", spec)};
  }
  auto hook = std::make_unique<PythonHook>(match[1], match[2], options);
  const Status started = hook->Start();
  if (!started.ok()) return started.error();
  return std::unique_ptr<EmbeddingHook>(std::move(hook));
}

}  // namespace afterimage
