// StoredState: which exact state of one prompt a store holds. What the prefix and the fusion layer know.
//
// The KV chunks of a prompt form a chain: a chunk's id names all segments before it, so the longest held run of leading
// segments is what can be put back. A picture's encoder output (fusion chunk) does not depend on what stands before it.
#ifndef AFTERIMAGE_LAYERS_STORED_STATE_H_
#define AFTERIMAGE_LAYERS_STORED_STATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "afterimage/engine.h"
#include "store/chunk_store.h"
#include "store/digest_hash.h"

namespace afterimage {

struct SegmentState {
  Segment::Kind kind = Segment::Kind::kText;
  int n_tokens = 0;
  ChunkHeader header;  // the KV chunk as it would be put now, without logits
  Digest kv_id;
  Digest fusion_id;  // of a picture
  std::optional<ChunkInfo> kv;
  std::optional<ChunkInfo> fusion;
};

struct StoredState {
  std::vector<SegmentState> segments;

  // How many leading segments are held; the last one counts only with its logits.
  size_t held() const;
  // The chunk of the prompt's last segment, held or not.
  const Digest& leaf() const { return segments.back().kv_id; }
};

using DigestSet = std::unordered_set<Digest, DigestHash>;

class StateFinder {
 public:
  // The engine and the store must outlive it. `any_numerics`: state of another build, backend or thread count counts as
  // held too.
  StateFinder(const EngineInfo& info, ChunkStore& store, std::string tenant, bool any_numerics)
      : info_(info), store_(store), tenant_(std::move(tenant)), any_numerics_(any_numerics) {}

  // Chunks in `unusable` count as not held. Touches no file.
  StoredState Find(const Prompt& prompt, const DigestSet& unusable) const;

  // The chunk of a picture's encoder output as it would be put now.
  ChunkHeader FusionHeader(const Segment& segment, const std::string& provider,
                           std::span<const NamedTensor> tensors) const;

 private:
  std::optional<ChunkInfo> FindUsable(const Digest& id, const DigestSet& unusable) const;

  const EngineInfo& info_;
  ChunkStore& store_;
  const std::string tenant_;
  const bool any_numerics_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_STORED_STATE_H_
