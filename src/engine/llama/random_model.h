// RandomModel: GGUF files with random weights in the shape of a real model.
//
// Tests, the demo and the benchmarks need models that are always at hand and of every size. These load in unmodified
// llama.cpp and cost it what the real model of that shape would cost; the answers are nonsense, the arithmetic is real:
// logits are finite, differ from token to token, and depend on the picture. The bytes depend on the shape and its seed
// alone.
//
// Thread safety: all functions may be called from any thread, and by several processes for the same folder.
#ifndef AFTERIMAGE_ENGINE_LLAMA_RANDOM_MODEL_H_
#define AFTERIMAGE_ENGINE_LLAMA_RANDOM_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

struct RandomModelShape {
  enum class Family {
    kText,      // architecture "qwen3", no vision
    kInternVl,  // plain RoPE; pictures above image_size become tiles and an overview
    kQwen3Vl,   // interleaved M-RoPE and deepstack; pictures of any size
    kQwen25Vl,  // M-RoPE and windowed vision attention; pictures of any size
  };
  enum class Weights { kF16, kQ8_0 };

  Family family = Family::kText;
  std::string name;  // of the model, and of its files

  // The language model. Its output matrix is tied to the token embeddings.
  int layers = 0;
  int width = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int feed_forward = 0;
  int vocab = 0;
  int context_length = 8192;
  float rope_freq_base = 10000.0f;
  bool qwen2 = false;               // architecture "qwen2" (biases on q, k, v) instead of "qwen3" (norms on q, k)
  Weights weights = Weights::kF16;  // of its matrices; those of the vision part are always f16

  // The vision part; unused for kText.
  int vision_layers = 0;
  int vision_width = 0;
  int vision_heads = 0;
  int vision_feed_forward = 0;
  int image_size = 0;  // pixels; for the Qwen families only the size of the position table
  int patch_size = 0;  // pixels; four patches make one token
  int max_tiles = 4;   // kInternVl: the most tiles of one picture
  int deepstack = 0;   // kQwen3Vl: number of deepstack layers

  uint64_t seed = 1;
};

// tiny-internvl, tiny-qwen3vl, tiny-qwen2.5vl, tiny-text: under 1 MB each, made in milliseconds.
// demo: InternVL, 60 M parameters. 0.5b: InternVL3-1B (0.5 B language model). 2b: InternVL3.5-2B.
std::vector<std::string> ShapeNames();

// The shape of that name, or nullopt if there is none.
std::optional<RandomModelShape> NamedShape(std::string_view name);

struct RandomModelFiles {
  std::string model_path;
  std::string mmproj_path;  // empty for kText
};

// Writes <dir>/<name>.gguf and <dir>/<name>-mmproj.gguf, creating dir. A file that is there already, complete and
// made from this shape by this version of the code, is kept as it is; any other is replaced.
// Errors: kInvalidArgument for a shape llama.cpp could not run, kIo.
Result<RandomModelFiles> WriteRandomModel(const RandomModelShape& shape, const std::string& dir);

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_RANDOM_MODEL_H_
