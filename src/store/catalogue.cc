#include "store/catalogue.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/bytes.h"
#include "store/sqlite_database.h"

namespace afterimage {
namespace {

constexpr int64_t kApplicationId = 0x41465449;  // "AFTI", at byte 68 of the file
constexpr size_t kApplicationIdAt = 68;
constexpr std::string_view kSqliteMagic = "SQLite format 3";
constexpr int64_t kSchemaVersion = 2;  // one of an older version is made anew, as a damaged one is
constexpr const char* kIncompleteKey = "incomplete";

constexpr const char* kSchema = R"(
  CREATE TABLE chunks (
    id BLOB PRIMARY KEY NOT NULL, parent BLOB NOT NULL, kind INTEGER NOT NULL, tenant BLOB NOT NULL,
    compatibility BLOB NOT NULL, numerics BLOB NOT NULL, content BLOB NOT NULL, n_tokens INTEGER NOT NULL,
    first_position INTEGER NOT NULL, n_positions INTEGER NOT NULL, tokens BLOB NOT NULL,
    header_sum INTEGER NOT NULL, rows_bytes INTEGER NOT NULL, logits_bytes INTEGER NOT NULL, file_bytes INTEGER NOT NULL,
    created_ns INTEGER NOT NULL, used_ns INTEGER NOT NULL, hits INTEGER NOT NULL, compute_ms REAL NOT NULL,
    metadata BLOB NOT NULL, row_check INTEGER NOT NULL);
  CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant BLOB NOT NULL, compatibility BLOB NOT NULL, text_key BLOB NOT NULL,
    pictures BLOB NOT NULL, leaf BLOB NOT NULL, payload BLOB NOT NULL, vectors BLOB NOT NULL,
    created_ns INTEGER NOT NULL, row_check INTEGER NOT NULL);
  CREATE INDEX requests_by_key ON requests (tenant, compatibility, text_key);
  CREATE INDEX requests_by_pictures ON requests (tenant, compatibility, text_key, pictures);
  CREATE INDEX requests_by_leaf ON requests (leaf);
  CREATE TABLE vectors (
    ref BLOB PRIMARY KEY NOT NULL, layer BLOB NOT NULL, vector BLOB NOT NULL, row_check INTEGER NOT NULL);
  CREATE TABLE request_vectors (request INTEGER NOT NULL, ref BLOB NOT NULL);
  CREATE INDEX request_vectors_by_ref ON request_vectors (ref, request);
  CREATE INDEX request_vectors_by_request ON request_vectors (request);
  CREATE TRIGGER request_deleted AFTER DELETE ON requests BEGIN
    DELETE FROM request_vectors WHERE request=OLD.id;
  END;
  CREATE TRIGGER request_vector_deleted AFTER DELETE ON request_vectors BEGIN
    DELETE FROM vectors WHERE ref=OLD.ref AND NOT EXISTS (SELECT 1 FROM request_vectors WHERE ref=OLD.ref);
  END;
  CREATE TABLE rates (
    key BLOB PRIMARY KEY NOT NULL, n REAL NOT NULL, x REAL NOT NULL, y REAL NOT NULL, xx REAL NOT NULL,
    xy REAL NOT NULL);
  CREATE TABLE meta (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL);
)";

constexpr const char* kSelectChunks =
    "SELECT id, parent, kind, tenant, compatibility, numerics, content, n_tokens, first_position, n_positions, tokens,"
    " header_sum, rows_bytes, logits_bytes, file_bytes, created_ns, used_ns, hits, compute_ms, metadata, row_check, "
    "rowid"
    " FROM chunks";
constexpr const char* kSelectRequests =
    "SELECT id, tenant, compatibility, text_key, pictures, leaf, payload, vectors, created_ns, row_check FROM requests";
constexpr const char* kSelectVectors = "SELECT ref, layer, vector, row_check FROM vectors";

// XXH3 over fields, each string with its length.
class RowCheck {
 public:
  template <typename T>
  RowCheck& Add(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      writer_.Write(value.size());
      writer_.Append(std::as_bytes(std::span(value)));
    } else {
      writer_.Write(value);
    }
    return *this;
  }
  int64_t Finish() const {
    Checksum checksum;
    checksum.Add(bytes_);
    const ChecksumBytes sum = checksum.Finish();
    int64_t value = 0;
    std::memcpy(&value, sum.data(), sizeof(value));
    return value;
  }

 private:
  std::vector<std::byte> bytes_;
  ByteWriter writer_{bytes_};
};

