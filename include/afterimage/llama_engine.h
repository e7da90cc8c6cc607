// The built-in engine: llama.cpp and libmtmd, in this process.
#ifndef AFTERIMAGE_LLAMA_ENGINE_H_
#define AFTERIMAGE_LLAMA_ENGINE_H_

#include <memory>
#include <string>
#include <vector>

#include "afterimage/clock.h"
#include "afterimage/engine.h"

namespace afterimage {

struct LlamaOptions {
  std::string model_path;     // GGUF; of a split model the first part
  std::string mmproj_path;    // GGUF of the vision encoder and projector; empty: text only
  int context_tokens = 4096;  // per sequence, rounded up to a multiple of 256
  int max_sequences = 1;      // at most 256
  int threads = 0;            // 0: as many as the machine has, at most 8
  int batch_tokens = 512;     // at least 128
  int gpu_layers = 0;
  std::string k_type = "f16";  // f16, bf16, f32; quantised types answer but are not cached
  std::string v_type = "f16";
  bool flash_attention = true;          // off: answers, but is not cached
  std::vector<std::string> lora_paths;  // with any: answers, but is not cached
  int image_min_tokens = 0;             // 0: the model's own; only for models of dynamic resolution
  int image_max_tokens = 0;
  std::string chat_template;  // Jinja text or a name llama.cpp knows ("chatml"); empty: the model's own
  // Remembers digests of model files by device, inode, size and times; empty: hash on every start.
  std::string file_digest_cache = DefaultFileDigestCache();

  // $XDG_CACHE_HOME/afterimage/file-digests, or under ~/.cache; empty when neither variable is set.
  static std::string DefaultFileDigestCache();

  bool operator==(const LlamaOptions&) const = default;
};

// Loads the model and tests, by capturing and reading back a few tokens, that this build's state bytes are the ones
// the adapter understands. If not, or if the model keeps state the adapter does not understand, the engine still
// answers and says why it does not cache (EngineInfo::cache_refusal).
// REQUIRES: the clock outlives the engine.
// Errors: kNotFound, kInvalidArgument, kUnsupported, kTooLarge, kIo, kInternal.
Result<std::unique_ptr<Engine>> NewLlamaEngine(const LlamaOptions& options, const Clock& clock = SteadyClock());

}  // namespace afterimage

#endif  // AFTERIMAGE_LLAMA_ENGINE_H_
