// The options that load an engine and sample from it, the same for every command that does.
#ifndef AFTERIMAGE_CLI_ENGINE_FLAGS_H_
#define AFTERIMAGE_CLI_ENGINE_FLAGS_H_

#include <string>

#include "afterimage/llama_engine.h"
#include "afterimage/request.h"
#include "cli/option_table.h"

namespace afterimage {

struct EngineFlags {
  std::string preset;  // empty, with no model either: the default one
  LlamaOptions options;

  // The preset that counts; empty: none, a model was given.
  std::string preset_name() const;
  // The options with what the preset says. Errors: those of ApplyPreset.
  Result<LlamaOptions> Resolve() const;
};

// --preset, --model and --mmproj.
void AddModelOptions(OptionTable& table, EngineFlags& flags);
// The rest of the engine's, under a heading of their own.
void AddEngineOptions(OptionTable& table, EngineFlags& flags);
void AddSamplingOptions(OptionTable& table, Sampling& sampling);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_ENGINE_FLAGS_H_
