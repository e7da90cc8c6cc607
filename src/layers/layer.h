// Layer: one way to find a donor, an earlier request whose state may serve a new one.
//
// A layer names candidates and never touches bytes. Whether a candidate may be used is for the gates (cache/), and
// what of it is stored for stored_state.h. What a layer needs to find a request again later it adds to the request's
// row (Record).
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_LAYERS_LAYER_H_
#define AFTERIMAGE_LAYERS_LAYER_H_

#include <string>
#include <string_view>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/embedding.h"
#include "afterimage/result.h"
#include "layers/donor_record.h"
#include "layers/vector_memo.h"
#include "store/catalogue.h"

namespace afterimage {

// What a layer may match by. What it refers to lives as long as the request is looked at.
struct LayerQuery {
  EmbeddingInput input;  // id, question, chunk text, pictures
  std::vector<Digest> pictures;
  VectorMemo* memo = nullptr;  // vectors of this request, computed at most once
  bool any_donor = false;      // which of a match's donors: the newest, not first those with the same pictures
  size_t limit = 8;            // of candidates

  // That donors come first with.
  std::vector<Digest> preferred_pictures() const { return any_donor ? std::vector<Digest>() : pictures; }
};

struct Candidate {
  DonorRecord record;
  std::vector<Digest> pictures;  // the donor's, in order
  Digest leaf;                   // the chunk of the donor's last segment
  double score = 0;              // 1: equal
};

class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::string_view key() const = 0;         // in statuses: "exact_text"
  virtual std::string_view provenance() const = 0;  // of a hit: "text:exact"
  virtual Modality modality() const = 0;            // what its matches license
  virtual double threshold() const { return 0; }    // a candidate that scores less is a miss

  // The best first; those under the threshold too, for the report. Donors with the same pictures come before others.
  // Errors: kNotFound (the request has nothing this layer matches by: it is skipped); kIo, kCorrupt and others: to the
  // cache they are a miss.
  virtual Result<std::vector<Candidate>> Lookup(const LayerQuery& query) = 0;

  // Adds to the row of a new donor, and to the vectors that go with it, what Lookup will find it by. `query` describes
  // the request that was answered.
  virtual void Record(const LayerQuery& query, RequestRow& row, std::vector<VectorRow>& vectors) = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_LAYER_H_
