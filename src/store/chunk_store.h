// ChunkStore: where chunks live between requests.
//
// A store maps a chunk's id (ChunkHeader::id) to what an engine wrote for one segment. It is a cache, not a database:
// it may forget any chunk at any time, and it never returns bytes that differ from those put. Tiers are stores that
// hold stores (tiered_store.h).
//
// Thread safety: all methods may be called from any thread. A StoredChunk belongs to one thread at a time.
#ifndef AFTERIMAGE_STORE_CHUNK_STORE_H_
#define AFTERIMAGE_STORE_CHUNK_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"
#include "store/chunk_format.h"

namespace afterimage {

// What a planner wants to know of a chunk, without touching its bytes.
struct ChunkInfo {
  ChunkHeader::Kind kind = ChunkHeader::Kind::kKv;
  Digest numerics;
  int32_t n_tokens = 0;
  uint64_t file_bytes = 0;  // all of it: header, body, checksum
  uint64_t logits_bytes = 0;
  double compute_ms = 0;  // PutInfo::compute_ms
  std::string tier;       // "memory", "disk", "queue": where it would be read from now
};

// What is known about a chunk beside its bytes when it is put.
struct PutInfo {
  double compute_ms = 0;  // what it took to compute; eviction weighs by it
};

// A chunk held while this lives: evicting, erasing or replacing it does not disturb the reading. The store must outlive
// it.
class StoredChunk {
 public:
  virtual ~StoredChunk() = default;
  virtual const ChunkHeader& header() const = 0;

  // Reads the whole body: the rows, in order, straight into the parts, and the logits (null: dropped, but checked).
  // REQUIRES: the parts' sizes add up to header().rows_bytes. Ok means that every byte passed the checksum.
  // Errors: kCorrupt (the store has quarantined the chunk and counted it), kIo.
  virtual Status Read(std::span<const std::span<std::byte>> parts, std::vector<float>* logits) = 0;
};

struct StoreStats {
  uint64_t chunks = 0;
  uint64_t file_bytes = 0;    // of all chunks
  uint64_t kv_bytes = 0;      // rows of KV chunks
  uint64_t fusion_bytes = 0;  // values of fusion chunks
  uint64_t logits_bytes = 0;
  uint64_t overhead_bytes = 0;  // headers, padding, checksums
  uint64_t blocks = 0;          // of 16 tokens, over KV chunks, each rounded up
  uint64_t evicted = 0;         // since it was opened, as all below
  uint64_t quarantined = 0;
  uint64_t rejected = 0;      // not admitted: larger than the queue or a limit
  uint64_t write_errors = 0;  // dropped: the disk did not take them
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
};

class ChunkStore {
 public:
  virtual ~ChunkStore() = default;

  // Whether the store holds the chunk, and how. Touches no file.
  virtual std::optional<ChunkInfo> Find(const Digest& id) = 0;

  // The chunk, or nullopt if the store does not hold it. A file that is missing or whose header is not that of the
  // chunk asked for counts as not held: it is quarantined and counted. Errors: kIo.
  virtual Result<std::optional<std::unique_ptr<StoredChunk>>> Get(const Digest& id) = 0;

  // Offers a chunk; the bytes are copied before it returns, and lookups see it at once. Ok does not promise admission
  // nor durability (Flush). A chunk already held is replaced if its numerics differ, or if it lacks logits and this one
  // has them: what was the middle of a prompt is now the end of one. REQUIRES: rows and logits of the sizes in the
  // header, and what EncodeHeader requires. Errors: kTooLarge (rejected: larger than the store's queue or limits by
  // itself; what was held stays), kUnsupported (read-only).
  virtual Status Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
                     const PutInfo& info) = 0;

  // Forgets a chunk; one that is not held is fine.
  virtual Status Erase(const Digest& id) = 0;

  // Returns when everything put before has been made durable or dropped. Errors: kIo, if something could not be
  // written; it was dropped then.
  virtual Status Flush() = 0;

  virtual StoreStats stats() const = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_CHUNK_STORE_H_
