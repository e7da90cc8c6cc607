#include "layers/exact_text.h"

#include "core/normalized_text.h"

namespace afterimage {

std::vector<Candidate> CandidatesOf(std::vector<RequestRow> rows, double score) {
  std::vector<Candidate> candidates;
  for (RequestRow& row : rows) {
    std::optional<DonorRecord> record = DecodeDonor(row.payload);
    if (!record.has_value()) continue;
    candidates.push_back({std::move(*record), std::move(row.pictures), row.leaf, score});
  }
  return candidates;
}

Result<std::vector<Candidate>> ExactTextLayer::Lookup(const LayerQuery& query) {
  if (query.input.chunk_text.empty()) return Error{Errc::kNotFound, "the request has no question"};
  Result<std::vector<RequestRow>> rows = store_.FindRequests(
      tenant_, compatibility_, NormalizedText(query.input.chunk_text), query.preferred_pictures(), query.limit);
  if (!rows.ok()) return rows.error();
  return CandidatesOf(std::move(*rows), 1.0);
}

void ExactTextLayer::Record(const LayerQuery& query, RequestRow& row, std::vector<VectorRow>& /*vectors*/) {
  row.text_key = NormalizedText(query.input.chunk_text);
}

}  // namespace afterimage
