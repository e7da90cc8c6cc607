#include "engine/llama/llama_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <string_view>

#include "core/file_digest.h"
#include "core/sha256.h"

namespace afterimage {
namespace {

using Fields = IdentityPart::Fields;

// Changes when the meaning of stored rows changes in a way no other field tells.
constexpr char kRowsVersion[] = "kv-rows/1";
constexpr char kPixelsVersion[] = "rgb8/1";

std::string Devices() {
  std::string names;
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    if (!names.empty()) names += ",";
    names += ggml_backend_dev_name(ggml_backend_dev_get(i));
  }
  return names;
}

std::string MetaOr(const llama_model* model, const std::string& key, const std::string& fallback) {
  std::array<char, 256> value;
  const int32_t n = llama_model_meta_val_str(model, key.c_str(), value.data(), value.size());
  return n < 0 ? fallback : std::string(value.data());
}

Result<Fields> CompatibilityFields(const LlamaRuntime& runtime, const LlamaOptions& options) {
  Fields fields;
  const Result<std::string> weights = WeightsOf(options.model_path, options.file_digest_cache);
  if (!weights.ok()) return weights.error();
  fields.emplace_back("weights and tokenizer", *weights);
  std::string projector = "none";
  if (!options.mmproj_path.empty()) {
    const Result<Digest> digest = FileDigests(options.file_digest_cache).Of(options.mmproj_path);
    if (!digest.ok()) return digest.error();
    projector = digest->Hex();
  }
  fields.emplace_back("projector", projector);
  fields.emplace_back("preprocessing", fmt::format("{} min_tokens={} max_tokens={}", kPixelsVersion,
                                                   options.image_min_tokens, options.image_max_tokens));
  const char* own_template = llama_model_chat_template(runtime.model(), nullptr);
  const std::string chat_template =
      !options.chat_template.empty() ? options.chat_template : (own_template != nullptr ? own_template : "");
  fields.emplace_back("chat template", Sha256().Add(chat_template).Finish().Hex());
  fields.emplace_back("kv types", options.k_type + "/" + options.v_type);
  // RoPE is the model file's alone: the adapter sets no override. Named here so that a mismatch can be read.
  const std::string arch = MetaOr(runtime.model(), "general.architecture", "?");
  fields.emplace_back("rope",
                      fmt::format("type={} base={} scale={}", static_cast<int>(llama_model_rope_type(runtime.model())),
                                  MetaOr(runtime.model(), arch + ".rope.freq_base", "default"),
                                  llama_model_rope_freq_scale_train(runtime.model())));
  fields.emplace_back("flash attention", options.flash_attention ? "on" : "off");
  fields.emplace_back("segments", fmt::format("{} tokens, last alone", kMaxTextSegmentTokens));
  fields.emplace_back("layout", kRowsVersion);
  return fields;
}

Fields NumericsFields(const LlamaRuntime& runtime, const LlamaOptions& options) {
  return {{"engine", LlamaBuild()},
          {"processor features", llama_print_system_info()},
          {"devices", Devices()},
          {"gpu layers", std::to_string(options.gpu_layers)},
          {"threads", std::to_string(runtime.threads())},
          {"batch tokens", std::to_string(options.batch_tokens)}};
}

}  // namespace

Result<Identity> IdentityOf(const LlamaRuntime& runtime, const LlamaOptions& options) {
  Result<Fields> compatibility = CompatibilityFields(runtime, options);
  if (!compatibility.ok()) return compatibility.error();
  return Identity{IdentityPart(std::move(*compatibility)), IdentityPart(NumericsFields(runtime, options))};
}

std::vector<std::string> ModelFiles(const std::string& path) {
  constexpr std::string_view kFirst = "-00001-of-";
  constexpr std::string_view kEnding = ".gguf";
  constexpr size_t kDigits = 5;
  const size_t suffix = kFirst.size() + kDigits + kEnding.size();
  if (path.size() <= suffix || !path.ends_with(kEnding)) return {path};
  const std::string prefix = path.substr(0, path.size() - suffix);
  const std::string digits = path.substr(prefix.size() + kFirst.size(), kDigits);
  if (path.compare(prefix.size(), kFirst.size(), kFirst) != 0 ||
      digits.find_first_not_of("0123456789") != std::string::npos || std::stoi(digits) == 0) {
    return {path};
  }
  std::vector<std::string> files;
  for (int i = 1; i <= std::stoi(digits); ++i) files.push_back(fmt::format("{}-{:05}-of-{}.gguf", prefix, i, digits));
  return files;
}

Result<std::string> WeightsOf(const std::string& path, const std::string& file_digest_cache) {
  FileDigests digests(file_digest_cache);
  std::string weights;
  for (const std::string& file : ModelFiles(path)) {
    const Result<Digest> digest = digests.Of(file);
    if (!digest.ok()) return digest.error();
    weights += (weights.empty() ? "" : "+") + digest->Hex();
  }
  return weights;
}

std::string FileStamps(const LlamaOptions& options) {
  std::vector<std::string> files = ModelFiles(options.model_path);
  files.push_back(options.mmproj_path);
  std::string stamps;
  for (const std::string& file : files) {
    struct stat info{};
    if (::stat(file.c_str(), &info) != 0) continue;
    stamps += fmt::format("{} {} {} {}.{} {}.{};", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                          info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  }
  return stamps;
}

Digest PreprocessingOf(const Identity& identity) {
  Sha256 hash;
  for (const auto& [name, value] : identity.compatibility.fields()) {
    if (name == "projector" || name == "preprocessing") hash.Add(value);
  }
  return hash.Finish();
}

std::string LlamaBuild() { return fmt::format("llama.cpp {} ({})", llama_version(), ggml_commit()); }

}  // namespace afterimage
