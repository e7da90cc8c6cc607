#include "engine/llama/gguf_file.h"

#include <fmt/format.h>
#include <gguf.h>

#include <filesystem>
#include <memory>

#include "engine/llama/llama_log.h"

namespace afterimage {
namespace {

struct GgufDeleter {
  void operator()(gguf_context* context) const { gguf_free(context); }
};

}  // namespace

Status CheckGgufFile(const char* what, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{Errc::kNotFound, fmt::format("{}: no file at '{}'", what, path)};
  }
  const std::unique_ptr<gguf_context, GgufDeleter> gguf(
      gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  if (gguf == nullptr) {
    return LlamaError(Errc::kInvalidArgument, fmt::format("{}: '{}' is not a GGUF file", what, path));
  }
  const uint64_t size = std::filesystem::file_size(path, error);
  for (int64_t i = 0; i < gguf_get_n_tensors(gguf.get()); ++i) {
    if (gguf_get_data_offset(gguf.get()) + gguf_get_tensor_offset(gguf.get(), i) + gguf_get_tensor_size(gguf.get(), i) >
        size) {
      return Error{Errc::kInvalidArgument, fmt::format("{}: '{}' is cut short: tensor {} is not all there", what, path,
                                                       gguf_get_tensor_name(gguf.get(), i))};
    }
  }
  return {};
}

}  // namespace afterimage
