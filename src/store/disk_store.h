// DiskStore: chunks in files, and a catalogue of them; what outlives the process.
//
// Put copies a chunk into a bounded queue and returns; lookups see it from then on. One thread takes what is queued as
// a group: it makes room, writes a file per chunk (temporary name, fsync, rename), syncs the folders once, and commits
// one catalogue transaction. Only then are the chunks committed, and survive what `durability` says. At any moment
// before that a crash leaves files without rows, which the next Open removes.
//
// A chunk's bytes are served only after their checksum held. A file that fails is moved to quarantine/ (the first 64;
// further ones are removed), its row is deleted, and the chunk is a miss from then on. A write that fails drops its
// chunk; the store goes on. A catalogue that is damaged, whenever that is found, goes to quarantine/ too, and a new one
// is made from the headers of the chunk files: requests, rates, and past uses are lost, chunks are not.
//
// Costs: Put, one copy of the bytes, and a wait while the queue is full. Find, a lookup in memory. Get, one open and
// one small read; Read, the bytes once into place and their checksum. Open, all catalogue rows and all folder listings
// (about 10 us a chunk). Memory: the queue, and about 250 bytes a chunk.
//
// Limits hold for all that is held, queued chunks included, whenever the writer has come to rest; when they are
// exceeded, a little more than needed is freed (eviction.h).
//
// Thread safety: all methods may be called from any thread. One process writes a folder at a time; others may read it.
#ifndef AFTERIMAGE_STORE_DISK_STORE_H_
#define AFTERIMAGE_STORE_DISK_STORE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <variant>
#include <vector>

#include "afterimage/clock.h"
#include "store/catalogue.h"
#include "store/chunk_store.h"
#include "store/chunk_table.h"
#include "store/disk_layout.h"
#include "store/file_system.h"

namespace afterimage {

struct DiskStoreOptions {
  std::string folder;
  std::string fusion_folder;  // for fusion chunks; this store's alone. Empty: in `folder`
  uint64_t max_bytes = 0;     // of chunk files; 0: no limit
  uint64_t max_blocks = 0;    // of 16 tokens; 0: no limit
  uint64_t queue_bytes = uint64_t{256} << 20;
  Durability durability = Durability::kPower;
  bool read_only = false;  // takes no lock and changes nothing; sees what is committed when it opens
  int64_t half_life_ns = kDefaultHalfLifeNs;
};

class DiskStore final : public ChunkStore {
 public:
  // The file system and the clock must outlive the store. Times are kept across runs, so give it WallClock(). One that
  // is behind the catalogue (set back, or a steady clock after a boot) is continued from where the catalogue ended.
  // Errors: kInvalidArgument (a folder or a catalogue that is not ours), kBusy (another writer, named), kUnsupported (a
  // catalogue of a newer version), kNotFound (read-only, and there is none), kCorrupt (read-only, and it is damaged),
  // kIo.
  static Result<std::unique_ptr<DiskStore>> Open(const DiskStoreOptions& options, FileSystem& files,
                                                 const Clock& clock);
  // Writes what is queued.
  ~DiskStore() override;

  std::optional<ChunkInfo> Find(const Digest& id) override;
  Result<std::optional<std::unique_ptr<StoredChunk>>> Get(const Digest& id) override;
  Status Put(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits,
             const PutInfo& info) override;
  Status Erase(const Digest& id) override;
  // Errors: kIo or kCorrupt, the last one since the Flush before.
  Status Flush() override;
  StoreStats stats() const override;

  // Queues a request row, and those of its vectors that may not be there yet; it is committed with its leaf or after
  // it, and dropped if the leaf is not held by then. So put the leaf first. `created_ns` is filled in.
  // Errors: kUnsupported (read-only).
  Status PutRequest(RequestRow row, std::vector<VectorRow> vectors = {});
  // As Catalogue::FindRequests, with what is still queued. Rows that are still queued have no id. Errors: kIo, kBusy,
  // kCorrupt (read-only; otherwise a damaged catalogue has no rows, and is being replaced).
  Result<std::vector<RequestRow>> FindRequests(const std::string& tenant, const Digest& compatibility,
                                               const std::string& text_key, const std::vector<Digest>& pictures = {},
                                               size_t limit = Catalogue::kNoLimit);
  Result<std::vector<RequestRow>> FindRequests(const VectorRef& vector, const std::vector<Digest>& pictures = {},
                                               size_t limit = Catalogue::kNoLimit);
  // With what is still queued. Errors: kIo, kBusy, kCorrupt.
  Result<std::optional<VectorRow>> FindVector(const VectorRef& ref);
  // Errors: kUnsupported (read-only).
  Status PutRate(Rate rate);

