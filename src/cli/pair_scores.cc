#include "cli/pair_scores.h"

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "gates/picture_signature.h"
#include "gates/text_guard.h"
#include "layers/vector_sources.h"
#include "store/digest_hash.h"

namespace afterimage {
namespace {

// A sample as a layer sees it.
class Asked {
 public:
  static Result<Asked> Make(const Sample& sample, ChunkSource chunk_source) {
    Asked asked(sample);
    asked.chunk_text_ = ChunkText(sample, chunk_source);
    if (!sample.image_path.empty()) {
      Result<std::shared_ptr<const Image>> image = ReadImage(sample.image_path);
      if (!image.ok()) return image.error();
      asked.paths_ = {sample.image_path};
      asked.images_ = {*image};
      asked.pictures_ = {(*image)->digest()};
    }
    return asked;
  }

  LayerQuery query() const {
    LayerQuery query;
    query.input = {.id = sample_->id,
                   .question = sample_->question,
                   .chunk_text = chunk_text_,
                   .images = images_,
                   .image_paths = paths_,
                   .metadata = sample_->metadata};
    query.pictures = pictures_;
    return query;
  }

  const Sample& sample() const { return *sample_; }
  const Image* image() const { return images_.empty() ? nullptr : images_[0].get(); }

  bool SamePicture(const Asked& other) const {
    if (pictures_.empty() || other.pictures_.empty()) return sample_->image_id == other.sample_->image_id;
    return pictures_ == other.pictures_;
  }

 private:
  explicit Asked(const Sample& sample) : sample_(&sample) {}

  const Sample* sample_;
  std::string chunk_text_;
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<const Image>> images_;
  std::vector<Digest> pictures_;
};

double Cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

using Vectors = std::unordered_map<Digest, std::vector<float>, DigestHash>;

class LayerScores {
 public:
  LayerScores(std::string name, double threshold, std::unique_ptr<VectorSource> source)
      : name_(std::move(name)), threshold_(threshold), source_(std::move(source)) {}

  const std::string& name() const { return name_; }
  double threshold() const { return threshold_; }
  Modality modality() const { return source_->modality(); }

  bool Judges(bool same_question, bool same_picture) const {
    switch (modality()) {
      case Modality::kText:
        return same_picture && !same_question;
      case Modality::kImage:
        return same_question && !same_picture;
      case Modality::kJoint:
        return !same_question || !same_picture;
    }
    return false;
  }

  // nullopt: one of the two has nothing for this layer.
  Result<std::optional<double>> Score(const Asked& a, const Asked& b) {
    const std::optional<Digest> keys[] = {source_->KeyOf(a.query()), source_->KeyOf(b.query())};
    if (!keys[0].has_value() || !keys[1].has_value()) return std::optional<double>();
    for (const auto& [asked, key] : {std::pair(&a, &*keys[0]), std::pair(&b, &*keys[1])}) {
      if (vectors_.contains(*key)) continue;
      Result<std::vector<float>> vector = source_->VectorOf(asked->query());
      if (!vector.ok() && vector.error().code == Errc::kNotFound) return std::optional<double>();
      if (!vector.ok()) return vector.error();
      vectors_.emplace(*key, std::move(*vector));
    }
    comparisons_.insert(std::minmax(*keys[0], *keys[1]));
    return std::optional(Cosine(vectors_.at(*keys[0]), vectors_.at(*keys[1])));
  }

  size_t comparisons() const { return comparisons_.size(); }

 private:
  std::string name_;
  double threshold_;
  std::unique_ptr<VectorSource> source_;
  Vectors vectors_;
  std::set<std::pair<Digest, Digest>> comparisons_;
};

Result<std::vector<LayerScores>> MakeScores(const CacheOptions& options) {
  std::vector<LayerScores> layers;
  for (const EmbeddingLayerOptions& layer : options.embedding_layers) {
    Result<std::unique_ptr<VectorSource>> source = NewHookSource(options.embedding_hook, layer.name, layer.dim);
    if (!source.ok()) return source.error();
    layers.emplace_back("embedding:" + layer.name, layer.threshold, std::move(*source));
  }
  if (options.semantic_layer && options.text_encoder != nullptr) {
    layers.emplace_back("semantic_text", options.similarity_threshold,
                        NewChunkTextSource(options.text_encoder, options.chunk_window));
  }
  return layers;
}

// Of the pictures of a pair, each looked at once.
class LocalScores {
 public:
  // nullopt: one of the two has no picture.
  std::optional<double> Score(const Asked& a, const Asked& b) {
    if (a.image() == nullptr || b.image() == nullptr) return std::nullopt;
    comparisons_.insert(std::minmax(a.image()->digest(), b.image()->digest()));
    return Compare(Signature(*a.image()), Signature(*b.image())).largest;
  }

