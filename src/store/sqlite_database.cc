#include "store/sqlite_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>

namespace afterimage {
namespace {

constexpr int kBusyTimeoutMs = 5000;

Errc CodeOf(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:   // of our own statements only: a table or a column is not there
    case SQLITE_TOOBIG:  // nothing we put: what a damaged length says
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return Errc::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::kBusy;
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Errc::kIo;
    default:
      return Errc::kInternal;
  }
}

std::string UriOf(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#') {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      uri += c;
    }
  }
  return uri;
}

Error LastError(sqlite3* database) {
  const char* file = sqlite3_db_filename(database, "main");
  return {CodeOf(sqlite3_extended_errcode(database)),
          std::string(file != nullptr ? file : "catalogue") + ": " + sqlite3_errmsg(database)};
}

}  // namespace

void SqliteStatement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void SqliteDatabase::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<bool> SqliteStatement::Step() {
  if (statement_ == nullptr) return Error{Errc::kIo, "the catalogue is closed: it could not be made anew"};
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  Error error = LastError(sqlite3_db_handle(statement_.get()));
  sqlite3_reset(statement_.get());
  return error;
}

Status SqliteStatement::Run() {
  const Result<bool> row = Step();
  if (!row.ok()) return row.error();
  if (*row) Reset();
  return {};
}

void SqliteStatement::Reset() { sqlite3_reset(statement_.get()); }

int64_t SqliteStatement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double SqliteStatement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string SqliteStatement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int n = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), static_cast<size_t>(n));
}

Digest SqliteStatement::DigestAt(int column) const {
  const std::string bytes = Text(column);
  Digest digest;
  std::copy_n(bytes.begin(), std::min(bytes.size(), digest.bytes.size()), digest.bytes.begin());
  return digest;
}

// A bind fails only for an index that does not exist or without memory; the step that follows then fails too.
void SqliteStatement::BindOne(int index, int64_t value) { sqlite3_bind_int64(statement_.get(), index, value); }
void SqliteStatement::BindOne(int index, double value) { sqlite3_bind_double(statement_.get(), index, value); }

void SqliteStatement::BindOne(int index, std::span<const std::byte> value) {
  const void* bytes = value.empty() ? "" : static_cast<const void*>(value.data());  // null would be NULL
  sqlite3_bind_blob64(statement_.get(), index, bytes, value.size(), SQLITE_STATIC);
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const bool read_only = mode == Mode::kReadOnly || mode == Mode::kImmutable;
  flags |= read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::kImmutable) flags |= SQLITE_OPEN_URI;
  if (mode == Mode::kCreate) flags |= SQLITE_OPEN_CREATE;
  sqlite3* opened = nullptr;
  const std::string name = mode == Mode::kImmutable ? UriOf(path) + "?immutable=1" : path;
  const int code = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  auto database = std::make_unique<SqliteDatabase>();
  database->database_.reset(opened);
  if (opened == nullptr) return Error{Errc::kInternal, path + ": no memory to open it"};
  if (code != SQLITE_OK) return Error{CodeOf(code), path + ": " + sqlite3_errmsg(opened)};
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  // The file may have been damaged or made by others: more checks, and no code out of the schema.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  const Status status = database->Run("PRAGMA cell_size_check=ON");
  if (!status.ok()) return status.error();
  return database;
}

Status SqliteDatabase::Run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError(database_.get());
  }
  return {};
}

Result<int64_t> SqliteDatabase::Number(const std::string& sql) {
  SqliteStatement statement;
  if (Status status = Prepare(sql, statement); !status.ok()) return status.error();
  const Result<bool> row = statement.Step();
  if (!row.ok()) return row.error();
  return *row ? statement.Integer(0) : 0;
}

bool SqliteDatabase::read_only() const { return sqlite3_db_readonly(database_.get(), "main") == 1; }

Status SqliteDatabase::Check(bool with_indices) {
  SqliteStatement statement;
  if (Status status = Prepare(with_indices ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)", statement);
      !status.ok()) {
    return status;
  }
  const Result<bool> row = statement.Step();
  if (!row.ok()) return row.error();
  const std::string said = *row ? statement.Text(0) : "no answer";
  if (said == "ok") return {};
  return Error{Errc::kCorrupt, std::string(sqlite3_db_filename(database_.get(), "main")) + ": " + said};
}

Status SqliteDatabase::Prepare(std::string_view sql, SqliteStatement& statement) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) return LastError(database_.get());
  statement.statement_.reset(prepared);
  return {};
}

}  // namespace afterimage
