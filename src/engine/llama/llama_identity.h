// The identity of a loaded model (identity.h): what went into its rows, and what shaped their last bits.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_IDENTITY_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_IDENTITY_H_

#include <string>
#include <vector>

#include "afterimage/identity.h"
#include "afterimage/llama_engine.h"
#include "engine/llama/llama_runtime.h"

namespace afterimage {

// Hashes the model's files (once; see LlamaOptions::file_digest_cache). Errors: kNotFound, kIo.
Result<Identity> IdentityOf(const LlamaRuntime& runtime, const LlamaOptions& options);

// All files of a model that may be split: `x-00001-of-00003.gguf` stands for three.
std::vector<std::string> ModelFiles(const std::string& path);

// The digests of those files, as one text. Errors: kNotFound, kIo.
Result<std::string> WeightsOf(const std::string& path, const std::string& file_digest_cache);

// Device, inode, size and times of the model's files: they differ when a file was changed or replaced in between.
std::string FileStamps(const LlamaOptions& options);

// Everything beside the pixels that shapes a picture's tokens: projector file and token limits.
Digest PreprocessingOf(const Identity& identity);

// "llama.cpp 0.5.0 (832db0699007)"
std::string LlamaBuild();

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_IDENTITY_H_
