#include "engine/llama/llama_log.h"

#include <llama.h>
#include <mtmd-helper.h>

#include <mutex>
#include <utility>

namespace afterimage {
namespace {

constexpr size_t kMaxKept = 2000;

// Of the calls this thread made: one client's error must not be told to another.
thread_local std::string last_errors;

void OnLog(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR && text != nullptr && last_errors.size() < kMaxKept) last_errors += text;
}

}  // namespace

void CaptureLlamaLog() {
  static std::once_flag once;
  std::call_once(once, [] {
    mtmd_helper_log_set(OnLog, nullptr);
    llama_log_set(OnLog, nullptr);
    llama_backend_init();
  });
}

std::string TakeLlamaErrors() {
  std::string errors = std::exchange(last_errors, {});
  while (!errors.empty() && errors.back() == '\n') errors.pop_back();
  for (char& c : errors) {
    if (c == '\n') c = ';';
  }
  return errors;
}

Error LlamaError(Errc code, std::string message) {
  const std::string detail = TakeLlamaErrors();
  if (!detail.empty()) message += " (" + detail + ")";
  return Error{code, std::move(message)};
}

}  // namespace afterimage
