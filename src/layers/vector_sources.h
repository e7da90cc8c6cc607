// Where the vectors of vector layers come from: a sentence encoder over the chunk text, or an embedding hook.
#ifndef AFTERIMAGE_LAYERS_VECTOR_SOURCES_H_
#define AFTERIMAGE_LAYERS_VECTOR_SOURCES_H_

#include <memory>
#include <string>

#include "afterimage/embedding.h"
#include "afterimage/text_encoder.h"
#include "layers/vector_layer.h"

namespace afterimage {

// The semantic text layer's: the sentence encoder over the first `window` characters of the chunk text, its case and
// white space normalised.
std::unique_ptr<VectorSource> NewChunkTextSource(std::shared_ptr<TextEncoder> encoder, int window);

// An embedding layer's: the hook's source of the layer's name, projected if the layer's dimension is another.
// Errors: kInvalidArgument (the hook has no such source, naming those it has; a dimension out of range).
Result<std::unique_ptr<VectorSource>> NewHookSource(std::shared_ptr<EmbeddingHook> hook, const std::string& name,
                                                    int dim);

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_VECTOR_SOURCES_H_
