// ExactTextLayer: donors with the same normalised chunk text, whatever their picture.
#ifndef AFTERIMAGE_LAYERS_EXACT_TEXT_H_
#define AFTERIMAGE_LAYERS_EXACT_TEXT_H_

#include <string>
#include <vector>

#include "layers/layer.h"
#include "store/disk_store.h"

namespace afterimage {

class ExactTextLayer final : public Layer {
 public:
  // The store must outlive the layer.
  ExactTextLayer(DiskStore& store, std::string tenant, const Digest& compatibility)
      : store_(store), tenant_(std::move(tenant)), compatibility_(compatibility) {}

  std::string_view key() const override { return "exact_text"; }
  std::string_view provenance() const override { return "text:exact"; }
  Modality modality() const override { return Modality::kText; }

  // Donors with the same pictures first, then the newest; all with score 1.
  Result<std::vector<Candidate>> Lookup(const LayerQuery& query) override;
  void Record(const LayerQuery& query, RequestRow& row, std::vector<VectorRow>& vectors) override;

 private:
  DiskStore& store_;
  const std::string tenant_;
  const Digest compatibility_;
};

// Candidates out of rows; a row whose payload cannot be read is left out.
std::vector<Candidate> CandidatesOf(std::vector<RequestRow> rows, double score);

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_EXACT_TEXT_H_
