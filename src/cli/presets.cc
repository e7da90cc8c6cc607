#include "cli/presets.h"

#include <fmt/format.h>

namespace afterimage {
namespace {

// The order is that of the help text. The thresholds of the tiny models were found by `afterimage calibrate`
// (docs/gates.md); those of the 2 B models are the ones the program this one follows has for them.
constexpr const char* kPresets = R"({
  "tiny-internvl": {
    "model": "tiny-internvl",
    "threads": 1,
    "embedding_layers": ["prompt:384:0.8", "vision:512:0.98"],
    "embedding_hook": "prompt_vision"
  },
  "tiny-qwen3vl": {
    "model": "tiny-qwen3vl",
    "threads": 1,
    "image_min_tokens": 49,
    "image_max_tokens": 49,
    "embedding_layers": ["prompt:384:0.8", "vision:512:0.98"],
    "embedding_hook": "prompt_vision"
  },
  "smollm2-135m": {
    "model": "smollm2-135m"
  },
  "internvl3.5-2b": {
    "model": "OpenGVLab/InternVL3_5-2B-Instruct",
    "trust_remote_code": true,
    "prompt_template": "short",
    "embedding_layers": ["prompt:384:0.8", "vision:512:0.82"],
    "embedding_hook": "prompt_vision"
  },
  "qwen3-vl-2b": {
    "model": "Qwen/Qwen3-VL-2B-Instruct",
    "trust_remote_code": true,
    "prompt_template": "short",
    "embedding_layers": ["prompt:384:0.8", "vision:512:0.82"],
    "embedding_hook": "prompt_vision"
  }
})";

const OptionTable::Json& Presets() {
  static const OptionTable::Json presets = OptionTable::Json::parse(kPresets);
  return presets;
}

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const auto& [name, options] : Presets().items()) names.push_back(name);
  return names;
}

Result<OptionTable::Json> PresetOptions(const std::string& preset) {
  if (!Presets().contains(preset)) {
    return Error{Errc::kInvalidArgument, fmt::format("There is no preset '{}'; give {}, or --model.", preset,
                                                     fmt::join(PresetNames(), " or "))};
  }
  return Presets()[preset];
}

}  // namespace afterimage
