// The options that load an engine and sample from it, the same for every command that does.
#ifndef AFTERIMAGE_CLI_ENGINE_FLAGS_H_
#define AFTERIMAGE_CLI_ENGINE_FLAGS_H_

#include "afterimage/llama_engine.h"
#include "afterimage/request.h"
#include "cli/option_table.h"

namespace afterimage {

// --model and --mmproj.
void AddModelOptions(OptionTable& table, LlamaOptions& options);
// The rest of the engine's, under a heading of their own.
void AddEngineOptions(OptionTable& table, LlamaOptions& options);
void AddSamplingOptions(OptionTable& table, Sampling& sampling);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_ENGINE_FLAGS_H_
