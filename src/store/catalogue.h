// Catalogue: what a store holds, in one SQLite file; the single source of truth about a folder.
//
// Tables: chunks (one row per chunk file), requests (one row per answered request), vectors (one row per text or
// picture a layer has a vector of; it goes with the last request that refers to it), rates (what was measured, for the
// planner), meta (small facts). Every chunk, request and vector row carries a check over what never changes in it:
// SQLite has no checksums of its own, and a flipped bit in an answer must not become an answer. A row that fails it is
// not given out, and counted.
//
// WAL mode, with one connection for writing and one for reading: a lookup does not wait for a commit and its fsync.
// Costs: a commit is one fsync with Durability::kPower and none without; a request lookup is about 10 us.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_STORE_CATALOGUE_H_
#define AFTERIMAGE_STORE_CATALOGUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/durability.h"
#include "afterimage/result.h"
#include "store/chunk_format.h"

namespace afterimage {

struct ChunkRow {
  Digest id;
  ChunkHeader header;       // without provider and tensors, which only the file has
  uint64_t header_sum = 0;  // of the header as it stands in the file (chunk_file.h)
  uint64_t file_bytes = 0;
  int64_t created_ns = 0;  // of the store's clock, as all times here: since the Unix epoch
  int64_t used_ns = 0;
  uint64_t hits = 0;
  double compute_ms = 0;
  std::string metadata;
};

// Which vector: the space it is compared in (layer, encoder, dimension, model and tenant: whatever must be equal), and
// what it was made of.
struct VectorRef {
  Digest space;
  Digest key;
  bool operator==(const VectorRef&) const = default;
};

struct VectorRow {
  VectorRef ref;
  std::string layer;  // for people
  std::vector<float> values;
  bool operator==(const VectorRow&) const = default;
};

struct RequestRow {
  int64_t id = 0;  // given by Commit; grows with time
  std::string tenant;
  Digest compatibility;
  std::string text_key;
  std::vector<Digest> pictures;
  Digest leaf;          // the chunk of the prompt's last segment; the row is deleted with it
  std::string payload;  // JSON; the catalogue does not look into it
  std::vector<VectorRef> vectors;
  int64_t created_ns = 0;
  bool operator==(const RequestRow&) const = default;
};

// What was measured of one kind of work, as the sums of a least-squares line y = a + b x through all measurements, each
// weighed down as newer ones come. Sums, not a and b: a fit is continued where the last process left it.
struct Rate {
  std::string key;
  double n = 0;  // of the weights
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  bool operator==(const Rate&) const = default;
};

// One transaction, in this order.
struct CatalogueBatch {
  struct Touch {
    Digest id;
    int64_t used_ns = 0;
    uint64_t hits = 0;  // in all, not in addition
  };
  std::vector<Digest> deleted;   // chunks, and the requests whose leaf they are; absent ones are fine
  std::vector<ChunkRow> chunks;  // inserted, or replaced
  std::vector<Touch> touched;
  std::vector<VectorRow> vectors;  // those not there yet
  std::vector<RequestRow> requests;
  std::vector<Rate> rates;

  bool empty() const;
};

// Meta: where fusion chunks lie, if not in the folder.
inline constexpr const char* kFusionFolderKey = "fusion_folder";

class Catalogue {
 public:
  static constexpr size_t kNoLimit = 1u << 30;

  struct Options {
    Durability durability = Durability::kPower;
    bool read_only = false;
    bool no_trace = false;    // with read_only, for a short look: leaves no files of SQLite behind if nobody writes
    bool create = true;       // an absent or empty file becomes a catalogue; false: it is an error
    bool incomplete = false;  // if it is made: what `incomplete` says from then on
  };

  // Looks at every page unless read-only (3 to 5 ms a megabyte). Errors: kCorrupt (damaged, or no database at all),
  // kInvalidArgument (of another application), kUnsupported (of a newer version), kNotFound, kBusy, kIo.
  static Result<std::unique_ptr<Catalogue>> Open(const std::string& path, const Options& options);
  ~Catalogue();

  // Closes a damaged catalogue, calls `move_away`, and makes a new, empty and incomplete one. References to this stay
  // good. Errors: kUnsupported (read-only), those of move_away and Open; then every call fails with kIo, and this may
  // be called again.
  Status StartAnew(const std::function<Status()>& move_away);

  // Every chunk. Rows that fail their check are deleted, unless read-only, and leave the catalogue incomplete. Errors,
  // of all methods: kCorrupt, kIo, kBusy.
  Result<std::vector<ChunkRow>> LoadChunks();

  // Whether chunks may lie in the folder whose rows were lost: a new catalogue in the place of a damaged one, or a
  // damaged row. It is remembered in the file, until SetComplete says that all rows are there again.
  Result<bool> incomplete();
  Status SetComplete();

  // Looks at every page and every index. Errors: kCorrupt.
  Status Check();

  // All of the batch or nothing of it.
  Status Commit(const CatalogueBatch& batch);

  // Those with exactly these pictures first, the newest of them first; then the others likewise; `limit` in all.
  Result<std::vector<RequestRow>> FindRequests(const std::string& tenant, const Digest& compatibility,
                                               const std::string& text_key, const std::vector<Digest>& pictures = {},
                                               size_t limit = kNoLimit);
  // Those that refer to the vector, in the same order.
  Result<std::vector<RequestRow>> FindRequests(const VectorRef& vector, const std::vector<Digest>& pictures = {},
                                               size_t limit = kNoLimit);
  // All, the oldest first.
  Result<std::vector<RequestRow>> LoadRequests();

  Result<std::optional<VectorRow>> FindVector(const VectorRef& ref);
  // All of a space, or all there are.
  Result<std::vector<VectorRow>> LoadVectors(const Digest& space);
  Result<std::vector<VectorRow>> LoadVectors();
  // Of all vectors, without reading them.
  Result<uint64_t> VectorBytes();
  // Of the whole catalogue, once its log is gone.
  Result<uint64_t> PageBytes();

  Result<std::optional<Rate>> FindRate(const std::string& key);
  Result<std::vector<Rate>> LoadRates();

  Result<std::optional<std::string>> FindMeta(const std::string& key);
  Status PutMeta(const std::string& key, const std::string& value);

  uint64_t damaged_rows() const;  // seen since it was opened
  bool created() const;           // by Open

  // Whether a database's first bytes (100 of them, or fewer) are those of a catalogue of ours, of whatever version.
  static bool IsOurs(std::span<const std::byte> first_bytes);

 private:
  struct Impl;
  explicit Catalogue(std::unique_ptr<Impl> impl);
  Result<uint64_t> Count(const char* query);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_CATALOGUE_H_
