// FaultFileSystem: another file system, with the failures of real disks on demand.
//
// Faults are set before the store is given the file system, or while it runs. What it cannot do: the catalogue is
// SQLite's and does not pass through here.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_TESTING_FAULT_FILE_SYSTEM_H_
#define AFTERIMAGE_TESTING_FAULT_FILE_SYSTEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/file_system.h"

namespace afterimage {

struct Faults {
  bool no_space = false;         // writes fail, as after a short write on a full disk
  bool failing_fsync = false;    // syncs of files and of folders fail
  bool unreadable = false;       // reads fail with kIo
  bool failing_remove = false;   // names cannot be removed or changed
  std::optional<uint64_t> flip;  // every read that covers this offset of a file gets the lowest bit of the byte flipped

  // The operation with this number (from 0, counted since the faults were set) and all after it fail, as if the machine
  // had stopped: a WriteFile there leaves half of its bytes under its temporary name.
  std::optional<uint64_t> crash_at;

  // Called with the number of bytes of every read and write, before it answers: a slow disk advances a ManualClock.
  std::function<void(uint64_t)> on_bytes;
};

class FaultFileSystem : public FileSystem {
 public:
  explicit FaultFileSystem(FileSystem& base) : base_(base) {}

  void Set(Faults faults);
  uint64_t operations() const;  // since the faults were set

  // What a power cut does: files written without sync, or whose folder was not synced since, are gone.
  void LosePower();

  Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) override;
  Status WriteFile(const std::string& path, std::span<const std::span<const std::byte>> parts, bool sync) override;
  Status SyncFolder(const std::string& path) override;
  Status Remove(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Result<std::vector<FolderEntry>> List(const std::string& folder) override;
  Status MakeFolders(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;

 private:
  friend class FaultReadableFile;

  // Counts an operation; the faults to apply to it, or the error of a machine that has stopped. `last`: it stops here.
  Result<Faults> Begin(bool* last = nullptr);

  FileSystem& base_;
  mutable std::mutex mutex_;
  Faults faults_;  // the rest guarded by mutex_
  uint64_t operations_ = 0;
  std::set<std::string> unsynced_;  // bytes not forced to the disk
  std::set<std::string> nameless_;  // names not forced to the disk
};

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_FAULT_FILE_SYSTEM_H_
