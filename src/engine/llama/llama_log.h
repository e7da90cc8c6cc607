// llama.cpp logs through one global callback. Ours prints nothing and keeps the last errors, so that a failed call can
// say why.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_LOG_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_LOG_H_

#include <string>

#include "afterimage/result.h"

namespace afterimage {

// Installs the callback, once per program.
void CaptureLlamaLog();

// The errors logged by calls of this thread since the last time, on one line; empty when there were none.
std::string TakeLlamaErrors();

// An error of this message, with those errors behind it in brackets.
Error LlamaError(Errc code, std::string message);

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_LOG_H_
