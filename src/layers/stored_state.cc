#include "layers/stored_state.h"

namespace afterimage {

size_t StoredState::held() const {
  size_t n = 0;
  while (n < segments.size() && segments[n].kv.has_value()) ++n;
  if (n == segments.size() && segments.back().kv->logits_bytes == 0) --n;
  return n;
}

std::optional<ChunkInfo> StateFinder::FindUsable(const Digest& id, const DigestSet& unusable) const {
  if (unusable.contains(id)) return std::nullopt;
  std::optional<ChunkInfo> found = store_.Find(id);
  if (!found.has_value()) return std::nullopt;
  if (!any_numerics_ && found->numerics != info_.identity.numerics.digest()) return std::nullopt;
  return found;
}

StoredState StateFinder::Find(const Prompt& prompt, const DigestSet& unusable) const {
  StoredState state;
  Digest parent;
  bool chain = true;
  for (const Segment& segment : prompt.segments()) {
    SegmentState& own = state.segments.emplace_back();
    own.kind = segment.kind;
    own.n_tokens = segment.n_tokens;
    own.header.compatibility = info_.identity.compatibility.digest();
    own.header.numerics = info_.identity.numerics.digest();
    own.header.tenant = tenant_;
    own.header.parent = parent;
    own.header.content = segment.content;
    own.header.first_position = segment.first_position;
    own.header.n_positions = segment.n_positions;
    own.header.n_tokens = segment.n_tokens;
    own.header.tokens = segment.tokens;
    own.header.rows_bytes = static_cast<uint64_t>(segment.n_tokens) * info_.kv.bytes_per_token();
    own.kv_id = own.header.id();
    if (chain) own.kv = FindUsable(own.kv_id, unusable);
    chain = own.kv.has_value();
    if (segment.kind == Segment::Kind::kImage) {
      own.fusion_id = FusionHeader(segment, "", {}).id();
      own.fusion = FindUsable(own.fusion_id, unusable);
    }
    parent = own.kv_id;
  }
  return state;
}

ChunkHeader StateFinder::FusionHeader(const Segment& segment, const std::string& provider,
                                      std::span<const NamedTensor> tensors) const {
  ChunkHeader header;
  header.kind = ChunkHeader::Kind::kFusion;
  header.compatibility = info_.identity.compatibility.digest();
  header.numerics = info_.identity.numerics.digest();
  header.tenant = tenant_;
  header.content = segment.content;
  header.n_tokens = segment.n_tokens;
  header.n_positions = segment.n_positions;
  header.provider = provider;
  for (const NamedTensor& tensor : tensors) {
    header.tensors.push_back({tensor.name, tensor.shape});
    header.rows_bytes += tensor.values.size() * sizeof(float);
  }
  return header;
}

}  // namespace afterimage
