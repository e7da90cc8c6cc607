// Layer: one way to find a donor, an earlier request whose state may serve a new one.
//
// A layer names candidates and never touches bytes. Whether a candidate may be used is for the gates (cache/), and
// what of it is stored for stored_state.h.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_LAYERS_LAYER_H_
#define AFTERIMAGE_LAYERS_LAYER_H_

#include <string>
#include <string_view>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"
#include "layers/donor_record.h"

namespace afterimage {

// What a layer may match by.
struct LayerQuery {
  std::string chunk_text;
  std::vector<Digest> pictures;
  size_t limit = 8;  // of candidates
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

  // The best first. Errors: kIo, kCorrupt and others of the catalogue; to the cache they are a miss.
  virtual Result<std::vector<Candidate>> Lookup(const LayerQuery& query) = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_LAYER_H_
