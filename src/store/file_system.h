// FileSystem: what the store needs of files, small enough to be replaced by one that fails (fault_file_system.h).
//
// Paths are those of the operating system. The catalogue is not reached through it: SQLite brings its own.
//
// Thread safety: all methods may be called from any thread; a ReadableFile too.
#ifndef AFTERIMAGE_STORE_FILE_SYSTEM_H_
#define AFTERIMAGE_STORE_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

// A file open for reading. It stays readable when its name is removed or given to another file.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual uint64_t size() const = 0;  // when it was opened

  // Fills the parts, in order, with the bytes from `offset` on. The number of bytes read: less than asked for only at
  // the file's end. Errors: kIo.
  virtual Result<uint64_t> ReadAt(uint64_t offset, std::span<const std::span<std::byte>> parts) const = 0;
};

// Holds a lock while it lives. The kernel gives it back when the process ends, however it ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct FolderEntry {
  std::string name;
  bool is_folder = false;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Errors: kNotFound, kIo.
  virtual Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) = 0;

  // Writes the parts to a temporary name (TemporaryName), forces them to the disk if `sync`, and renames: the path
  // holds either what it held before or all of it. After an error nothing is left of it. The new name itself survives
  // a power cut only after SyncFolder. REQUIRES: one writer per path at a time. Errors: kIo.
  virtual Status WriteFile(const std::string& path, std::span<const std::span<const std::byte>> parts, bool sync) = 0;

  virtual Status SyncFolder(const std::string& path) = 0;

  // Removes a file or an empty folder; none by that name is fine. Errors: kIo.
  virtual Status Remove(const std::string& path) = 0;

  // Replaces what is at `to`. Errors: kNotFound, kIo.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;

  // What is in a folder, sorted by name. Errors: kNotFound, kIo.
  virtual Result<std::vector<FolderEntry>> List(const std::string& folder) = 0;

  // Makes a folder and those above it, where they are missing. Errors: kIo.
  virtual Status MakeFolders(const std::string& path) = 0;

  // Locks the file, made if need be, for this owner alone. Errors: kBusy (with the process id of the owner), kIo.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
};

// The machine's file system. Lives as long as the program.
FileSystem& PosixFileSystem();

// The name under which WriteFile writes; what a crash leaves behind.
inline constexpr std::string_view kTemporarySuffix = ".tmp";
inline std::string TemporaryName(const std::string& path) { return path + std::string(kTemporarySuffix); }

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_FILE_SYSTEM_H_
