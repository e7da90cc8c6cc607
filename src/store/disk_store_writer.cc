// The writer thread of DiskStore: one group of queued work after the other.
//
// The order within a group is what makes it safe to stop anywhere: rows of what goes are deleted before the files, rows
// of what comes are inserted after the files. So at any moment every row has its file.

#include <algorithm>
#include <array>
#include <cassert>
#include <set>
#include <utility>

#include "store/disk_store.h"

namespace afterimage {
namespace {

// A group ends here, so that the queue has room again before all of it is written.
constexpr uint64_t kGroupBytes = uint64_t{64} << 20;

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

void DiskStore::WriterMain() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return !queue_.empty() || closing_; });
    const bool last = queue_.empty();  // then there are only uses to be committed
    Group group = TakeGroup();
    lock.unlock();
    Process(std::move(group));
    lock.lock();
    if (last) return;
  }
}

DiskStore::Group DiskStore::TakeGroup() {
  Group group;
  const Overloaded take = {
      [&](QueuedChunk& chunk) {
        group.bytes += FileBytes(chunk.chunk->header);
        if (chunk.replaces) group.erased.push_back({chunk.id, chunk.chunk->header.kind});
        group.chunks.push_back(std::move(chunk));
      },
      [&](QueuedErase& erase) { group.erased.push_back(erase); },
      [&](const QueuedMend& mend) { group.mend = group.mend || mend.n_mended == n_mended_; },
      [&](QueuedRequest& request) { group.requests.push_back(std::move(request)); },
      [&](Rate& rate) { group.rates.push_back(std::move(rate)); },
  };
  while (!queue_.empty() && group.bytes < kGroupBytes) {
    std::visit(take, queue_.front());
    queue_.pop_front();
    ++group.n_items;
  }
  return group;
}

void DiskStore::Process(Group group) {
  ChooseVictims(group);
  not_forgotten_.insert(not_forgotten_.end(), group.erased.begin(), group.erased.end());
  Status status = group.mend ? MendCatalogue() : Status();
  if (status.ok()) status = Mending([&] { return Forget(); });
  if (status.ok()) {
    WriteFiles(group);
    status = Mending([&] { return Commit(group); });
  }
  Finish(group, status);
}

// Onto a catalogue that turns out to be damaged nothing can be committed: onto a new one, the second time.
Status DiskStore::Mending(const std::function<Status()>& commit) {
  Status status = commit();
  if (status.ok() || status.error().code != Errc::kCorrupt) return status;
  if (Status mended = MendCatalogue(); !mended.ok()) return mended;
  return commit();
}

// Adds to the group's erased ones what must go for it.
void DiskStore::ChooseVictims(Group& group) {
  std::vector<EvictionEntry> entries;
  {
    const std::lock_guard lock(mutex_);
    if (!table_.Exceeds(limits())) return;
    const uint64_t fresh_from = group.chunks.empty() ? next_generation_ : group.chunks.front().generation;
    entries = table_.EvictionEntries(fresh_from);
  }
  const EvictionLimits goal = {FreeTo(options_.max_bytes), FreeTo(options_.max_blocks)};
  const std::vector<Digest> victims = afterimage::ChooseVictims(entries, goal, options_.half_life_ns);
  const std::lock_guard lock(mutex_);
  for (const Digest& id : victims) {
    const HeldChunk* held = table_.Find(id);
    if (held == nullptr) continue;
    group.erased.push_back({id, held->kind});
    table_.Remove(id);
    ++counters_.evicted;
  }
}

Status DiskStore::Forget() {
  if (not_forgotten_.empty()) return {};
  CatalogueBatch batch;
  for (const QueuedErase& erase : not_forgotten_) batch.deleted.push_back(erase.id);
  if (Status status = catalogue_->Commit(batch); !status.ok()) return status;
  // A file that cannot be removed is one without a row: the next Open tries again.
  for (const QueuedErase& erase : not_forgotten_) (void)files_.Remove(layout_.PathOf(erase.kind, erase.id));
  not_forgotten_.clear();
  return {};
}

Status DiskStore::WriteChunkFile(const QueuedChunk& queued) {
  const bool sync = options_.durability == Durability::kPower;
  const ChunkHeader::Kind kind = queued.chunk->header.kind;
  const std::string folder = layout_.FolderOf(kind, queued.id);
  if (!folders_made_.contains(folder)) {
    if (Status status = files_.MakeFolders(folder); !status.ok()) return status;
    if (sync) {
      if (Status status = files_.SyncFolder(layout_.chunks(kind)); !status.ok()) return status;
    }
    folders_made_.insert(folder);
  }
  Checksum checksum;
  checksum.Add(queued.chunk->bytes);
  const ChecksumBytes sum = checksum.Finish();
  const std::array<std::span<const std::byte>, 2> parts = {queued.chunk->bytes, sum};
  return files_.WriteFile(layout_.PathOf(kind, queued.id), parts, sync);
}

