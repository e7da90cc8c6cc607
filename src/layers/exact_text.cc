#include "layers/exact_text.h"

#include "layers/normalized_text.h"

namespace afterimage {

Result<std::vector<Candidate>> ExactTextLayer::Lookup(const LayerQuery& query) {
  Result<std::vector<RequestRow>> rows =
      store_.FindRequests(tenant_, compatibility_, NormalizedText(query.chunk_text), query.pictures, query.limit);
  if (!rows.ok()) return rows.error();
  std::vector<Candidate> candidates;
  for (RequestRow& row : *rows) {
    std::optional<DonorRecord> record = DecodeDonor(row.payload);
    if (!record.has_value()) continue;
    candidates.push_back({std::move(*record), std::move(row.pictures), row.leaf, 1.0});
  }
  return candidates;
}

}  // namespace afterimage
