// What every hook's sources and vectors are held to, whoever wrote the hook.
#ifndef AFTERIMAGE_EMBED_SOURCES_H_
#define AFTERIMAGE_EMBED_SOURCES_H_

#include <optional>
#include <span>
#include <string_view>

#include "afterimage/embedding.h"

namespace afterimage {

// No encoder in use has more, and a declared size is not a reason to allocate without end.
inline constexpr int kMaxEmbeddingDim = 16384;
inline constexpr size_t kMaxEmbeddingSources = 64;

std::optional<Modality> ModalityFromName(std::string_view name);

// Names are letters, digits, '_' and '-', and differ; dimensions are 1 to kMaxEmbeddingDim; identities are not empty.
// Errors: kInvalidArgument, saying which and why.
Status CheckSources(std::span<const EmbeddingSource> sources);

// Errors: kInternal, if the vector is not of the source's dimension or a value is not finite.
Status CheckVector(const EmbeddingSource& source, std::span<const float> vector);

// REQUIRES: there is a source of that name.
const EmbeddingSource& SourceOf(std::span<const EmbeddingSource> sources, std::string_view name);

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_SOURCES_H_