template <typename T>
std::string Packed(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> Unpacked(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// Over what never changes: not used_ns and hits.
int64_t CheckOf(const ChunkRow& row) {
  const ChunkHeader& h = row.header;
  RowCheck check;
  check.Add(row.id).Add(h.parent).Add(h.kind).Add(h.tenant).Add(h.compatibility).Add(h.numerics).Add(h.content);
  check.Add(h.n_tokens)
      .Add(h.first_position)
      .Add(h.n_positions)
      .Add(Packed(h.tokens))
      .Add(row.header_sum)
      .Add(h.rows_bytes);
  check.Add(h.logits_bytes).Add(row.file_bytes).Add(row.created_ns).Add(row.compute_ms).Add(row.metadata);
  return check.Finish();
}

int64_t CheckOf(const RequestRow& row) {
  RowCheck check;
  check.Add(row.tenant).Add(row.compatibility).Add(row.text_key).Add(Packed(row.pictures)).Add(row.leaf);
  return check.Add(row.payload).Add(Packed(row.vectors)).Add(row.created_ns).Finish();
}

int64_t CheckOf(const VectorRow& row) {
  return RowCheck().Add(row.ref).Add(row.layer).Add(Packed(row.values)).Finish();
}

ChunkRow ChunkAt(const SqliteStatement& s) {
  ChunkRow row;
  row.id = s.DigestAt(0);
  row.header.parent = s.DigestAt(1);
  row.header.kind = static_cast<ChunkHeader::Kind>(s.Integer(2));
  row.header.tenant = s.Text(3);
  row.header.compatibility = s.DigestAt(4);
  row.header.numerics = s.DigestAt(5);
  row.header.content = s.DigestAt(6);
  row.header.n_tokens = static_cast<int32_t>(s.Integer(7));
  row.header.first_position = static_cast<int32_t>(s.Integer(8));
  row.header.n_positions = static_cast<int32_t>(s.Integer(9));
  row.header.tokens = Unpacked<int32_t>(s.Text(10));
  row.header_sum = static_cast<uint64_t>(s.Integer(11));
  row.header.rows_bytes = static_cast<uint64_t>(s.Integer(12));
  row.header.logits_bytes = static_cast<uint64_t>(s.Integer(13));
  row.file_bytes = static_cast<uint64_t>(s.Integer(14));
  row.created_ns = s.Integer(15);
  row.used_ns = s.Integer(16);
  row.hits = static_cast<uint64_t>(s.Integer(17));
  row.compute_ms = s.Real(18);
  row.metadata = s.Text(19);
  return row;
}

RequestRow RequestAt(const SqliteStatement& s) {
  RequestRow row;
  row.id = s.Integer(0);
  row.tenant = s.Text(1);
  row.compatibility = s.DigestAt(2);
  row.text_key = s.Text(3);
  row.pictures = Unpacked<Digest>(s.Text(4));
  row.leaf = s.DigestAt(5);
  row.payload = s.Text(6);
  row.vectors = Unpacked<VectorRef>(s.Text(7));
  row.created_ns = s.Integer(8);
  return row;
}

std::string Packed(const VectorRef& ref) { return Packed(std::vector<VectorRef>{ref}); }

std::optional<VectorRow> TakeVector(const SqliteStatement& s) {
  const std::vector<VectorRef> ref = Unpacked<VectorRef>(s.Text(0));
  if (ref.size() != 1) return std::nullopt;
  VectorRow row = {ref.front(), s.Text(1), Unpacked<float>(s.Text(2))};
  if (CheckOf(row) != s.Integer(3)) return std::nullopt;
  return row;
}

Rate RateAt(const SqliteStatement& s) {
  return {.key = s.Text(0), .n = s.Real(1), .x = s.Real(2), .y = s.Real(3), .xx = s.Real(4), .xy = s.Real(5)};
}

// Creates the tables in an empty file, or says why this is no catalogue this build can use.
Status CheckSchema(SqliteDatabase& database, const std::string& path, const Catalogue::Options& options,
                   bool* created) {
  const Result<int64_t> application = database.Number("PRAGMA application_id");
  if (!application.ok()) return application.error();
  const Result<int64_t> version = database.Number("PRAGMA user_version");
  if (!version.ok()) return version.error();
  const Result<int64_t> n_tables = database.Number("SELECT count(*) FROM sqlite_master");
  if (!n_tables.ok()) return n_tables.error();
  if (*application == 0 && *version == 0 && *n_tables == 0) {
    if (created == nullptr || !options.create) {
      return Error{Errc::kCorrupt, path + " is empty: not a catalogue of afterimage"};
    }
    *created = true;
    return database.Transact([&]() -> Status {
      return database.Run(kSchema + ("PRAGMA application_id=" + std::to_string(kApplicationId)) +
                          ";PRAGMA user_version=" + std::to_string(kSchemaVersion) +
                          (options.incomplete ? ";INSERT INTO meta VALUES (CAST('incomplete' AS BLOB), '1')" : ""));
    });
  }
  constexpr int64_t kTables = 6;
  const Result<int64_t> n_ours = database.Number(
      "SELECT count(*) FROM sqlite_master WHERE type='table' AND name IN ('chunks', 'requests', 'vectors', "
      "'request_vectors', 'rates', 'meta')");
  if (!n_ours.ok()) return n_ours.error();
  if (*application != kApplicationId) {
    if (*n_ours == kTables) return Error{Errc::kCorrupt, path + " has lost its mark"};
    return Error{Errc::kInvalidArgument,
                 path + " is a database, but not a catalogue of afterimage: choose another folder"};
  }
  if (*version > kSchemaVersion) {
    return Error{Errc::kUnsupported, path + " has schema version " + std::to_string(*version) +
                                         ", and this build reads only version " + std::to_string(kSchemaVersion) +
                                         ": use a newer afterimage, or another folder"};
  }
  if (*version != kSchemaVersion || *n_ours != kTables) return Error{Errc::kCorrupt, path + " has lost its tables"};
  return {};
}

}  // namespace

bool CatalogueBatch::empty() const {
  return deleted.empty() && chunks.empty() && touched.empty() && vectors.empty() && requests.empty() && rates.empty();
}

struct Catalogue::Impl {
  struct Writer {
    std::unique_ptr<SqliteDatabase> database;
    SqliteStatement insert_chunk, delete_chunk, delete_row, delete_requests, touch, insert_vector, insert_request,
        link_vector, put_rate, put_meta;
  };
  struct Reader {
    std::unique_ptr<SqliteDatabase> database;
    SqliteStatement chunks, requests, find_requests, find_others, find_by_vector, find_others_by_vector, vectors,
        vectors_of, find_rate, rates, find_meta;
  };

  std::string path;
  Options options;
  bool created = false;
  std::atomic<uint64_t> damaged_rows = 0;
  std::mutex write_mutex;
  Writer writer;  // guarded by write_mutex
  std::mutex read_mutex;
  Reader reader;  // guarded by read_mutex

  // REQUIRES: both locks, or nobody else yet.
  Status Connect();
  void Disconnect() {
    writer = {};
    reader = {};
  }

  Status PrepareReader() {
    const std::string by_key = std::string(kSelectRequests) + " WHERE tenant=?1 AND compatibility=?2 AND text_key=?3";
    const std::string by_vector =
        std::string(kSelectRequests) + " WHERE id IN (SELECT request FROM request_vectors WHERE ref=?1)";
    const std::array<std::pair<SqliteStatement*, std::string>, 11> statements = {{
        {&reader.chunks, kSelectChunks},
        {&reader.requests, std::string(kSelectRequests) + " ORDER BY id"},
        {&reader.find_requests, by_key + " AND pictures=?4 ORDER BY id DESC LIMIT ?5"},
        {&reader.find_others, by_key + " AND pictures<>?4 ORDER BY id DESC LIMIT ?5"},
        {&reader.find_by_vector, by_vector + " AND pictures=?2 ORDER BY id DESC LIMIT ?3"},
        {&reader.find_others_by_vector, by_vector + " AND pictures<>?2 ORDER BY id DESC LIMIT ?3"},
        {&reader.vectors, std::string(kSelectVectors) + " ORDER BY rowid"},
        {&reader.vectors_of, std::string(kSelectVectors) + " WHERE ref>=?1 AND ref<=?2 ORDER BY rowid"},
        {&reader.find_rate, "SELECT key, n, x, y, xx, xy FROM rates WHERE key=?1"},
        {&reader.rates, "SELECT key, n, x, y, xx, xy FROM rates ORDER BY key"},
        {&reader.find_meta, "SELECT value FROM meta WHERE key=?1"},
    }};
    return PrepareAll(*reader.database, statements);
  }

  Status PrepareWriter() {
    const std::array<std::pair<SqliteStatement*, std::string>, 10> statements = {{
        {&writer.insert_chunk, "INSERT OR REPLACE INTO chunks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&writer.delete_chunk, "DELETE FROM chunks WHERE id=?"},
        {&writer.delete_row, "DELETE FROM chunks WHERE rowid=?"},
        {&writer.delete_requests, "DELETE FROM requests WHERE leaf=?"},
        {&writer.touch, "UPDATE chunks SET used_ns=?2, hits=?3 WHERE id=?1"},
        {&writer.insert_request,
         "INSERT INTO requests (tenant, compatibility, text_key, pictures, leaf, payload, vectors, created_ns,"
         " row_check) VALUES (?,?,?,?,?,?,?,?,?)"},
        {&writer.insert_vector, "INSERT OR IGNORE INTO vectors VALUES (?,?,?,?)"},
        {&writer.link_vector, "INSERT INTO request_vectors VALUES ((SELECT max(id) FROM requests), ?)"},
        {&writer.put_rate, "INSERT OR REPLACE INTO rates VALUES (?,?,?,?,?,?)"},
        {&writer.put_meta, "INSERT OR REPLACE INTO meta VALUES (?,?)"},
    }};
    return PrepareAll(*writer.database, statements);
  }

  static Status PrepareAll(SqliteDatabase& database,
                           std::span<const std::pair<SqliteStatement*, std::string>> statements) {
    for (const auto& [statement, sql] : statements) {
      if (Status status = database.Prepare(sql, *statement); !status.ok()) return status;
    }
    return {};
  }

  Status Insert(const ChunkRow& row) {
    const ChunkHeader& h = row.header;
    const std::string tokens = Packed(h.tokens);
    writer.insert_chunk.Bind(row.id, h.parent, static_cast<int64_t>(h.kind), h.tenant, h.compatibility, h.numerics,
                             h.content, h.n_tokens, h.first_position, h.n_positions, tokens, row.header_sum,
                             h.rows_bytes, h.logits_bytes, row.file_bytes, row.created_ns, row.used_ns, row.hits,
                             row.compute_ms, row.metadata, CheckOf(row));
    return writer.insert_chunk.Run();
  }

  Status Insert(const RequestRow& row) {
    const std::string pictures = Packed(row.pictures);
    const std::string vectors = Packed(row.vectors);
    writer.insert_request.Bind(row.tenant, row.compatibility, row.text_key, pictures, row.leaf, row.payload, vectors,
                               row.created_ns, CheckOf(row));
    Status status = writer.insert_request.Run();
    for (size_t i = 0; i < row.vectors.size() && status.ok(); ++i) {
      const std::string ref = Packed(row.vectors[i]);
      writer.link_vector.Bind(ref);
      status = writer.link_vector.Run();
    }
    return status;
  }

  Status Insert(const VectorRow& row) {
    const std::string ref = Packed(row.ref);
    const std::string values = Packed(row.values);
    writer.insert_vector.Bind(ref, row.layer, values, CheckOf(row));
    return writer.insert_vector.Run();
  }

  Status Apply(const CatalogueBatch& batch) {
    Status status;
    const auto each = [&](const auto& items, const auto& apply) {
      for (size_t i = 0; i < items.size() && status.ok(); ++i) status = apply(items[i]);
    };
    each(batch.deleted, [&](const Digest& id) {
      writer.delete_requests.Bind(id);
      if (Status deleted = writer.delete_requests.Run(); !deleted.ok()) return deleted;
      writer.delete_chunk.Bind(id);
      return writer.delete_chunk.Run();
    });
    each(batch.chunks, [&](const ChunkRow& row) { return Insert(row); });
    each(batch.touched, [&](const CatalogueBatch::Touch& touch) {
      writer.touch.Bind(touch.id, touch.used_ns, touch.hits);
      return writer.touch.Run();
    });
    each(batch.vectors, [&](const VectorRow& row) { return Insert(row); });
    each(batch.requests, [&](const RequestRow& row) { return Insert(row); });
    each(batch.rates, [&](const Rate& rate) {
      writer.put_rate.Bind(rate.key, rate.n, rate.x, rate.y, rate.xx, rate.xy);
      return writer.put_rate.Run();
    });
    return status;
  }

  template <typename Work>
  Status Transact(const Work& work) {
    if (writer.database == nullptr) return Error{Errc::kIo, path + " could not be made anew"};
    return writer.database->Transact(work);
  }

  // All rows of a bound statement, turned into values; those `take` has no value for are counted as damaged.
  template <typename Row, typename Take>
  Result<std::vector<Row>> Collect(SqliteStatement& statement, const Take& take) {
    std::vector<Row> rows;
    while (true) {
      const Result<bool> more = statement.Step();
      if (!more.ok()) return more.error();
      if (!*more) return rows;
      if (std::optional<Row> row = take(statement)) {
        rows.push_back(std::move(*row));
      } else {
        ++damaged_rows;
      }
    }
  }

  // The requests of two statements: those with these pictures, and those with others.
  template <typename BindTo, typename IsAskedFor>
  Result<std::vector<RequestRow>> FindPicturesFirst(SqliteStatement& same, SqliteStatement& others,
                                                    const std::vector<Digest>& pictures, size_t limit,
                                                    const BindTo& bind, const IsAskedFor& is_asked_for) {
    const std::lock_guard lock(read_mutex);
    std::vector<RequestRow> found;
    for (SqliteStatement* statement : {&same, &others}) {
      if (found.size() >= limit) break;
      bind(*statement, limit - found.size());
      Result<std::vector<RequestRow>> rows = Collect<RequestRow>(*statement, [&](const SqliteStatement& s) {
        std::optional<RequestRow> row = TakeRequest(s);
        // What a damaged index leads to may be a sound row of another key.
        const bool asked_for = row && is_asked_for(*row) && (row->pictures == pictures) == (statement == &same);
        return asked_for ? row : std::nullopt;
      });
      if (!rows.ok()) return rows.error();
      found.insert(found.end(), std::move_iterator(rows->begin()), std::move_iterator(rows->end()));
    }
    return found;
  }

  static std::optional<RequestRow> TakeRequest(const SqliteStatement& s) {
    RequestRow row = RequestAt(s);
    if (CheckOf(row) != s.Integer(9)) return std::nullopt;
    return row;
  }
};

Catalogue::Catalogue(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Catalogue::~Catalogue() = default;

Result<std::unique_ptr<Catalogue>> Catalogue::Open(const std::string& path, const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->options = options;
  if (Status status = impl->Connect(); !status.ok()) return status.error();
  return std::unique_ptr<Catalogue>(new Catalogue(std::move(impl)));
}

Status Catalogue::Impl::Connect() {
  using Mode = SqliteDatabase::Mode;
  Status status;
  if (!options.read_only) {
    auto database = SqliteDatabase::Open(path, options.create ? Mode::kCreate : Mode::kReadWrite);
    if (!database.ok()) return database.error();
    writer.database = std::move(*database);
    // The tables before WAL mode: so they are in the file itself, and it is ours even if its WAL is lost.
    status = CheckSchema(*writer.database, path, options, &created);
    if (status.ok() && writer.database->read_only()) {
      const bool may_write = ::access(path.c_str(), W_OK) == 0;
      status = Error{may_write ? Errc::kCorrupt : Errc::kIo, path + " cannot be written"};
    }
    if (status.ok()) status = writer.database->Run("PRAGMA journal_mode=WAL");
    const bool power = options.durability == Durability::kPower;
    if (status.ok()) status = writer.database->Run(power ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    // Now, not in the middle of a commit: a page that is not looked at may be damaged for long.
    if (status.ok() && !created) status = writer.database->Check(false);
    if (status.ok()) status = PrepareWriter();
    if (!status.ok()) return status;
  }
  const bool immutable = options.read_only && options.no_trace && ::access((path + "-wal").c_str(), F_OK) != 0;
  auto database = SqliteDatabase::Open(path, immutable ? Mode::kImmutable : Mode::kReadOnly);
  if (!database.ok()) return database.error();
  reader.database = std::move(*database);
  status = CheckSchema(*reader.database, path, options, nullptr);
  return status.ok() ? PrepareReader() : status;
}

Status Catalogue::StartAnew(const std::function<Status()>& move_away) {
  if (impl_->options.read_only) return Error{Errc::kUnsupported, "the catalogue is open for reading only"};
  const std::scoped_lock lock(impl_->write_mutex, impl_->read_mutex);
  impl_->Disconnect();
  if (Status status = move_away(); !status.ok()) return status;
  impl_->options.create = true;
  impl_->options.incomplete = true;
  Status status = impl_->Connect();
  if (!status.ok()) impl_->Disconnect();
  return status;
}

Result<std::vector<ChunkRow>> Catalogue::LoadChunks() {
  std::vector<int64_t> damaged;
  Result<std::vector<ChunkRow>> rows = [&] {
    const std::lock_guard lock(impl_->read_mutex);
    return impl_->Collect<ChunkRow>(impl_->reader.chunks, [&](const SqliteStatement& s) -> std::optional<ChunkRow> {
      ChunkRow row = ChunkAt(s);
      if (CheckOf(row) == s.Integer(20)) return row;
      damaged.push_back(s.Integer(21));
      return std::nullopt;
    });
  }();
  if (!rows.ok() || damaged.empty() || impl_->options.read_only) return rows;
  const std::lock_guard lock(impl_->write_mutex);
  const Status status = impl_->Transact([&]() -> Status {
    for (const int64_t row : damaged) {
      impl_->writer.delete_row.Bind(row);
      if (Status deleted = impl_->writer.delete_row.Run(); !deleted.ok()) return deleted;
    }
    impl_->writer.put_meta.Bind(std::string(kIncompleteKey), std::string("1"));
    return impl_->writer.put_meta.Run();
  });
  if (!status.ok()) return status.error();
  return rows;
}

Status Catalogue::Commit(const CatalogueBatch& batch) {
  if (impl_->options.read_only) return Error{Errc::kUnsupported, "the catalogue is open for reading only"};
  if (batch.empty()) return {};
  const std::lock_guard lock(impl_->write_mutex);
  return impl_->Transact([&] { return impl_->Apply(batch); });
}

Result<std::vector<RequestRow>> Catalogue::FindRequests(const std::string& tenant, const Digest& compatibility,
                                                        const std::string& text_key,
                                                        const std::vector<Digest>& pictures, size_t limit) {
  const std::string packed = Packed(pictures);  // bound, not copied
  return impl_->FindPicturesFirst(
      impl_->reader.find_requests, impl_->reader.find_others, pictures, limit,
      [&](SqliteStatement& statement, size_t n) {
        statement.Bind(tenant, compatibility, text_key, packed, static_cast<int64_t>(n));
      },
      [&](const RequestRow& row) {
        return row.tenant == tenant && row.compatibility == compatibility && row.text_key == text_key;
      });
}

Result<std::vector<RequestRow>> Catalogue::FindRequests(const VectorRef& vector, const std::vector<Digest>& pictures,
                                                        size_t limit) {
  const std::string packed = Packed(pictures);
  const std::string ref = Packed(vector);
  return impl_->FindPicturesFirst(
      impl_->reader.find_by_vector, impl_->reader.find_others_by_vector, pictures, limit,
      [&](SqliteStatement& statement, size_t n) { statement.Bind(ref, packed, static_cast<int64_t>(n)); },
      [&](const RequestRow& row) { return std::ranges::find(row.vectors, vector) != row.vectors.end(); });
}

Result<std::vector<RequestRow>> Catalogue::LoadRequests() {
  const std::lock_guard lock(impl_->read_mutex);
  return impl_->Collect<RequestRow>(impl_->reader.requests, Impl::TakeRequest);
}

Result<std::optional<VectorRow>> Catalogue::FindVector(const VectorRef& ref) {
  const std::lock_guard lock(impl_->read_mutex);
  const std::string packed = Packed(ref);
  impl_->reader.vectors_of.Bind(packed, packed);
  Result<std::vector<VectorRow>> rows = impl_->Collect<VectorRow>(impl_->reader.vectors_of, TakeVector);
  if (!rows.ok()) return rows.error();
  if (rows->empty() || rows->front().ref != ref) return std::optional<VectorRow>();
  return std::optional(std::move(rows->front()));
}

Result<std::vector<VectorRow>> Catalogue::LoadVectors() {
  const std::lock_guard lock(impl_->read_mutex);
  return impl_->Collect<VectorRow>(impl_->reader.vectors, TakeVector);
}

Result<uint64_t> Catalogue::Count(const char* query) {
  const std::lock_guard lock(impl_->read_mutex);
  if (impl_->reader.database == nullptr) return Error{Errc::kIo, impl_->path + " could not be made anew"};
  const Result<int64_t> bytes = impl_->reader.database->Number(query);
  if (!bytes.ok()) return bytes.error();
  return static_cast<uint64_t>(*bytes);
}

Result<uint64_t> Catalogue::VectorBytes() { return Count("SELECT total(length(vector)) FROM vectors"); }

Result<uint64_t> Catalogue::PageBytes() {
  return Count("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
}

Result<std::vector<VectorRow>> Catalogue::LoadVectors(const Digest& space) {
  const std::lock_guard lock(impl_->read_mutex);
  VectorRef first = {space, {}};
  VectorRef last = {space, {}};
  last.key.bytes.fill(0xFF);
  const std::string from = Packed(first);
  const std::string to = Packed(last);
  impl_->reader.vectors_of.Bind(from, to);
  return impl_->Collect<VectorRow>(impl_->reader.vectors_of, TakeVector);
}

Result<std::optional<Rate>> Catalogue::FindRate(const std::string& key) {
  const std::lock_guard lock(impl_->read_mutex);
  impl_->reader.find_rate.Bind(key);
  const auto rates =
      impl_->Collect<Rate>(impl_->reader.find_rate, [](const SqliteStatement& s) { return std::optional(RateAt(s)); });
  if (!rates.ok()) return rates.error();
  return rates->empty() ? std::nullopt : std::optional(rates->front());
}

Result<std::vector<Rate>> Catalogue::LoadRates() {
  const std::lock_guard lock(impl_->read_mutex);
  return impl_->Collect<Rate>(impl_->reader.rates, [](const SqliteStatement& s) { return std::optional(RateAt(s)); });
}

Result<std::optional<std::string>> Catalogue::FindMeta(const std::string& key) {
  const std::lock_guard lock(impl_->read_mutex);
  impl_->reader.find_meta.Bind(key);
  const auto values = impl_->Collect<std::string>(impl_->reader.find_meta,
                                                  [](const SqliteStatement& s) { return std::optional(s.Text(0)); });
  if (!values.ok()) return values.error();
  return values->empty() ? std::nullopt : std::optional(values->front());
}

Status Catalogue::PutMeta(const std::string& key, const std::string& value) {
  if (impl_->options.read_only) return Error{Errc::kUnsupported, "the catalogue is open for reading only"};
  const std::lock_guard lock(impl_->write_mutex);
  impl_->writer.put_meta.Bind(key, value);
  return impl_->writer.put_meta.Run();
}

Result<bool> Catalogue::incomplete() {
  const Result<std::optional<std::string>> value = FindMeta(kIncompleteKey);
  if (!value.ok()) return value.error();
  return value->has_value() && **value != "0";
}

Status Catalogue::SetComplete() { return PutMeta(kIncompleteKey, "0"); }

Status Catalogue::Check() {
  const std::lock_guard lock(impl_->read_mutex);
  if (impl_->reader.database == nullptr) return Error{Errc::kIo, impl_->path + " could not be made anew"};
  return impl_->reader.database->Check(true);
}

uint64_t Catalogue::damaged_rows() const { return impl_->damaged_rows; }
bool Catalogue::created() const { return impl_->created; }

bool Catalogue::IsOurs(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < kApplicationIdAt + 4) return false;
  if (std::memcmp(first_bytes.data(), kSqliteMagic.data(), kSqliteMagic.size()) != 0) return false;
  int64_t id = 0;  // big-endian
  for (size_t i = 0; i < 4; ++i) id = id << 8 | std::to_integer<int64_t>(first_bytes[kApplicationIdAt + i]);
  return id == kApplicationId;
}

}  // namespace afterimage
