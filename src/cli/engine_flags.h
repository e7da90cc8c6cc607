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
  std::string model;   // as FindModel takes it
  bool trust_remote_code = false;
  LlamaOptions options;

  // The options with the model's files, which are fetched where that is how the preset gets them. Errors: FindModel's.
  Result<LlamaOptions> Resolve() const;
};

// Gives the options of the table that were not given what the preset says, if one counts, and names it. Called once all
// that is given is set. Errors: kInvalidArgument (no such preset).
Status ApplyPreset(OptionTable& table, EngineFlags& flags);

// --preset, --model and --mmproj.
void AddModelOptions(OptionTable& table, EngineFlags& flags);
// The rest of the engine's, under a heading of their own.
void AddEngineOptions(OptionTable& table, EngineFlags& flags);
void AddSamplingOptions(OptionTable& table, Sampling& sampling);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_ENGINE_FLAGS_H_
