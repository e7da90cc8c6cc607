// TieredStore: a fast store over a slow one, as one store.
//
// Put goes to both; to the fast one it is a suggestion, what the slow one says counts. Find and Get ask the fast one
// first. A chunk read from the slow one is put into the fast one too, once its bytes have been read and checked.
//
// Costs: a Put copies the bytes twice, and what is held in both takes its space in both. The first Read from the slow
// store costs two more copies (gathered, then copied in), so that the next ones cost one copy and no check. A miss
// costs two lookups.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_STORE_TIERED_STORE_H_
#define AFTERIMAGE_STORE_TIERED_STORE_H_

#include <memory>
#include <optional>

#include "store/chunk_store.h"

namespace afterimage {

class TieredStore final : public ChunkStore {
 public:
  // Both must outlive this.
  TieredStore(ChunkStore& fast, ChunkStore& slow) : fast_(fast), slow_(slow) {}

  std::optional<ChunkInfo> Find(const Digest& id) override;
  Result<std::optional<std::unique_ptr<StoredChunk>>> Get(const Digest& id) override;
  Status Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
             const PutInfo& info) override;
  Status Erase(const Digest& id) override;
  Status Flush() override;
  // The slow store's, since it holds what lasts; bytes_read of both. Ask the fast one itself for its own.
  StoreStats stats() const override;

 private:
  ChunkStore& fast_;
  ChunkStore& slow_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_TIERED_STORE_H_
