#include "store/tiered_store.h"

#include <utility>
#include <vector>

namespace afterimage {
namespace {

// A chunk of the slow store that is put into the fast one when it has been read.
class PromotedChunk : public StoredChunk {
 public:
  PromotedChunk(ChunkStore& fast, std::unique_ptr<StoredChunk> chunk, const PutInfo& info)
      : fast_(fast), chunk_(std::move(chunk)), info_(info) {}

  const ChunkHeader& header() const override { return chunk_->header(); }

  Status Read(std::span<const std::span<std::byte>> parts, std::vector<float>* logits) override {
    std::vector<float> own;
    std::vector<float>& into = logits != nullptr ? *logits : own;
    if (Status status = chunk_->Read(parts, &into); !status.ok()) return status;
    std::vector<std::byte> rows;
    rows.reserve(header().rows_bytes);
    for (const std::span<std::byte> part : parts) rows.insert(rows.end(), part.begin(), part.end());
    (void)fast_.Put(header(), rows, std::as_bytes(std::span(into)), info_);
    return {};
  }

 private:
  ChunkStore& fast_;
  const std::unique_ptr<StoredChunk> chunk_;
  const PutInfo info_;
};

}  // namespace

std::optional<ChunkInfo> TieredStore::Find(const Digest& id) {
  std::optional<ChunkInfo> info = fast_.Find(id);
  return info.has_value() ? info : slow_.Find(id);
}

Result<std::optional<std::unique_ptr<StoredChunk>>> TieredStore::Get(const Digest& id) {
  auto found = fast_.Get(id);
  if (found.ok() && found->has_value()) return found;
  const std::optional<ChunkInfo> info = slow_.Find(id);
  if (!info.has_value()) return std::optional<std::unique_ptr<StoredChunk>>();
  found = slow_.Get(id);
  if (!found.ok() || !found->has_value()) return found;
  return std::optional<std::unique_ptr<StoredChunk>>(
      std::make_unique<PromotedChunk>(fast_, std::move(**found), PutInfo{.compute_ms = info->compute_ms}));
}

Status TieredStore::Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
                        const PutInfo& info) {
  const Status fast = fast_.Put(header, rows, logits, info);
  Status slow = slow_.Put(header, rows, logits, info);
  // What the fast one has by that id would hide the better one below it.
  if (slow.ok() && !fast.ok()) (void)fast_.Erase(header.id());
  return slow;
}

Status TieredStore::Erase(const Digest& id) {
  const Status fast = fast_.Erase(id);
  Status slow = slow_.Erase(id);
  return slow.ok() ? fast : slow;
}

Status TieredStore::Flush() {
  const Status fast = fast_.Flush();
  Status slow = slow_.Flush();
  return slow.ok() ? fast : slow;
}

StoreStats TieredStore::stats() const {
  StoreStats stats = slow_.stats();
  stats.bytes_read += fast_.stats().bytes_read;
  return stats;
}

}  // namespace afterimage
