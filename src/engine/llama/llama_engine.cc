#include "afterimage/llama_engine.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "engine/llama/llama_fusion.h"
#include "engine/llama/llama_identity.h"
#include "engine/llama/llama_prompt.h"
#include "engine/llama/llama_runtime.h"
#include "engine/llama/llama_sequence.h"
#include "engine/llama/sampler.h"

namespace afterimage {
namespace {

KvLayout LayoutOf(const StateFormat& format) {
  KvLayout layout;
  for (const StateFormat::Layer& layer : format.layers) {
    layout.layers.push_back({ggml_type_name(static_cast<ggml_type>(layer.k_type)),
                             ggml_type_name(static_cast<ggml_type>(layer.v_type)), layer.k_row_bytes,
                             layer.v_row_bytes});
  }
  return layout;
}

// "tiny-internvl (qwen3, 49.1 M parameters, Q8_0)"
std::string DescriptionOf(const llama_model* model) {
  const auto meta = [&](const char* key) {
    std::array<char, 256> value{};
    return llama_model_meta_val_str(model, key, value.data(), value.size()) < 0 ? std::string("?")
                                                                                : std::string(value.data());
  };
  const double millions = static_cast<double>(llama_model_n_params(model)) * 1e-6;
  return fmt::format("{} ({}, {} parameters, {})", meta("general.name"), meta("general.architecture"),
                     millions < 1000 ? fmt::format("{:.3g} M", millions) : fmt::format("{:.3g} B", millions * 1e-3),
                     llama_ftype_name(llama_model_ftype(model)));
}

EngineInfo InfoOf(const LlamaRuntime& runtime, Identity identity) {
  EngineInfo info;
  info.name = LlamaBuild();
  info.model = DescriptionOf(runtime.model());
  info.identity = std::move(identity);
  info.vocab_size = runtime.vocab_size();
  info.context_tokens = runtime.context_tokens();
  info.max_sequences = runtime.max_sequences();
  info.vision = runtime.vision();
  info.encoder_dim = runtime.vision() ? runtime.image_row_floats() : 0;
  if (runtime.state_format().ok()) {
    info.kv = LayoutOf(*runtime.state_format());
  } else {
    info.cache_refusal = runtime.state_format().error().message;
  }
  return info;
}

class LlamaEngine : public Engine {
 public:
  LlamaEngine(std::unique_ptr<LlamaRuntime> runtime, Identity identity, std::string chat_template, const Clock& clock)
      : runtime_(std::move(runtime)),
        info_(InfoOf(*runtime_, std::move(identity))),
        preprocessing_(PreprocessingOf(info_.identity)),
        chat_template_(std::move(chat_template)),
        clock_(clock),
        fusion_(*runtime_) {}

  const EngineInfo& info() const override { return info_; }

  Result<std::unique_ptr<Prompt>> Prepare(const Request& request) override {
    if (const Result<Sampler> sampler = Sampler::Make(request.sampling); !sampler.ok()) return sampler.error();
    Result<std::unique_ptr<LlamaPrompt>> prompt = LlamaPrompt::Make(*runtime_, request, chat_template_, preprocessing_);
    if (!prompt.ok()) return prompt.error();
    return std::unique_ptr<Prompt>(std::move(*prompt));
  }

  Result<std::unique_ptr<Sequence>> Start(Prompt& prompt) override {
    auto* ours = dynamic_cast<LlamaPrompt*>(&prompt);
    if (ours == nullptr || &ours->runtime() != runtime_.get()) {
      return Error{Errc::kInvalidArgument, "the prompt was prepared by another engine"};
    }
    const std::optional<llama_seq_id> id = runtime_->TakeSequence();
    if (!id.has_value()) return Error{Errc::kBusy, "all sequences of the context are in use"};
    return std::unique_ptr<Sequence>(std::make_unique<LlamaSequence>(*runtime_, *ours, *id, clock_));
  }

  FusionProvider& fusion() override { return fusion_; }

 private:
  std::unique_ptr<LlamaRuntime> runtime_;
  EngineInfo info_;
  Digest preprocessing_;
  std::string chat_template_;
  const Clock& clock_;
  LlamaFusion fusion_;
};

}  // namespace

std::string LlamaOptions::DefaultFileDigestCache() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/afterimage/file-digests";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.cache/afterimage/file-digests";
  }
  return "";
}

Result<std::unique_ptr<Engine>> NewLlamaEngine(const LlamaOptions& options, const Clock& clock) {
  const std::string stamps = FileStamps(options);
  Result<std::unique_ptr<LlamaRuntime>> runtime = LlamaRuntime::Load(options);
  if (!runtime.ok()) return runtime.error();
  Result<Identity> identity = IdentityOf(**runtime, options);
  if (!identity.ok()) return identity.error();
  if (FileStamps(options) != stamps) {
    return Error{Errc::kIo, "a model file changed while it was being loaded; try again"};
  }
  return std::unique_ptr<Engine>(
      std::make_unique<LlamaEngine>(std::move(*runtime), std::move(*identity), options.chat_template, clock));
}

}  // namespace afterimage
