#include "store/disk_store.h"

#include <algorithm>
#include <utility>

#include "store/chunk_file.h"

namespace afterimage {
namespace {

constexpr uint64_t kMaxQuarantined = 64;

Error ReadOnlyError() { return {Errc::kUnsupported, "the store is open for reading only"}; }

}  // namespace

// A chunk in its file, which stays open: removing its name does not disturb the reading.
class DiskChunk : public StoredChunk {
 public:
  DiskChunk(DiskStore& store, const Digest& id, uint64_t generation, std::unique_ptr<ChunkFile> file)
      : store_(store), id_(id), generation_(generation), file_(std::move(file)) {}

  const ChunkHeader& header() const override { return file_->header(); }

  Status Read(std::span<const std::span<std::byte>> parts, std::vector<float>* logits) override {
    Status status = file_->Read(parts, logits);
    if (status.ok()) {
      store_.bytes_read_ += file_->file_bytes();
    } else if (status.error().code == Errc::kCorrupt) {
      store_.Quarantine(id_, generation_);
    }
    return status;
  }

 private:
  DiskStore& store_;
  const Digest id_;
  const uint64_t generation_;
  const std::unique_ptr<ChunkFile> file_;
};

DiskStore::DiskStore(const DiskStoreOptions& options, FileSystem& files, const Clock& clock)
    : options_(options), files_(files), clock_(clock), layout_(options.folder, options.fusion_folder) {}

Result<std::unique_ptr<DiskStore>> DiskStore::Open(const DiskStoreOptions& options, FileSystem& files,
                                                   const Clock& clock) {
  if (options.folder.empty()) return Error{Errc::kInvalidArgument, "a disk store needs a folder"};
  std::unique_ptr<DiskStore> store(new DiskStore(options, files, clock));
  if (Status status = store->Start(); !status.ok()) return status.error();
  return store;
}

DiskStore::~DiskStore() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_.notify_all();
  writer_.join();
}

std::optional<ChunkInfo> DiskStore::Find(const Digest& id) {
  const std::lock_guard lock(mutex_);
  const HeldChunk* held = table_.Find(id);
  if (held == nullptr) return std::nullopt;
  return held->Info(held->bytes != nullptr ? "queue" : "disk");
}

Result<std::optional<std::unique_ptr<StoredChunk>>> DiskStore::Get(const Digest& id) {
  using Found = std::optional<std::unique_ptr<StoredChunk>>;
  ChunkFile::Claim claim;
  uint64_t generation = 0;
  std::string path;
  const auto count_use = [&](HeldChunk& held) {
    ++held.hits;
    held.used_ns = NowNs();
    if (!options_.read_only) touched_.insert(id);
  };
  {
    const std::lock_guard lock(mutex_);
    HeldChunk* held = table_.Find(id);
    if (held == nullptr) return Found();
    if (held->bytes != nullptr) {
      count_use(*held);
      return Found(ReadFromMemory(held->bytes, bytes_read_));
    }
    claim = {held->header_sum, held->rows_bytes, held->logits_bytes, held->file_bytes};
    generation = held->generation;
    path = layout_.PathOf(held->kind, id);
  }
  Result<std::unique_ptr<ChunkFile>> file = ChunkFile::Open(files_, path, claim);
  if (!file.ok()) {
    if (file.error().code != Errc::kNotFound && file.error().code != Errc::kCorrupt) return file.error();
    // To a reader beside a writer, a missing file is only one that was evicted since.
    if (!options_.read_only || file.error().code == Errc::kCorrupt) Quarantine(id, generation);
    return Found();
  }
  const std::lock_guard lock(mutex_);
  if (HeldChunk* held = table_.Find(id); held != nullptr && held->generation == generation) count_use(*held);
  return Found(std::make_unique<DiskChunk>(*this, id, generation, std::move(*file)));
}

Status DiskStore::Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
                      const PutInfo& info) {
  if (options_.read_only) return ReadOnlyError();
  const Digest id = header.id();
  HeldChunk held = HeldFrom(header);
  held.file_bytes = FileBytes(header);
  held.compute_ms = info.compute_ms;
  const uint64_t bytes = held.file_bytes;
  {
    std::unique_lock lock(mutex_);
    if (table_.Holds(id, header)) return {};
    if (bytes > options_.queue_bytes || held.Exceeds(limits())) {
      ++counters_.rejected;
      return Error{Errc::kTooLarge, "a chunk of " + std::to_string(bytes) + " bytes does not fit into the store"};
    }
    space_.wait(lock, [&] { return queued_bytes_ + bytes <= options_.queue_bytes; });
    queued_bytes_ += bytes;  // reserved: the copy is made without the lock
  }
  held.bytes = CopyChunk(header, rows, logits);
  held.header_sum = HeaderSum(std::span(held.bytes->bytes).first(held.bytes->header_bytes));
  {
    const std::lock_guard lock(mutex_);
    if (table_.Holds(id, header)) {  // by another thread, meanwhile
      queued_bytes_ -= bytes;
      space_.notify_all();
      return {};
    }
    held.generation = next_generation_++;
    held.created_ns = held.used_ns = NowNs();
    queue_.emplace_back(QueuedChunk{id, held.bytes, held.generation, table_.Find(id) != nullptr});
    ++accepted_;
    table_.Put(id, std::move(held));
  }
  work_.notify_one();
  return {};
}

Status DiskStore::Erase(const Digest& id) {
  if (options_.read_only) return ReadOnlyError();
  {
    const std::lock_guard lock(mutex_);
    const HeldChunk* held = table_.Find(id);
    if (held == nullptr) return {};
    queue_.emplace_back(QueuedErase{id, held->kind});
    ++accepted_;
    table_.Remove(id);
  }
  work_.notify_one();
  return {};
}

