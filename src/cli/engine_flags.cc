#include "cli/engine_flags.h"

#include <fmt/format.h>

#include "cli/presets.h"

namespace afterimage {

std::string EngineFlags::preset_name() const {
  return preset.empty() && options.model_path.empty() ? kDefaultPreset : preset;
}

Result<LlamaOptions> EngineFlags::Resolve() const {
  LlamaOptions resolved = options;
  if (preset_name().empty()) return resolved;
  if (Status status = ApplyPreset(preset_name(), resolved); !status.ok()) return status.error();
  return resolved;
}

void AddModelOptions(OptionTable& table, EngineFlags& flags) {
  table.Add("--preset", flags.preset,
            fmt::format("A model by name: {}; the first is the default", fmt::join(PresetNames(), ", ")));
  table.Add("--model", flags.options.model_path, "GGUF of the language model, in place of the preset's");
  table.Add("--mmproj", flags.options.mmproj_path, "GGUF of its vision projector; empty: text only");
}

void AddEngineOptions(OptionTable& table, EngineFlags& flags) {
  LlamaOptions& options = flags.options;
  table.SetGroup("Engine");
  table.Add("--context", options.context_tokens, "Tokens of context for one request");
  table.Add("--threads", options.threads, "Threads; 0: as many as the machine has, at most 8");
  table.Add("--batch", options.batch_tokens, "Most tokens in one batch");
  table.Add("--gpu-layers", options.gpu_layers, "Layers on the GPU");
  table.Add("--k-type", options.k_type, "Type of stored K: f16, bf16, f32");
  table.Add("--v-type", options.v_type, "Type of stored V");
  table.AddList("--lora", options.lora_paths, "LoRA adapter (GGUF); may be given again");
  table.Add("--image-min-tokens", options.image_min_tokens, "Least tokens of a picture; 0: the model's");
  table.Add("--image-max-tokens", options.image_max_tokens, "Most tokens of a picture; 0: the model's");
  table.Add("--chat-template", options.chat_template, "Jinja text or a name (chatml); empty: the model's");
}

void AddSamplingOptions(OptionTable& table, Sampling& sampling) {
  table.SetGroup("Sampling");
  table.Add("--max-tokens", sampling.max_tokens, "Longest answer");
  table.Add("--temperature", sampling.temperature, "0: greedy");
  table.Add("--top-k", sampling.top_k, "0: all");
  table.Add("--top-p", sampling.top_p, "Share of probability kept");
  table.Add("--seed", sampling.seed, "Seed of the draw");
}

}  // namespace afterimage
