#include "layers/vector_layer.h"

#include <cmath>

#include "core/sha256.h"
#include "layers/exact_text.h"

namespace afterimage {
namespace {

Digest SpaceOf(const VectorLayerOptions& options, const VectorSource& source) {
  return Sha256()
      .Add("vector space")
      .Add(options.tenant)
      .Add(options.compatibility)
      .Add(options.key)
      .Add(source.identity())
      .Add(source.dim())
      .Finish();
}

// False for a vector without direction.
bool Normalize(std::vector<float>& vector) {
  double sum = 0;
  for (const float value : vector) sum += double{value} * value;
  if (!std::isfinite(sum) || sum <= 0) return false;
  const double scale = 1 / std::sqrt(sum);
  for (float& value : vector) value = static_cast<float>(value * scale);
  return true;
}

}  // namespace

VectorLayer::VectorLayer(DiskStore& store, VectorLayerOptions options, std::unique_ptr<VectorSource> source)
    : store_(store), options_(std::move(options)), source_(std::move(source)), space_(SpaceOf(options_, *source_)) {}

Result<std::unique_ptr<Layer>> VectorLayer::Open(DiskStore& store, VectorLayerOptions options,
                                                 std::unique_ptr<VectorSource> source) {
  Result<std::unique_ptr<VectorIndex>> index = NewVectorIndex(options.index, source->dim());
  if (!index.ok()) return index.error();
  std::unique_ptr<VectorLayer> layer(new VectorLayer(store, std::move(options), std::move(source)));
  layer->index_ = std::move(*index);
  if (Status status = layer->Load(); !status.ok()) return status.error();
  return std::unique_ptr<Layer>(std::move(layer));
}

Status VectorLayer::Load() {
  const Result<std::vector<VectorRow>> rows = store_.catalogue().LoadVectors(space_);
  if (!rows.ok()) return rows.error();
  for (const VectorRow& row : *rows) Add(row.ref.key, row.values);
  return {};
}

bool VectorLayer::Add(const Digest& key, std::span<const float> vector) {
  const std::lock_guard lock(mutex_);
  if (ids_.contains(key)) return false;
  const int64_t id = next_id_++;
  if (!index_->Add(id, vector).ok()) return false;
  ids_.emplace(key, id);
  keys_.emplace(id, key);
  return true;
}

void VectorLayer::Forget(int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(id);
  if (found == keys_.end()) return;
  ids_.erase(found->second);
  keys_.erase(found);
  index_->Remove(id);
}

bool VectorLayer::Knows(const Digest& key) const {
  const std::lock_guard lock(mutex_);
  return ids_.contains(key);
}

Result<std::vector<float>> VectorLayer::UnitVectorOf(const LayerQuery& query) {
  return query.memo->Get(options_.key, [&]() -> Result<std::vector<float>> {
    Result<std::vector<float>> vector = source_->VectorOf(query);
    if (vector.ok() && !Normalize(*vector)) {
      return Error{Errc::kInvalidArgument, "the vector is not finite, or all zeros"};
    }
    return vector;
  });
}

Result<std::vector<Candidate>> VectorLayer::Lookup(const LayerQuery& query) {
  if (!source_->KeyOf(query).has_value()) return Error{Errc::kNotFound, "the request has nothing for this layer"};
  if (index_->size() == 0) return std::vector<Candidate>();  // nothing to compare with: the vector can wait
  const Result<std::vector<float>> vector = UnitVectorOf(query);
  if (!vector.ok()) return vector.error();
  const Result<std::vector<Neighbour>> nearest = index_->Search(*vector, query.limit);
  if (!nearest.ok()) return nearest.error();
  std::vector<Candidate> candidates;
  for (const Neighbour& neighbour : *nearest) {
    Digest key;
    {
      const std::lock_guard lock(mutex_);
      const auto found = keys_.find(neighbour.id);
      if (found == keys_.end()) continue;
      key = found->second;
    }
    Result<std::vector<RequestRow>> rows = store_.FindRequests({space_, key}, query.preferred_pictures(), 1);
    if (!rows.ok()) return rows.error();
    if (rows->empty()) Forget(neighbour.id);  // its last donor was evicted
    for (Candidate& candidate : CandidatesOf(std::move(*rows), neighbour.score)) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

void VectorLayer::Record(const LayerQuery& query, RequestRow& row, std::vector<VectorRow>& vectors) {
  const std::optional<Digest> key = source_->KeyOf(query);
  if (!key.has_value()) return;
  if (!Knows(*key)) {
    const Result<std::vector<float>> vector = UnitVectorOf(query);
    if (!vector.ok()) return;
    vectors.push_back({{space_, *key}, options_.key, *vector});
    Add(*key, *vector);
  }
  row.vectors.push_back({space_, *key});
}

}  // namespace afterimage
