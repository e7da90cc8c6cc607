#include "cli/engine_flags.h"

namespace afterimage {

void AddEngineFlags(CLI::App& command, LlamaOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->group("Engine")->capture_default_str();
  };
  add("--context", options.context_tokens, "Tokens of context for one request");
  add("--threads", options.threads, "Threads; 0: as many as the machine has, at most 8");
  add("--batch", options.batch_tokens, "Most tokens in one batch");
  add("--gpu-layers", options.gpu_layers, "Layers on the GPU");
  add("--k-type", options.k_type, "Type of stored K: f16, bf16, f32");
  add("--v-type", options.v_type, "Type of stored V");
  add("--lora", options.lora_paths, "LoRA adapter (GGUF); may be given again")->allow_extra_args(false);
  add("--image-min-tokens", options.image_min_tokens, "Least tokens of a picture; 0: the model's");
  add("--image-max-tokens", options.image_max_tokens, "Most tokens of a picture; 0: the model's");
  add("--chat-template", options.chat_template, "Jinja text or a name (chatml); empty: the model's");
}

void AddSamplingFlags(CLI::App& command, Sampling& sampling) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->group("Sampling")->capture_default_str();
  };
  add("--max-tokens", sampling.max_tokens, "Longest answer");
  add("--temperature", sampling.temperature, "0: greedy");
  add("--top-k", sampling.top_k, "0: all");
  add("--top-p", sampling.top_p, "Share of probability kept");
  add("--seed", sampling.seed, "Seed of the draw");
}

}  // namespace afterimage
