// SqliteDatabase and SqliteStatement: the little of SQLite the catalogue needs, with our errors and ownership.
//
// Nothing outside catalogue.cc uses them. Errors: kCorrupt (damaged, or no database), kBusy (locked for longer than the
// timeout), kIo (disk full, not readable, read-only), kInternal (the rest).
//
// Thread safety: none; a database and its statements belong to one thread at a time.
#ifndef AFTERIMAGE_STORE_SQLITE_DATABASE_H_
#define AFTERIMAGE_STORE_SQLITE_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "afterimage/digest.h"
#include "afterimage/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace afterimage {

class SqliteStatement {
 public:
  // Binds all parameters, in order. What the values point to must live until Step or Run has returned.
  template <typename... Values>
  void Bind(const Values&... values) {
    int index = 0;
    (BindOne(++index, values), ...);
  }

  // Whether there is a row. After false or an error the statement can be bound and used again.
  Result<bool> Step();
  // For statements without rows.
  Status Run();
  // Before a statement of which not all rows were taken is used again.
  void Reset();

  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  // The first 32 bytes of a blob, zeros where there are none.
  Digest DigestAt(int column) const;

 private:
  friend class SqliteDatabase;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  void BindOne(int index, int64_t value);
  void BindOne(int index, uint64_t value) { BindOne(index, static_cast<int64_t>(value)); }
  void BindOne(int index, int32_t value) { BindOne(index, int64_t{value}); }
  void BindOne(int index, double value);
  void BindOne(int index, const std::string& value) { BindOne(index, std::as_bytes(std::span(value))); }
  void BindOne(int index, const Digest& value) { BindOne(index, std::as_bytes(std::span(value.bytes))); }
  void BindOne(int index, std::span<const std::byte> value);

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class SqliteDatabase {
 public:
  enum class Mode {
    kImmutable,  // read-only, and nobody writes: without locks, and without the -wal and -shm that SQLite makes to read
    kReadOnly,
    kReadWrite,
    kCreate,
  };

  static Result<std::unique_ptr<SqliteDatabase>> Open(const std::string& path, Mode mode);

  Status Run(const std::string& sql);
  Result<int64_t> Number(const std::string& sql);  // the first column of the first row; 0 without one
  Status Prepare(std::string_view sql, SqliteStatement& statement);
  // Whether it cannot be written, by its rights or by what its first bytes say. Known once it has been read.
  bool read_only() const;
  // Looks at every page. Errors: kCorrupt.
  Status Check(bool with_indices);
  // Calls `work` in a transaction, which is rolled back unless it and the commit succeed.
  template <typename Work>
  Status Transact(const Work& work) {
    Status status = Run("BEGIN IMMEDIATE");
    if (!status.ok()) return status;
    status = work();
    if (status.ok()) status = Run("COMMIT");
    if (!status.ok()) (void)Run("ROLLBACK");
    return status;
  }

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };

  std::unique_ptr<sqlite3, Closer> database_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_SQLITE_DATABASE_H_