  size_t comparisons() const { return comparisons_.size(); }

 private:
  const std::vector<float>& Signature(const Image& image) {
    std::vector<float>& signature = signatures_[image.digest()];
    if (signature.empty()) signature = SignatureOf(image);
    return signature;
  }

  Vectors signatures_;
  std::set<std::pair<Digest, Digest>> comparisons_;
};

std::string GatesOf(Modality modality, const CacheOptions& options) {
  const bool text = options.text_guard && modality != Modality::kImage;
  const bool image = options.image_gate != ImageGate::kOff && modality != Modality::kText;
  if (text) return image ? "text guard and image gate" : "text guard";
  return image ? "image gate" : "";
}

class Scorer {
 public:
  Scorer(const CacheOptions& options, std::optional<TextGuard> guard, std::vector<LayerScores> layers)
      : options_(options), guard_(std::move(guard)), layers_(std::move(layers)) {
    for (const LayerScores& layer : layers_) {
      inputs_.push_back({.layer = layer.name(), .gates = GatesOf(layer.modality(), options)});
      has_picture_layer_ = has_picture_layer_ || layer.modality() == Modality::kImage;
    }
    inputs_.push_back(
        {.layer = "local", .gates = has_picture_layer_ ? "picture layers" : "", .measure = Measure::kDifference});
  }

  Status Add(const LabelledPair& pair, ChunkSource chunk_source) {
    const Result<Asked> a = Asked::Make(pair.a, chunk_source);
    if (!a.ok()) return a.error();
    const Result<Asked> b = Asked::Make(pair.b, chunk_source);
    if (!b.ok()) return b.error();
    const bool same_question = pair.a.question == pair.b.question;
    const bool same_picture = a->SamePicture(*b);
    std::optional<double> local;
    if (!same_picture) local = local_.Score(*a, *b);
    const bool guarded =
        same_question || !guard_.has_value() || guard_->Refuse(pair.b.question, pair.a.question).empty();
    bool found = false;
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].Judges(same_question, same_picture)) continue;
      const Result<std::optional<double>> score = layers_[i].Score(*a, *b);
      if (!score.ok()) return score.error();
      if (!score->has_value()) continue;
      const bool admitted = guarded && (same_picture || PassesImageGate(**score, local));
      inputs_[i].pairs.push_back({**score, pair.must_agree, admitted});
      found = found || (layers_[i].modality() == Modality::kImage && **score >= layers_[i].threshold());
    }
    if (same_question && local.has_value()) {
      inputs_.back().pairs.push_back({*local, pair.must_agree, found || !has_picture_layer_});
    }
    return {};
  }

  std::vector<CalibrationInput> Finish() {
    for (size_t i = 0; i < layers_.size(); ++i) inputs_[i].comparisons = layers_[i].comparisons();
    inputs_.back().comparisons = local_.comparisons();
    return std::move(inputs_);
  }

 private:
  bool PassesImageGate(double score, const std::optional<double>& local) const {
    if (options_.image_gate != ImageGate::kNear) return options_.image_gate == ImageGate::kOff;
    return score >= options_.near_score && local.has_value() && *local <= options_.near_local;
  }

  const CacheOptions& options_;
  const std::optional<TextGuard> guard_;
  std::vector<LayerScores> layers_;
  LocalScores local_;
  bool has_picture_layer_ = false;
  std::vector<CalibrationInput> inputs_;  // of layers_, then local
};

}  // namespace

Result<std::vector<CalibrationInput>> ScorePairs(std::span<const LabelledPair> pairs, const CacheOptions& options,
                                                 ChunkSource chunk_source) {
  Result<std::vector<LayerScores>> layers = MakeScores(options);
  if (!layers.ok()) return layers.error();
  std::optional<TextGuard> guard;
  if (options.text_guard) {
    Result<TextGuard> opened = TextGuard::Open(options.guard_lexicon);
    if (!opened.ok()) return opened.error();
    guard = std::move(*opened);
  }
  Scorer scorer(options, std::move(guard), std::move(*layers));
  for (const LabelledPair& pair : pairs) {
    if (Status status = scorer.Add(pair, chunk_source); !status.ok()) return status.error();
  }
  return scorer.Finish();
}

}  // namespace afterimage
