#include "embed/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace afterimage {
namespace {

bool IsName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

std::string_view Name(Modality modality) {
  switch (modality) {
    case Modality::kText:
      return "text";
    case Modality::kImage:
      return "image";
    case Modality::kJoint:
      return "joint";
  }
  return "unknown";
}

std::optional<Modality> ModalityFromName(std::string_view name) {
  for (const Modality modality : {Modality::kText, Modality::kImage, Modality::kJoint}) {
    if (Name(modality) == name) return modality;
  }
  return std::nullopt;
}

Status CheckSources(std::span<const EmbeddingSource> sources) {
  if (sources.empty()) return Error{Errc::kInvalidArgument, "It has no sources."};
  if (sources.size() > kMaxEmbeddingSources) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("It has {} sources; at most {} are allowed.", sources.size(), kMaxEmbeddingSources)};
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    const EmbeddingSource& source = sources[i];
    if (!IsName(source.name)) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("The name '{}' of a source is not of letters, digits, '_' and '-'.", source.name)};
    }
    if (source.dim < 1 || source.dim > kMaxEmbeddingDim) {
      return Error{Errc::kInvalidArgument, fmt::format("The source '{}' has dimension {}; 1 to {} are allowed.",
                                                       source.name, source.dim, kMaxEmbeddingDim)};
    }
    if (source.identity.empty()) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("The source '{}' has no identity. It must name encoder and version, so that vectors of "
                               "another are never compared.",
                               source.name)};
    }
    const auto earlier = sources.first(i);
    if (std::ranges::any_of(earlier, [&](const EmbeddingSource& other) { return other.name == source.name; })) {
      return Error{Errc::kInvalidArgument, fmt::format("Two sources are named '{}'.", source.name)};
    }
  }
  return {};
}

Status CheckVector(const EmbeddingSource& source, std::span<const float> vector) {
  if (vector.size() != static_cast<size_t>(source.dim)) {
    return Error{Errc::kInternal, fmt::format("The vector of '{}' has dimension {}, and {} was declared.", source.name,
                                              vector.size(), source.dim)};
  }
  if (!std::ranges::all_of(vector, [](float value) { return std::isfinite(value); })) {
    return Error{Errc::kInternal, fmt::format("The vector of '{}' has a value that is not finite.", source.name)};
  }
  return {};
}

const EmbeddingSource& SourceOf(std::span<const EmbeddingSource> sources, std::string_view name) {
  const auto found = std::ranges::find(sources, name, &EmbeddingSource::name);
  assert(found != sources.end());
  return *found;
}

}  // namespace afterimage
