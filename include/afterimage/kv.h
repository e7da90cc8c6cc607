// KV rows: the attention state of one segment, in the canonical form in which it is stored and moved.
//
// For every layer, in order: the K rows of the segment's tokens, then their V rows, one row per token in prompt order.
// Rows carry no header and no positions: those follow from the prompt they are put back into, and are checked there.
// So rows can be cut at any token, and a chain of segments is joined by copying rows into place.
#ifndef AFTERIMAGE_KV_H_
#define AFTERIMAGE_KV_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

// The shape of an engine's rows.
struct KvLayout {
  struct Layer {
    std::string k_type;  // "f16", ...
    std::string v_type;
    uint64_t k_row_bytes = 0;
    uint64_t v_row_bytes = 0;
    bool operator==(const Layer&) const = default;
  };
  std::vector<Layer> layers;

  uint64_t bytes_per_token() const;
  bool operator==(const KvLayout&) const = default;
};

// Where the rows of one segment come from: memory, or a file read straight into place.
class KvSource {
 public:
  virtual ~KvSource() = default;

  virtual uint64_t size() const = 0;

  // Writes all size() bytes, in order, into the parts: first the K rows of layer 0, then its V rows, and so on.
  // REQUIRES: the parts' sizes add up to size(). An implementation that can check its bytes does so before it
  // returns ok. Errors: kCorrupt, kIo; the parts then hold anything.
  virtual Status CopyTo(std::span<const std::span<std::byte>> parts) = 0;
};

// Rows in memory, not owned.
class SpanKvSource : public KvSource {
 public:
  explicit SpanKvSource(std::span<const std::byte> rows) : rows_(rows) {}
  uint64_t size() const override { return rows_.size(); }
  Status CopyTo(std::span<const std::span<std::byte>> parts) override;

 private:
  std::span<const std::byte> rows_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_KV_H_