Status DiskStore::Flush() {
  std::unique_lock lock(mutex_);
  const uint64_t target = accepted_;
  done_.wait(lock, [&] { return finished_ >= target; });
  return std::exchange(flush_status_, Status());
}

StoreStats DiskStore::stats() const {
  const std::lock_guard lock(mutex_);
  StoreStats stats = table_.stats();
  stats.evicted = counters_.evicted;
  stats.quarantined = counters_.quarantined;
  stats.rejected = counters_.rejected;
  stats.write_errors = counters_.write_errors;
  stats.bytes_written = counters_.bytes_written;
  stats.bytes_read = bytes_read_;
  return stats;
}

Status DiskStore::PutRequest(RequestRow row, std::vector<VectorRow> vectors) {
  if (options_.read_only) return ReadOnlyError();
  {
    const std::lock_guard lock(mutex_);
    row.id = 0;
    row.created_ns = NowNs();
    QueuedRequest request = {std::move(row), std::make_shared<const std::vector<VectorRow>>(std::move(vectors))};
    queued_requests_.push_back(request);
    queue_.emplace_back(std::move(request));
    ++accepted_;
  }
  work_.notify_one();
  return {};
}

Result<std::vector<RequestRow>> DiskStore::FindRequests(const std::string& tenant, const Digest& compatibility,
                                                        const std::string& text_key,
                                                        const std::vector<Digest>& pictures, size_t limit) {
  return FindWithQueued(
      [&](const RequestRow& row) {
        return row.text_key == text_key && row.compatibility == compatibility && row.tenant == tenant;
      },
      [&] { return catalogue_->FindRequests(tenant, compatibility, text_key, pictures, limit); }, pictures, limit);
}

Result<std::vector<RequestRow>> DiskStore::FindRequests(const VectorRef& vector, const std::vector<Digest>& pictures,
                                                        size_t limit) {
  return FindWithQueued(
      [&](const RequestRow& row) { return std::ranges::find(row.vectors, vector) != row.vectors.end(); },
      [&] { return catalogue_->FindRequests(vector, pictures, limit); }, pictures, limit);
}

Result<std::vector<RequestRow>> DiskStore::FindWithQueued(const std::function<bool(const RequestRow&)>& asked_for,
                                                          const std::function<Result<std::vector<RequestRow>>()>& find,
                                                          const std::vector<Digest>& pictures, size_t limit) {
  std::vector<RequestRow> found;
  uint64_t n_mended = 0;
  {
    const std::lock_guard lock(mutex_);
    n_mended = n_mended_;
    for (auto row = queued_requests_.rbegin(); row != queued_requests_.rend(); ++row) {
      if (asked_for(row->row)) found.push_back(row->row);
    }
  }
  Result<std::vector<RequestRow>> committed = find();
  if (!committed.ok()) {
    if (options_.read_only || committed.error().code != Errc::kCorrupt) return committed.error();
    const std::lock_guard lock(mutex_);
    queue_.emplace_back(QueuedMend{n_mended});
    ++accepted_;
    work_.notify_one();
    return found;
  }
  const size_t n_queued = found.size();
  for (RequestRow& row : *committed) {
    RequestRow queued = row;  // as it was before it got its id: it may have been committed since
    queued.id = 0;
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(n_queued);
    const auto same = std::find(found.begin(), end, queued);
    if (same != end) {
      same->id = row.id;
    } else {
      found.push_back(std::move(row));
    }
  }
  // What is queued came before what is committed, whatever its pictures.
  std::vector<RequestRow> same_pictures;
  std::vector<RequestRow> others;
  for (RequestRow& row : found) (row.pictures == pictures ? same_pictures : others).push_back(std::move(row));
  same_pictures.insert(same_pictures.end(), std::move_iterator(others.begin()), std::move_iterator(others.end()));
  if (same_pictures.size() > limit) same_pictures.resize(limit);
  return same_pictures;
}

Result<std::optional<VectorRow>> DiskStore::FindVector(const VectorRef& ref) {
  {
    const std::lock_guard lock(mutex_);
    for (const QueuedRequest& request : queued_requests_) {
      for (const VectorRow& row : *request.vectors) {
        if (row.ref == ref) return std::optional(row);
      }
    }
  }
  return catalogue_->FindVector(ref);
}

Status DiskStore::PutRate(Rate rate) {
  if (options_.read_only) return ReadOnlyError();
  {
    const std::lock_guard lock(mutex_);
    queue_.emplace_back(std::move(rate));
    ++accepted_;
  }
  work_.notify_one();
  return {};
}

// The generation says whether the file at that path is still the one that failed.
void DiskStore::Quarantine(const Digest& id, uint64_t generation) {
  const std::lock_guard lock(mutex_);
  const HeldChunk* held = table_.Find(id);
  if (held == nullptr || held->generation != generation) return;
  ++counters_.quarantined;
  const ChunkHeader::Kind kind = held->kind;
  table_.Remove(id);
  if (options_.read_only) return;
  MoveToQuarantine(kind, id);
  queue_.emplace_back(QueuedErase{id, kind});  // the row, and the file if it is still there
  ++accepted_;
  work_.notify_one();
}

void DiskStore::MoveToQuarantine(ChunkHeader::Kind kind, const Digest& id) {
  const std::string kept = layout_.QuarantinePathOf(kind, id);
  if (in_quarantine_.size() >= kMaxQuarantined && !in_quarantine_.contains(kept)) return;
  if (files_.Rename(layout_.PathOf(kind, id), kept).ok()) in_quarantine_.insert(kept);
}

}  // namespace afterimage
