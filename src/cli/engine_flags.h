// The flags that load an engine and sample from it, the same for every command that does.
#ifndef AFTERIMAGE_CLI_ENGINE_FLAGS_H_
#define AFTERIMAGE_CLI_ENGINE_FLAGS_H_

#include <CLI/CLI.hpp>

#include "afterimage/llama_engine.h"
#include "afterimage/request.h"

namespace afterimage {

void AddEngineFlags(CLI::App& command, LlamaOptions& options);
void AddSamplingFlags(CLI::App& command, Sampling& sampling);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_ENGINE_FLAGS_H_
