#include "embed/builtin_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "embed/pixel_descriptor.h"
#include "embed/sources.h"

namespace afterimage {
namespace {

using Vector = std::vector<float>;

// One source of a built-in hook.
class Part {
 public:
  virtual ~Part() = default;
  virtual EmbeddingSource source() const = 0;
  virtual Result<Vector> Embed(const EmbeddingInput& input) = 0;
};

class PromptPart : public Part {
 public:
  explicit PromptPart(std::shared_ptr<TextEncoder> encoder) : encoder_(std::move(encoder)) {}
  EmbeddingSource source() const override { return {"prompt", encoder_->dim(), Modality::kText, encoder_->identity()}; }
  Result<Vector> Embed(const EmbeddingInput& input) override {
    if (input.question.empty()) return Error{Errc::kNotFound, "The request has no question."};
    return encoder_->Encode(input.question);
  }

 private:
  std::shared_ptr<TextEncoder> encoder_;
};

class PixelsPart : public Part {
 public:
  EmbeddingSource source() const override {
    return {"vision", kPixelDescriptorDim, Modality::kImage, std::string(kPixelDescriptorIdentity)};
  }
  Result<Vector> Embed(const EmbeddingInput& input) override {
    if (input.images.empty()) return Error{Errc::kNotFound, "The request has no picture."};
    Vector vector = PixelDescriptor(input.images);
    if (std::ranges::all_of(vector, [](float value) { return value == 0; })) {
      return Error{Errc::kNotFound, "The picture is one flat grey: it has nothing to compare."};
    }
    return vector;
  }
};

class EncoderPart : public Part {
 public:
  EncoderPart(std::string identity, int dim) : identity_("mean-pool/1:" + std::move(identity)), dim_(dim) {}
  EmbeddingSource source() const override { return {"vision", dim_, Modality::kImage, identity_}; }
  Result<Vector> Embed(const EmbeddingInput& input) override {
    if (input.images.empty()) return Error{Errc::kNotFound, "The request has no picture."};
    if (!input.encoder_output) return Error{Errc::kUnsupported, "There is no output of the vision encoder to be had."};
    const Result<std::vector<NamedTensor>> tensors = input.encoder_output();
    if (!tensors.ok()) return tensors.error();
    return MeanRow(*tensors);
  }

 private:
  // Every row of every tensor counts once: a picture cut into more tiles counts more.
  Result<Vector> MeanRow(const std::vector<NamedTensor>& tensors) const {
    const auto dim = static_cast<size_t>(dim_);
    std::vector<double> sums(dim);
    size_t n_rows = 0;
    for (const NamedTensor& tensor : tensors) {
      if (tensor.shape.empty() || tensor.shape.back() != dim_ || tensor.values.size() % dim != 0) {
        return Error{Errc::kInternal,
                     fmt::format("The encoder's output '{}' does not have rows of {} values.", tensor.name, dim_)};
      }
      for (size_t i = 0; i < tensor.values.size(); ++i) sums[i % dim] += tensor.values[i];
      n_rows += tensor.values.size() / dim;
    }
    if (n_rows == 0) return Error{Errc::kInternal, "The encoder's output has no rows."};
    Vector mean(dim);
    for (size_t i = 0; i < dim; ++i) mean[i] = static_cast<float>(sums[i] / static_cast<double>(n_rows));
    return mean;
  }

  const std::string identity_;
  const int dim_;
};

class BuiltinHook : public EmbeddingHook {
 public:
  explicit BuiltinHook(std::vector<std::unique_ptr<Part>> parts) : parts_(std::move(parts)) {
    for (const std::unique_ptr<Part>& part : parts_) sources_.push_back(part->source());
  }

  std::span<const EmbeddingSource> sources() const override { return sources_; }

  Result<std::vector<Vector>> Embed(std::span<const std::string> names, const EmbeddingInput& input) override {
    std::vector<Vector> vectors;
    for (const std::string& name : names) {
      const EmbeddingSource& source = SourceOf(sources_, name);
      Result<Vector> vector = parts_[static_cast<size_t>(&source - sources_.data())]->Embed(input);
      if (!vector.ok()) return vector.error();
      const Status checked = CheckVector(source, *vector);
      if (!checked.ok()) return checked.error();
      vectors.push_back(std::move(*vector));
    }
    return vectors;
  }

 private:
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<EmbeddingSource> sources_;  // one of each part
};

Result<std::unique_ptr<Part>> NewPromptPart(const HookParts& parts) {
  if (!parts.new_text_encoder) {
    return Error{Errc::kUnsupported, "The source 'prompt' needs a sentence encoder, and none is given."};
  }
  Result<std::shared_ptr<TextEncoder>> encoder = parts.new_text_encoder();
  if (!encoder.ok()) return encoder.error();
  return std::unique_ptr<Part>(std::make_unique<PromptPart>(std::move(*encoder)));
}

Result<std::unique_ptr<Part>> NewVisionPart(const HookParts& parts) {
  if (parts.vision == "pixels") return std::unique_ptr<Part>(std::make_unique<PixelsPart>());
  if (parts.vision != "encoder") {
    return Error{Errc::kInvalidArgument,
                 fmt::format("There is no vision source '{}'; there are: pixels, encoder.", parts.vision)};
  }
  if (parts.encoder_dim <= 0 || parts.encoder_identity.empty()) {
    return Error{Errc::kUnsupported,
                 "This model has no vision encoder whose output can be had; the vision source 'pixels' needs none."};
  }
  return std::unique_ptr<Part>(std::make_unique<EncoderPart>(parts.encoder_identity, parts.encoder_dim));
}

}  // namespace

Result<std::unique_ptr<EmbeddingHook>> NewBuiltinHook(const std::string& name, const HookParts& parts) {
  const bool prompt = name == "prompt" || name == "prompt_vision";
  const bool vision = name == "vision" || name == "prompt_vision";
  if (!prompt && !vision && name != "none") {
    return Error{Errc::kInvalidArgument, fmt::format("There is no embedding hook '{}'; built in are none, prompt, "
                                                     "vision and prompt_vision.",
                                                     name)};
  }
  std::vector<std::unique_ptr<Part>> made;
  if (vision) {  // first: it fails fast, an encoder is loaded for seconds
    Result<std::unique_ptr<Part>> part = NewVisionPart(parts);
    if (!part.ok()) return part.error();
    made.push_back(std::move(*part));
  }
  if (prompt) {
    Result<std::unique_ptr<Part>> part = NewPromptPart(parts);
    if (!part.ok()) return part.error();
    made.insert(made.begin(), std::move(*part));
  }
  auto hook = std::make_unique<BuiltinHook>(std::move(made));
  if (name != "none") {
    const Status checked = CheckSources(hook->sources());
    if (!checked.ok()) return checked.error();
  }
  return std::unique_ptr<EmbeddingHook>(std::move(hook));
}

}  // namespace afterimage
