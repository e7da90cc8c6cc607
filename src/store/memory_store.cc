#include "store/memory_store.h"

#include <string>
#include <utility>
#include <vector>

namespace afterimage {

std::optional<ChunkInfo> MemoryStore::Find(const Digest& id) {
  const std::lock_guard lock(mutex_);
  const HeldChunk* held = table_.Find(id);
  return held == nullptr ? std::nullopt : std::optional(held->Info("memory"));
}

Result<std::optional<std::unique_ptr<StoredChunk>>> MemoryStore::Get(const Digest& id) {
  using Found = std::optional<std::unique_ptr<StoredChunk>>;
  const std::lock_guard lock(mutex_);
  HeldChunk* held = table_.Find(id);
  if (held == nullptr) return Found();
  ++held->hits;
  held->used_ns = clock_.Now().count();
  return Found(ReadFromMemory(held->bytes, bytes_read_));
}

Status MemoryStore::Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
                        const PutInfo& info) {
  const Digest id = header.id();
  HeldChunk held = HeldFrom(header);
  held.file_bytes = FileBytes(header);
  held.compute_ms = info.compute_ms;
  {
    const std::lock_guard lock(mutex_);
    if (table_.Holds(id, header)) return {};
    if (held.Exceeds({options_.max_bytes, options_.max_blocks})) {
      ++counters_.rejected;
      return Error{Errc::kTooLarge,
                   "a chunk of " + std::to_string(held.file_bytes) + " bytes does not fit into the store"};
    }
  }
  held.bytes = CopyChunk(header, rows, logits);
  const std::lock_guard lock(mutex_);
  if (table_.Holds(id, header)) return {};  // by another thread, meanwhile
  held.generation = next_generation_++;
  held.created_ns = held.used_ns = clock_.Now().count();
  counters_.bytes_written += held.file_bytes;
  table_.Put(id, std::move(held));
  MakeRoom();
  return {};
}

void MemoryStore::MakeRoom() {
  if (!table_.Exceeds({options_.max_bytes, options_.max_blocks})) return;
  const std::vector<EvictionEntry> entries = table_.EvictionEntries(next_generation_ - 1);
  const EvictionLimits goal = {FreeTo(options_.max_bytes), FreeTo(options_.max_blocks)};
  for (const Digest& id : ChooseVictims(entries, goal, options_.half_life_ns)) {
    table_.Remove(id);
    ++counters_.evicted;
  }
}

Status MemoryStore::Erase(const Digest& id) {
  const std::lock_guard lock(mutex_);
  table_.Remove(id);
  return {};
}

StoreStats MemoryStore::stats() const {
  const std::lock_guard lock(mutex_);
  StoreStats stats = table_.stats();
  stats.evicted = counters_.evicted;
  stats.rejected = counters_.rejected;
  stats.bytes_written = counters_.bytes_written;
  stats.bytes_read = bytes_read_;
  return stats;
}

}  // namespace afterimage
