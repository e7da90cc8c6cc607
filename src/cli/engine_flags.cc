#include "cli/engine_flags.h"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/model_files.h"
#include "cli/presets.h"

namespace afterimage {

namespace {

constexpr const char* kFetchedPreset = "smollm2-135m";

// With the script that knows where it comes from; what it says goes to stderr.
Status Fetch(const std::string& name) {
  const Result<std::string> script = FindShipped("scripts/fetch-model");
  if (!script.ok()) return script.error();
  fmt::print(stderr, "afterimage: fetching {}, once\n", name);
  if (std::system(("'" + *script + "' " + name + " >&2").c_str()) == 0) return {};
  return Error{Errc::kNotFound, fmt::format("{} could not be fetched; {} {} says why.", name, *script, name)};
}

}  // namespace

Result<LlamaOptions> EngineFlags::Resolve() const {
  LlamaOptions resolved = options;
  Result<ModelFiles> files = FindModel(model);
  if (!files.ok() && files.error().code == Errc::kNotFound && model == kFetchedPreset) {
    if (Status status = Fetch(model); !status.ok()) return status.error();
    files = FindModel(model);
  }
  if (!files.ok()) return files.error();
  resolved.model_path = files->model;
  if (resolved.mmproj_path.empty()) resolved.mmproj_path = files->mmproj;
  return resolved;
}

Status ApplyPreset(OptionTable& table, EngineFlags& flags) {
  if (flags.preset.empty() && flags.model.empty()) flags.preset = kDefaultPreset;
  if (flags.preset.empty()) return {};
  const Result<OptionTable::Json> values = PresetOptions(flags.preset);
  if (!values.ok()) return values.error();
  return table.Default(*values);
}

void AddModelOptions(OptionTable& table, EngineFlags& flags) {
  table.Add("--preset", flags.preset,
            fmt::format("A model by name: {}; the first is the default", fmt::join(PresetNames(), ", ")));
  table.Add(
      "--model", flags.model,
      "The model in place of the preset's: a GGUF file, a folder that holds one, or a hub name to look for in the "
      "local model folders");
  table.Add("--mmproj", flags.options.mmproj_path,
            "GGUF of its vision projector; empty: the one in the model's folder, else text only");
  table.AddFlag("--trust-remote-code", flags.trust_remote_code,
                "Taken for the sake of command lines that have it; no model brings code of its own here");
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
