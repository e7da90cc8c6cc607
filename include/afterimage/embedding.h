// EmbeddingHook: makes the vectors by which embedding layers find requests like this one.
//
// A hook has one or more *sources*, each a fixed way to turn a request into a vector: "prompt" (of its question),
// "vision" (of its picture), or one of its own. An embedding layer (CacheOptions::embedding_layers) takes the vectors
// of the source of its name. Vectors are compared by cosine; a hook need not normalise them.
//
// Built in are `none`, `prompt`, `vision` and `prompt_vision`; others come out of a shared object
// (embedding_plugin.h) or a Python module.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_EMBEDDING_H_
#define AFTERIMAGE_EMBEDDING_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/fusion.h"
#include "afterimage/image.h"
#include "afterimage/result.h"

namespace afterimage {

// What a match of two vectors says about two requests, and so what it licenses to substitute.
enum class Modality {
  kText,   // their questions are alike
  kImage,  // their pictures are alike
  kJoint,  // question and pictures together
};

std::string_view Name(Modality modality);  // "text", "image", "joint"

struct EmbeddingSource {
  std::string name;  // of the layer it is for: "prompt"
  int dim = 0;
  Modality modality = Modality::kJoint;
  std::string identity;  // names encoder and version; vectors of another identity are never compared
};

// The request to be turned into vectors. What it refers to need only live during the call.
struct EmbeddingInput {
  std::string_view id;
  std::string_view question;
  std::string_view chunk_text;
  std::span<const std::shared_ptr<const Image>> images;
  std::span<const std::string> image_paths;  // as many as images, or none
  std::string_view metadata;                 // JSON, as the data set gave it; empty: none
  // The output of the model's own vision encoder for all pictures, segment by segment; computed on the first call and
  // then used by the engine too, so nothing is encoded twice. Null: there is none to be had.
  std::function<Result<std::vector<NamedTensor>>()> encoder_output;
};

class EmbeddingHook {
 public:
  virtual ~EmbeddingHook() = default;

  virtual std::span<const EmbeddingSource> sources() const = 0;

  // The vectors of the sources named, in that order, each of its source's dimension and finite.
  // REQUIRES: the names are among sources().
  // Errors: any; to the cache it is a miss of these layers. kNotFound: the request has nothing for a source (no
  // picture), which is a skip.
  virtual Result<std::vector<std::vector<float>>> Embed(std::span<const std::string> names,
                                                        const EmbeddingInput& input) = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBEDDING_H_
