#include "afterimage/llama_text_encoder.h"

#include <fmt/format.h>
#include <llama-cpp.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "core/utf8.h"
#include "engine/llama/gguf_file.h"
#include "engine/llama/guarded.h"
#include "engine/llama/llama_identity.h"
#include "engine/llama/llama_log.h"

namespace afterimage {
namespace {

// Changes when the same weights would give other vectors in a way no other part of the identity tells.
constexpr char kVersion[] = "text-encoder/1";
constexpr int kMaxTokens = 512;
// What is tokenised of a text. The tokens that count lie far before it, and llama.cpp counts bytes in 32 bits. A
// character cut in two at its end is no token: llama.cpp drops what is not UTF-8.
constexpr size_t kMaxBytes = 1 << 16;

class LlamaTextEncoder : public TextEncoder {
 public:
  // The identity is set when all is loaded.
  Status Load(const std::string& path, int threads) {
    llama_model_params model_params = llama_model_default_params();
    ggml_backend_dev_t no_devices = nullptr;  // an empty list: neither weights nor single operations go to a GPU
    model_params.devices = &no_devices;
    model_params.n_gpu_layers = 0;
    model_.reset(llama_model_load_from_file(path.c_str(), model_params));
    if (model_ == nullptr) {
      return LlamaError(Errc::kInvalidArgument, fmt::format("cannot load the text encoder '{}'", path));
    }
    max_tokens_ = std::min(llama_model_n_ctx_train(model_.get()), kMaxTokens);
    llama_context_params params = llama_context_default_params();
    params.embeddings = true;
    // llama.cpp encodes a text in one batch or ends the process.
    params.n_ctx = params.n_batch = params.n_ubatch = static_cast<uint32_t>(max_tokens_);
    params.n_seq_max = 1;
    params.n_threads = params.n_threads_batch = threads;
    params.no_perf = true;
    context_.reset(llama_init_from_model(model_.get(), params));
    if (context_ == nullptr) {
      return LlamaError(Errc::kInvalidArgument, fmt::format("cannot make a context for the text encoder '{}'", path));
    }
    if (llama_get_memory(context_.get()) != nullptr || llama_model_has_encoder(model_.get())) {
      return Error{Errc::kUnsupported,
                   fmt::format("'{}' is no text encoder: it generates text; give a BERT-like model", path)};
    }
    const enum llama_pooling_type pooling = llama_pooling_type(context_.get());
    if (pooling != LLAMA_POOLING_TYPE_MEAN && pooling != LLAMA_POOLING_TYPE_CLS && pooling != LLAMA_POOLING_TYPE_LAST) {
      return Error{Errc::kUnsupported,
                   fmt::format("'{}' does not say how it makes one vector of a text (pooling)", path)};
    }
    return {};
  }

  void set_identity(std::string identity) { identity_ = std::move(identity); }

  int dim() const override { return llama_model_n_embd_out(model_.get()); }
  const std::string& identity() const override { return identity_; }

  Result<std::vector<float>> Encode(std::string_view text) override {
    if (!IsValidUtf8(text)) return Error{Errc::kInvalidArgument, "a text to encode that is not UTF-8"};
    if (text.find('\0') != std::string_view::npos) {
      return Error{Errc::kInvalidArgument, "a text to encode with a NUL in it"};
    }
    return Guarded("encoding a text", [&]() -> Result<std::vector<float>> {
      std::vector<llama_token> tokens = Tokenize(text.substr(0, kMaxBytes));
      if (tokens.empty()) return LlamaError(Errc::kInternal, "the text encoder's tokenizer gave nothing");
      const std::lock_guard lock(mutex_);
      if (llama_encode(context_.get(), llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))) != 0) {
        return LlamaError(Errc::kInternal, "the text encoder failed");
      }
      const float* pooled = llama_get_embeddings_seq(context_.get(), 0);
      if (pooled == nullptr) return LlamaError(Errc::kInternal, "the text encoder gave no vector");
      return Unit({pooled, pooled + dim()});
    });
  }

 private:
  // With the tokens that begin and end a text. REQUIRES: at most kMaxBytes.
  std::vector<llama_token> Tokenize(std::string_view text) const {
    const llama_vocab* vocab = llama_model_get_vocab(model_.get());
    std::vector<llama_token> tokens(text.size() + 2);
    const auto tokenize = [&] {
      return llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                            static_cast<int32_t>(tokens.size()), /*add_special=*/true, /*parse_special=*/false);
    };
    int32_t n = tokenize();
    if (n < 0) {
      tokens.resize(static_cast<size_t>(-n));
      n = tokenize();
    }
    tokens.resize(static_cast<size_t>(std::max(n, 0)));
    if (tokens.size() > static_cast<size_t>(max_tokens_)) {
      const llama_token last = tokens.back();  // the one that ends a text
      tokens.resize(static_cast<size_t>(max_tokens_));
      tokens.back() = last;
    }
    return tokens;
  }

  static Result<std::vector<float>> Unit(std::vector<float> vector) {
    double square = 0;
    for (const float x : vector) square += double{x} * double{x};
    if (!std::isfinite(square) || square == 0) {
      return Error{Errc::kInternal, "the text encoder's vector has no direction"};
    }
    const double length = std::sqrt(square);
    for (float& x : vector) x = static_cast<float>(double{x} / length);
    return vector;
  }

  llama_model_ptr model_;
  llama_context_ptr context_;
  int max_tokens_ = 0;
  std::string identity_;
  std::mutex mutex_;  // held during calls into context_
};

}  // namespace

Result<std::unique_ptr<TextEncoder>> NewLlamaTextEncoder(const std::string& gguf_path, int threads,
                                                         const std::string& file_digest_cache) {
  CaptureLlamaLog();
  if (threads < 1 || threads > 512) {
    return Error{Errc::kInvalidArgument, fmt::format("{} threads for the text encoder: give 1 to 512", threads)};
  }
  if (Status status = CheckGgufFile("text encoder", gguf_path); !status.ok()) return status.error();
  LlamaOptions files;
  files.model_path = gguf_path;
  const std::string stamps = FileStamps(files);
  auto encoder = std::make_unique<LlamaTextEncoder>();
  const Status loaded = Guarded("loading the text encoder", [&] { return encoder->Load(gguf_path, threads); });
  if (!loaded.ok()) return loaded.error();
  const Result<std::string> weights = WeightsOf(gguf_path, file_digest_cache);
  if (!weights.ok()) return weights.error();
  if (FileStamps(files) != stamps) {
    return Error{Errc::kIo, fmt::format("'{}' changed while it was being loaded; try again", gguf_path)};
  }
  encoder->set_identity(fmt::format("{} {} {}", kVersion, *weights, LlamaBuild()));
  return std::unique_ptr<TextEncoder>(std::move(encoder));
}

}  // namespace afterimage
