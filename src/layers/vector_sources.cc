#include "layers/vector_sources.h"

#include <fmt/format.h>

#include "core/normalized_text.h"
#include "core/sha256.h"
#include "core/utf8.h"
#include "embed/projection.h"
#include "embed/sources.h"

namespace afterimage {
namespace {

class ChunkTextSource final : public VectorSource {
 public:
  ChunkTextSource(std::shared_ptr<TextEncoder> encoder, int window) : encoder_(std::move(encoder)), window_(window) {}

  int dim() const override { return encoder_->dim(); }
  Modality modality() const override { return Modality::kText; }
  std::string identity() const override { return fmt::format("{}, first {}", encoder_->identity(), window_); }

  std::optional<Digest> KeyOf(const LayerQuery& query) const override {
    const std::string text = TextOf(query);
    if (text.empty()) return std::nullopt;
    return Sha256().Add("chunk text").Add(text).Finish();
  }
  Result<std::vector<float>> VectorOf(const LayerQuery& query) override { return encoder_->Encode(TextOf(query)); }

 private:
  std::string TextOf(const LayerQuery& query) const {
    return NormalizedText(FirstCharacters(query.input.chunk_text, static_cast<size_t>(window_)));
  }

  const std::shared_ptr<TextEncoder> encoder_;
  const int window_;
};

class HookSource final : public VectorSource {
 public:
  HookSource(std::shared_ptr<EmbeddingHook> hook, EmbeddingSource source, int dim)
      : hook_(std::move(hook)), source_(std::move(source)), dim_(dim) {
    if (dim != source_.dim) projection_.emplace(source_.identity, source_.dim, dim);
  }

  int dim() const override { return dim_; }
  Modality modality() const override { return source_.modality; }
  std::string identity() const override { return projection_.has_value() ? projection_->identity() : source_.identity; }

  std::optional<Digest> KeyOf(const LayerQuery& query) const override {
    const bool of_text = source_.modality != Modality::kImage;
    const bool of_image = source_.modality != Modality::kText;
    if (of_text && query.input.question.empty()) return std::nullopt;
    if (source_.modality == Modality::kImage && query.pictures.empty()) return std::nullopt;
    Sha256 hash;
    hash.Add("hook").Add(of_text ? query.input.question : std::string_view());
    hash.Add(of_text ? query.input.chunk_text : std::string_view());
    if (of_image) {
      for (const Digest& picture : query.pictures) hash.Add(picture);
    }
    return hash.Finish();
  }

  Result<std::vector<float>> VectorOf(const LayerQuery& query) override {
    for (const std::shared_ptr<const Image>& image : query.input.images) {
      if (!image->has_pixels()) return Error{Errc::kNotFound, "only the digest of the picture is known"};
    }
    Result<std::vector<std::vector<float>>> vectors = hook_->Embed({&source_.name, 1}, query.input);
    if (!vectors.ok()) return vectors.error();
    if (vectors->size() != 1 || vectors->front().size() != static_cast<size_t>(source_.dim)) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("the hook's '{}' gave no vector of {} values", source_.name, source_.dim)};
    }
    return projection_.has_value() ? projection_->Apply(vectors->front()) : std::move(vectors->front());
  }

 private:
  const std::shared_ptr<EmbeddingHook> hook_;
  const EmbeddingSource source_;
  const int dim_;
  std::optional<Projection> projection_;
};

}  // namespace

std::unique_ptr<VectorSource> NewChunkTextSource(std::shared_ptr<TextEncoder> encoder, int window) {
  return std::make_unique<ChunkTextSource>(std::move(encoder), window);
}

Result<std::unique_ptr<VectorSource>> NewHookSource(std::shared_ptr<EmbeddingHook> hook, const std::string& name,
                                                    int dim) {
  std::vector<std::string> names;
  for (const EmbeddingSource& source : hook->sources()) {
    names.push_back(source.name);
    if (source.name != name) continue;
    if (dim < 1 || dim > kMaxEmbeddingDim) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("the dimension {} of the layer '{}' is not in 1 to {}", dim, name, kMaxEmbeddingDim)};
    }
    return std::unique_ptr<VectorSource>(std::make_unique<HookSource>(std::move(hook), source, dim));
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("the embedding hook makes no vectors for a layer '{}'; it makes them for: {}", name,
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
}

}  // namespace afterimage