// Leaves in the group the chunks whose files are safely down.
void DiskStore::WriteFiles(Group& group) {
  const auto is_current = [&](const QueuedChunk& queued) {
    const std::lock_guard lock(mutex_);
    const HeldChunk* held = table_.Find(queued.id);
    return held != nullptr && held->generation == queued.generation;
  };
  std::vector<QueuedChunk> written;
  std::set<std::string> folders;
  for (QueuedChunk& queued : group.chunks) {
    if (!is_current(queued)) continue;  // erased, evicted or replaced before its turn
    if (const Status status = WriteChunkFile(queued); !status.ok()) {
      Drop({queued}, status.error());
      continue;
    }
    folders.insert(layout_.FolderOf(queued.chunk->header.kind, queued.id));
    written.push_back(std::move(queued));
  }
  group.chunks = std::move(written);
  if (options_.durability != Durability::kPower) return;
  for (const std::string& folder : folders) {
    const Status status = files_.SyncFolder(folder);
    if (status.ok()) continue;
    std::vector<QueuedChunk> kept;
    std::vector<QueuedChunk> lost;
    for (QueuedChunk& queued : group.chunks) {
      const bool in_folder = layout_.FolderOf(queued.chunk->header.kind, queued.id) == folder;
      (in_folder ? lost : kept).push_back(std::move(queued));
    }
    Drop(lost, status.error());
    group.chunks = std::move(kept);
  }
}

// One transaction: the rows of the chunks, the uses counted since the last, the requests with their vectors, and
// the rates.
Status DiskStore::Commit(Group& group) {
  CatalogueBatch batch;
  {
    const std::lock_guard lock(mutex_);
    std::unordered_set<Digest, DigestHash> written;
    for (const QueuedChunk& queued : group.chunks) {
      const HeldChunk* held = table_.Find(queued.id);
      if (held == nullptr || held->generation != queued.generation) continue;  // what ended it is in the queue
      written.insert(queued.id);
      batch.chunks.push_back({.id = queued.id,
                              .header = queued.chunk->header,
                              .header_sum = held->header_sum,
                              .file_bytes = held->file_bytes,
                              .created_ns = held->created_ns,
                              .used_ns = held->used_ns,
                              .hits = held->hits,
                              .compute_ms = held->compute_ms});
      touched_.erase(queued.id);
    }
    for (const Digest& id : std::exchange(touched_, {})) {
      const HeldChunk* held = table_.Find(id);
      if (held == nullptr) continue;
      if (held->bytes != nullptr) {
        touched_.insert(id);  // it has no row yet
      } else {
        batch.touched.push_back({id, held->used_ns, held->hits});
      }
    }
    for (const QueuedRequest& request : group.requests) {
      const HeldChunk* leaf = table_.Find(request.row.leaf);
      if (leaf == nullptr || (leaf->bytes != nullptr && !written.contains(request.row.leaf))) continue;
      batch.requests.push_back(request.row);
      batch.vectors.insert(batch.vectors.end(), request.vectors->begin(), request.vectors->end());
    }
  }
  batch.rates = group.rates;
  return catalogue_->Commit(batch);
}

void DiskStore::Finish(const Group& group, const Status& committed) {
  if (!committed.ok()) Drop(group.chunks, committed.error());
  {
    const std::lock_guard lock(mutex_);
    if (committed.ok()) {
      for (const QueuedChunk& queued : group.chunks) {
        counters_.bytes_written += FileBytes(queued.chunk->header);
        HeldChunk* held = table_.Find(queued.id);
        if (held != nullptr && held->generation == queued.generation) held->bytes = nullptr;
      }
    } else {
      flush_status_ = committed;
    }
    const auto n_requests = static_cast<std::ptrdiff_t>(group.requests.size());
    queued_requests_.erase(queued_requests_.begin(), queued_requests_.begin() + n_requests);
    queued_bytes_ -= group.bytes;
    finished_ += group.n_items;
  }
  space_.notify_all();
  done_.notify_all();
}

// Chunks that could not be written: their files go, and lookups miss them.
void DiskStore::Drop(const std::vector<QueuedChunk>& chunks, const Error& error) {
  for (const QueuedChunk& queued : chunks) {
    (void)files_.Remove(layout_.PathOf(queued.chunk->header.kind, queued.id));
    const std::lock_guard lock(mutex_);
    const HeldChunk* held = table_.Find(queued.id);
    if (held != nullptr && held->generation == queued.generation) table_.Remove(queued.id);
    ++counters_.write_errors;
    flush_status_ = error;
  }
}

}  // namespace afterimage
