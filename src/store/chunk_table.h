// ChunkTable: what a store holds, in memory, with the sums that limits and statistics are about.
//
// Cost: about 250 bytes a chunk; every method is O(1) but EvictionEntries. Thread safety: none; its store locks.
#ifndef AFTERIMAGE_STORE_CHUNK_TABLE_H_
#define AFTERIMAGE_STORE_CHUNK_TABLE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "afterimage/digest.h"
#include "store/catalogue.h"
#include "store/chunk_format.h"
#include "store/chunk_store.h"
#include "store/digest_hash.h"
#include "store/eviction.h"
#include "store/memory_chunk.h"

namespace afterimage {

inline constexpr int32_t kBlockTokens = 16;

struct HeldChunk {
  ChunkHeader::Kind kind = ChunkHeader::Kind::kKv;
  Digest parent;
  Digest numerics;
  int32_t n_tokens = 0;
  uint64_t rows_bytes = 0;
  uint64_t logits_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t header_sum = 0;  // chunk_file.h; disk store only
  int64_t created_ns = 0;
  int64_t used_ns = 0;
  uint64_t hits = 0;
  double compute_ms = 0;
  uint64_t generation = 0;  // another one for every Put: tells a chunk from the one that replaced it
  SharedChunk bytes;        // memory store: always; disk store: until it is committed

  uint64_t blocks() const;
  // Alone, were nothing else held.
  bool Exceeds(const EvictionLimits& limits) const;
  ChunkInfo Info(const char* tier) const;
};

// What the header says; the rest is for the caller to fill.
HeldChunk HeldFrom(const ChunkHeader& header);
// All that the row says.
HeldChunk HeldFrom(const ChunkRow& row);

class ChunkTable {
 public:
  // nullptr: not held. Sizes and kind must not be changed through it.
  HeldChunk* Find(const Digest& id);
  // Whether what is held under that id is as good as a chunk with this header: then a Put changes nothing. Numerics
  // must be the same, and a chunk without logits gives way to one that has them.
  bool Holds(const Digest& id, const ChunkHeader& header);

  // Adds, or replaces.
  void Put(const Digest& id, HeldChunk chunk);
  bool Remove(const Digest& id);

  bool Exceeds(const EvictionLimits& limits) const;
  // All chunks; those with a generation of at least `fresh_from` are fresh.
  std::vector<EvictionEntry> EvictionEntries(uint64_t fresh_from) const;

  // The sums over what is held; the counters are zero.
  const StoreStats& stats() const { return stats_; }

 private:
  void Count(const HeldChunk& chunk, bool add);

  std::unordered_map<Digest, HeldChunk, DigestHash> chunks_;
  StoreStats stats_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_CHUNK_TABLE_H_
