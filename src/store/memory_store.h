// MemoryStore: chunks in memory, as long as the process lives. The fast half of a tiered store, and a store for tests.
//
// Costs: Put, one copy of the bytes, and now and then a choice of what to forget (eviction.h); Get, a lookup; Read, one
// copy. Bytes in memory are not summed and checked: what could change them could change the program as well.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_STORE_MEMORY_STORE_H_
#define AFTERIMAGE_STORE_MEMORY_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "afterimage/clock.h"
#include "store/chunk_store.h"
#include "store/chunk_table.h"

namespace afterimage {

struct MemoryStoreOptions {
  uint64_t max_bytes = 0;   // as if in files; 0: no limit
  uint64_t max_blocks = 0;  // of 16 tokens; 0: no limit
  int64_t half_life_ns = kDefaultHalfLifeNs;
};

class MemoryStore final : public ChunkStore {
 public:
  // The clock must outlive the store.
  MemoryStore(const MemoryStoreOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  std::optional<ChunkInfo> Find(const Digest& id) override;
  Result<std::optional<std::unique_ptr<StoredChunk>>> Get(const Digest& id) override;
  Status Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
             const PutInfo& info) override;
  Status Erase(const Digest& id) override;
  Status Flush() override { return {}; }  // there is nothing it could make durable
  StoreStats stats() const override;

 private:
  void MakeRoom();  // REQUIRES: the lock

  const MemoryStoreOptions options_;
  const Clock& clock_;
  std::atomic<uint64_t> bytes_read_ = 0;

  mutable std::mutex mutex_;
  // From here on guarded by mutex_.
  ChunkTable table_;
  uint64_t next_generation_ = 1;
  StoreStats counters_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_MEMORY_STORE_H_
