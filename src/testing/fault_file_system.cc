#include "testing/fault_file_system.h"

#include <algorithm>
#include <array>
#include <utility>

namespace afterimage {
namespace {

uint64_t TotalBytes(std::span<const std::span<const std::byte>> parts) {
  uint64_t total = 0;
  for (const std::span<const std::byte> part : parts) total += part.size();
  return total;
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

Error Failure(const std::string& what) { return {Errc::kIo, what + " (injected)"}; }

}  // namespace

class FaultReadableFile : public ReadableFile {
 public:
  FaultReadableFile(FaultFileSystem& owner, std::unique_ptr<ReadableFile> base)
      : owner_(owner), base_(std::move(base)) {}

  uint64_t size() const override { return base_->size(); }

  Result<uint64_t> ReadAt(uint64_t offset, std::span<const std::span<std::byte>> parts) const override {
    const Result<Faults> faults = owner_.Begin();
    if (!faults.ok()) return faults.error();
    if (faults->unreadable) return Failure("input/output error");
    const Result<uint64_t> n = base_->ReadAt(offset, parts);
    if (!n.ok()) return n.error();
    uint64_t at = offset;
    for (const std::span<std::byte> part : parts) {
      if (faults->flip.has_value() && *faults->flip >= at && *faults->flip < at + part.size()) {
        part[*faults->flip - at] ^= std::byte{1};
      }
      at += part.size();
    }
    if (faults->on_bytes) faults->on_bytes(*n);
    return *n;
  }

 private:
  FaultFileSystem& owner_;
  const std::unique_ptr<ReadableFile> base_;
};

void FaultFileSystem::Set(Faults faults) {
  const std::lock_guard lock(mutex_);
  faults_ = std::move(faults);
  operations_ = 0;
}

uint64_t FaultFileSystem::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

Result<Faults> FaultFileSystem::Begin(bool* last) {
  const std::lock_guard lock(mutex_);
  const uint64_t number = operations_++;
  if (last != nullptr) *last = faults_.crash_at == number;
  if (faults_.crash_at.has_value() && number >= *faults_.crash_at) return Failure("the machine has stopped");
  return faults_;
}

void FaultFileSystem::LosePower() {
  const std::lock_guard lock(mutex_);
  for (const std::set<std::string>* lost : {&unsynced_, &nameless_}) {
    for (const std::string& path : *lost) (void)base_.Remove(path);
  }
  unsynced_.clear();
  nameless_.clear();
}

Result<std::unique_ptr<ReadableFile>> FaultFileSystem::OpenForReading(const std::string& path) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  Result<std::unique_ptr<ReadableFile>> file = base_.OpenForReading(path);
  if (!file.ok()) return file.error();
  return std::unique_ptr<ReadableFile>(std::make_unique<FaultReadableFile>(*this, std::move(*file)));
}

Status FaultFileSystem::WriteFile(const std::string& path, std::span<const std::span<const std::byte>> parts,
                                  bool sync) {
  bool last = false;
  const Result<Faults> faults = Begin(&last);
  if (!faults.ok()) {
    if (last) {
      const std::span<const std::byte> first = parts.empty() ? std::span<const std::byte>() : parts[0];
      const std::array half = {first.first(first.size() / 2)};
      (void)base_.WriteFile(TemporaryName(path), half, false);
    }
    return faults.error();
  }
  if (faults->on_bytes) faults->on_bytes(TotalBytes(parts));
  if (faults->no_space) return Failure("writing " + path + ": no space left on device");
  if (faults->failing_fsync && sync) return Failure("syncing " + path + ": input/output error");
  Status status = base_.WriteFile(path, parts, sync);
  if (status.ok()) {
    const std::lock_guard lock(mutex_);
    nameless_.insert(path);
    if (!sync) unsynced_.insert(path);
  }
  return status;
}

Status FaultFileSystem::SyncFolder(const std::string& path) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  if (faults->failing_fsync) return Failure("syncing folder " + path + ": input/output error");
  Status status = base_.SyncFolder(path);
  if (status.ok()) {
    const std::lock_guard lock(mutex_);
    std::erase_if(nameless_, [&](const std::string& file) { return FolderOf(file) == path; });
  }
  return status;
}

Status FaultFileSystem::Remove(const std::string& path) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  if (faults->failing_remove) return Failure("removing " + path);
  const std::lock_guard lock(mutex_);
  unsynced_.erase(path);
  nameless_.erase(path);
  return base_.Remove(path);
}

Status FaultFileSystem::Rename(const std::string& from, const std::string& to) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  if (faults->failing_remove) return Failure("renaming " + from);
  return base_.Rename(from, to);
}

Result<std::vector<FolderEntry>> FaultFileSystem::List(const std::string& folder) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  return base_.List(folder);
}

Status FaultFileSystem::MakeFolders(const std::string& path) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  return base_.MakeFolders(path);
}

Result<std::unique_ptr<FileLock>> FaultFileSystem::Lock(const std::string& path) {
  const Result<Faults> faults = Begin();
  if (!faults.ok()) return faults.error();
  return base_.Lock(path);
}

}  // namespace afterimage
