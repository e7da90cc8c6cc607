#include "engine/llama/llama_log.h"

#include <llama.h>
#include <mtmd-helper.h>

#include <mutex>
#include <utility>

namespace afterimage {
namespace {

constexpr size_t kMaxKept = 2000;

std::mutex log_mutex;
std::string last_errors;  // guarded by log_mutex

void OnLog(ggml_log_level level, const char* text, void*) {
  if (level != GGML_LOG_LEVEL_ERROR || text == nullptr) return;
  const std::lock_guard lock(log_mutex);
  if (last_errors.size() > kMaxKept) return;
  last_errors += text;
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
  std::string errors;
  {
    const std::lock_guard lock(log_mutex);
    errors = std::exchange(last_errors, {});
  }
  while (!errors.empty() && errors.back() == '\n') errors.pop_back();
  for (char& c : errors) {
    if (c == '\n') c = ';';
  }
  return errors;
}

}  // namespace afterimage