  // What is committed. Write through the store, not through it.
  Catalogue& catalogue() { return *catalogue_; }
  const DiskLayout& layout() const { return layout_; }

 private:
  friend class DiskChunk;

  struct QueuedChunk {
    Digest id;
    SharedChunk chunk;
    uint64_t generation = 0;
    bool replaces = false;  // a chunk that may be committed
  };
  struct QueuedErase {
    Digest id;
    ChunkHeader::Kind kind;
  };
  // The catalogue was found damaged when it was the so-many-th; perhaps it has been replaced since.
  struct QueuedMend {
    uint64_t n_mended = 0;
  };
  struct QueuedRequest {
    RequestRow row;
    std::shared_ptr<const std::vector<VectorRow>> vectors;
  };
  using Work = std::variant<QueuedChunk, QueuedErase, QueuedMend, QueuedRequest, Rate>;

  // What one turn of the writer is about.
  struct Group {
    std::vector<QueuedChunk> chunks;
    std::vector<QueuedErase> erased;  // by the caller, by eviction, or to be replaced
    std::vector<QueuedRequest> requests;
    std::vector<Rate> rates;
    bool mend = false;
    uint64_t bytes = 0;    // of the chunks, in the queue
    uint64_t n_items = 0;  // of the queue
  };

  DiskStore(const DiskStoreOptions& options, FileSystem& files, const Clock& clock);

  // disk_store_open.cc
  Status Start();
  Status MakeFolders(FolderState state);
  Status OpenCatalogue(FolderState state);
  Status MakeChunkFolders();
  void RememberFusionFolder();
  Status LoadTable();
  Status MatchFiles(const std::vector<ChunkRow>& rows);
  Status MendCatalogue();
  Result<std::optional<ChunkRow>> RowFromFile(ChunkHeader::Kind kind, const Digest& id);
  // What `find` finds in the catalogue, with those queued rows that are `asked_for`.
  Result<std::vector<RequestRow>> FindWithQueued(const std::function<bool(const RequestRow&)>& asked_for,
                                                 const std::function<Result<std::vector<RequestRow>>()>& find,
                                                 const std::vector<Digest>& pictures, size_t limit);
  int64_t NowNs() const { return clock_.Now().count() + clock_offset_ns_; }
  EvictionLimits limits() const { return {options_.max_bytes, options_.max_blocks}; }
  void Quarantine(const Digest& id, uint64_t generation);
  void MoveToQuarantine(ChunkHeader::Kind kind, const Digest& id);  // REQUIRES: the lock

  // The writer's; each takes the lock itself. disk_store_writer.cc
  void WriterMain();
  Group TakeGroup();  // REQUIRES: the lock
  void Process(Group group);
  void ChooseVictims(Group& group);
  Status Mending(const std::function<Status()>& commit);
  Status Forget();
  Status WriteChunkFile(const QueuedChunk& queued);
  void WriteFiles(Group& group);
  Status Commit(Group& group);
  void Finish(const Group& group, const Status& committed);
  void Drop(const std::vector<QueuedChunk>& chunks, const Error& error);

  const DiskStoreOptions options_;
  FileSystem& files_;
  const Clock& clock_;
  const DiskLayout layout_;
  int64_t clock_offset_ns_ = 0;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<FileLock> fusion_lock_;
  std::unique_ptr<Catalogue> catalogue_;
  std::atomic<uint64_t> bytes_read_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_;   // something is queued, or it is time to end
  std::condition_variable space_;  // the queue has room
  std::condition_variable done_;   // a group is finished
  // From here on guarded by mutex_.
  ChunkTable table_;
  std::deque<Work> queue_;
  std::deque<QueuedRequest> queued_requests_;  // those in queue_ and in the group being written
  std::unordered_set<Digest, DigestHash> touched_;
  uint64_t queued_bytes_ = 0;
  uint64_t accepted_ = 0;  // items ever queued
  uint64_t finished_ = 0;  // of them, done with
  uint64_t next_generation_ = 1;
  uint64_t n_mended_ = 0;
  std::unordered_set<std::string> in_quarantine_;  // paths
  Status flush_status_;
  StoreStats counters_;
  bool closing_ = false;

  // The writer thread's alone.
  std::unordered_set<std::string> folders_made_;
  std::vector<QueuedErase> not_forgotten_;  // the catalogue did not take it; tried again with the next group

  std::thread writer_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_DISK_STORE_H_
