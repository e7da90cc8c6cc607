#include "store/chunk_table.h"

#include <utility>

namespace afterimage {
namespace {

bool OverLimits(uint64_t bytes, uint64_t blocks, const EvictionLimits& limits) {
  return (limits.max_bytes != 0 && bytes > limits.max_bytes) || (limits.max_blocks != 0 && blocks > limits.max_blocks);
}

}  // namespace

uint64_t HeldChunk::blocks() const {
  if (kind != ChunkHeader::Kind::kKv) return 0;
  return (static_cast<uint64_t>(n_tokens) + kBlockTokens - 1) / kBlockTokens;
}

ChunkInfo HeldChunk::Info(const char* tier) const {
  return {.kind = kind,
          .numerics = numerics,
          .n_tokens = n_tokens,
          .file_bytes = file_bytes,
          .logits_bytes = logits_bytes,
          .compute_ms = compute_ms,
          .tier = tier};
}

bool HeldChunk::Exceeds(const EvictionLimits& limits) const { return OverLimits(file_bytes, blocks(), limits); }

HeldChunk HeldFrom(const ChunkHeader& header) {
  HeldChunk held;
  held.kind = header.kind;
  held.parent = header.parent;
  held.numerics = header.numerics;
  held.n_tokens = header.n_tokens;
  held.rows_bytes = header.rows_bytes;
  held.logits_bytes = header.logits_bytes;
  return held;
}

HeldChunk HeldFrom(const ChunkRow& row) {
  HeldChunk held = HeldFrom(row.header);
  held.file_bytes = row.file_bytes;
  held.header_sum = row.header_sum;
  held.created_ns = row.created_ns;
  held.used_ns = row.used_ns;
  held.hits = row.hits;
  held.compute_ms = row.compute_ms;
  return held;
}

HeldChunk* ChunkTable::Find(const Digest& id) {
  const auto found = chunks_.find(id);
  return found == chunks_.end() ? nullptr : &found->second;
}

void ChunkTable::Put(const Digest& id, HeldChunk chunk) {
  Remove(id);
  Count(chunk, true);
  chunks_.emplace(id, std::move(chunk));
}

bool ChunkTable::Remove(const Digest& id) {
  const auto found = chunks_.find(id);
  if (found == chunks_.end()) return false;
  Count(found->second, false);
  chunks_.erase(found);
  return true;
}

bool ChunkTable::Holds(const Digest& id, const ChunkHeader& header) {
  const HeldChunk* held = Find(id);
  return held != nullptr && held->numerics == header.numerics && (held->logits_bytes > 0 || header.logits_bytes == 0);
}

bool ChunkTable::Exceeds(const EvictionLimits& limits) const {
  return OverLimits(stats_.file_bytes, stats_.blocks, limits);
}

std::vector<EvictionEntry> ChunkTable::EvictionEntries(uint64_t fresh_from) const {
  std::vector<EvictionEntry> entries;
  entries.reserve(chunks_.size());
  for (const auto& [id, chunk] : chunks_) {
    entries.push_back({.id = id,
                       .parent = chunk.parent,
                       .bytes = chunk.file_bytes,
                       .blocks = chunk.blocks(),
                       .compute_ms = chunk.compute_ms,
                       .hits = chunk.hits,
                       .used_ns = chunk.used_ns,
                       .fresh = chunk.generation >= fresh_from});
  }
  return entries;
}

void ChunkTable::Count(const HeldChunk& chunk, bool add) {
  const auto count = [add](uint64_t& sum, uint64_t n) { sum = add ? sum + n : sum - n; };
  count(stats_.chunks, 1);
  count(stats_.file_bytes, chunk.file_bytes);
  count(chunk.kind == ChunkHeader::Kind::kKv ? stats_.kv_bytes : stats_.fusion_bytes, chunk.rows_bytes);
  count(stats_.logits_bytes, chunk.logits_bytes);
  count(stats_.overhead_bytes, chunk.file_bytes - chunk.rows_bytes - chunk.logits_bytes);
  count(stats_.blocks, chunk.blocks());
}

}  // namespace afterimage
