// VectorLayer: donors whose vector is near the request's. The semantic text layer and every embedding layer is one;
// they differ in where the vector comes from (VectorSource).
//
// One vector is kept for each text, picture or pair of them, however many requests share it. Vectors live in the
// catalogue, and an index over all of them in memory, made when the layer is opened. They are compared within a *space*
// only: same layer, source and dimension, same model, same tenant.
#ifndef AFTERIMAGE_LAYERS_VECTOR_LAYER_H_
#define AFTERIMAGE_LAYERS_VECTOR_LAYER_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/vector_index.h"
#include "layers/layer.h"
#include "store/digest_hash.h"
#include "store/disk_store.h"

namespace afterimage {

// What a vector layer makes of a request. Thread safety: all methods may be called from any thread.
class VectorSource {
 public:
  virtual ~VectorSource() = default;

  virtual int dim() const = 0;
  virtual Modality modality() const = 0;
  virtual std::string identity() const = 0;  // vectors of another are never compared

  // Names what the vector is made of: equal keys, equal vectors. Cheap. nullopt: the request has nothing for it.
  virtual std::optional<Digest> KeyOf(const LayerQuery& query) const = 0;
  // Of length dim(), finite. Errors: any; they are a miss.
  virtual Result<std::vector<float>> VectorOf(const LayerQuery& query) = 0;
};

struct VectorLayerOptions {
  std::string key;         // "semantic_text", "embedding:prompt"
  std::string provenance;  // "text:semantic", "embedding:prompt"
  double threshold = 0;
  std::string index = "flat";
  std::string tenant;
  Digest compatibility;
};

class VectorLayer final : public Layer {
 public:
  // Reads all vectors of its space. The store must outlive the layer. Errors: kInvalidArgument (the index), kIo.
  static Result<std::unique_ptr<Layer>> Open(DiskStore& store, VectorLayerOptions options,
                                             std::unique_ptr<VectorSource> source);

  std::string_view key() const override { return options_.key; }
  std::string_view provenance() const override { return options_.provenance; }
  Modality modality() const override { return source_->modality(); }
  double threshold() const override { return options_.threshold; }

  // For each of the nearest `limit` vectors its best donor: one with the same pictures, else the newest.
  Result<std::vector<Candidate>> Lookup(const LayerQuery& query) override;
  void Record(const LayerQuery& query, RequestRow& row, std::vector<VectorRow>& vectors) override;

  size_t size() const { return index_->size(); }

 private:
  VectorLayer(DiskStore& store, VectorLayerOptions options, std::unique_ptr<VectorSource> source);

  Status Load();
  // Unit length; the request's, computed at most once.
  Result<std::vector<float>> UnitVectorOf(const LayerQuery& query);
  bool Add(const Digest& key, std::span<const float> vector);
  void Forget(int64_t id);
  bool Knows(const Digest& key) const;

  DiskStore& store_;
  const VectorLayerOptions options_;
  const std::unique_ptr<VectorSource> source_;
  const Digest space_;
  std::unique_ptr<VectorIndex> index_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<Digest, int64_t, DigestHash> ids_;
  std::unordered_map<int64_t, Digest> keys_;
  int64_t next_id_ = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_VECTOR_LAYER_H_
