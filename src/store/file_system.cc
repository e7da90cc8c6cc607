#include "store/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace afterimage {
namespace {

constexpr size_t kMaxVectors = 256;  // per call; the kernel takes up to IOV_MAX, 1024

Error SystemError(std::string_view doing, const std::string& path, int code) {
  const std::string why = std::generic_category().message(code);
  return {code == ENOENT ? Errc::kNotFound : Errc::kIo, std::string(doing) + " " + path + ": " + why};
}

// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Descriptor Open(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

// Walks a list of spans in steps the kernel takes, across calls that move less than was asked.
template <typename Byte>
class Vectors {
 public:
  explicit Vectors(std::span<const std::span<Byte>> parts) : parts_(parts) { Skip(); }

  bool done() const { return part_ == parts_.size(); }

  std::span<const iovec> Next() {
    size_t n = 0;
    for (size_t part = part_; part < parts_.size() && n < kMaxVectors; ++part) {
      const std::span<Byte> rest = parts_[part].subspan(part == part_ ? offset_ : 0);
      if (!rest.empty()) vectors_[n++] = {const_cast<std::byte*>(rest.data()), rest.size()};
    }
    return std::span(vectors_).first(n);
  }

  void Advance(size_t bytes) {
    while (bytes > 0) {
      const size_t step = std::min(bytes, parts_[part_].size() - offset_);
      offset_ += step;
      bytes -= step;
      Skip();
    }
  }

 private:
  void Skip() {
    while (part_ < parts_.size() && offset_ == parts_[part_].size()) {
      ++part_;
      offset_ = 0;
    }
  }

  std::span<const std::span<Byte>> parts_;
  size_t part_ = 0;
  size_t offset_ = 0;
  std::array<iovec, kMaxVectors> vectors_;
};

class PosixReadableFile : public ReadableFile {
 public:
  PosixReadableFile(std::string path, Descriptor file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  uint64_t size() const override { return size_; }

  Result<uint64_t> ReadAt(uint64_t offset, std::span<const std::span<std::byte>> parts) const override {
    uint64_t total = 0;
    for (Vectors<std::byte> vectors(parts); !vectors.done();) {
      const std::span<const iovec> next = vectors.Next();
      const ssize_t n =
          ::preadv(file_.get(), next.data(), static_cast<int>(next.size()), static_cast<off_t>(offset + total));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{Errc::kIo, SystemError("reading", path_, errno).message};
      if (n == 0) break;
      vectors.Advance(static_cast<size_t>(n));
      total += static_cast<uint64_t>(n);
    }
    return total;
  }

 private:
  const std::string path_;
  const Descriptor file_;
  const uint64_t size_;
};

class PosixFileLock : public FileLock {
 public:
  explicit PosixFileLock(Descriptor file) : file_(std::move(file)) {}

 private:
  const Descriptor file_;  // closing it unlocks
};

// 0, or the error's number.
int WriteAll(int fd, std::span<const std::span<const std::byte>> parts) {
  for (Vectors<const std::byte> vectors(parts); !vectors.done();) {
    const std::span<const iovec> next = vectors.Next();
    const ssize_t n = ::writev(fd, next.data(), static_cast<int>(next.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    vectors.Advance(static_cast<size_t>(n));
  }
  return 0;
}

class Posix : public FileSystem {
 public:
  Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) override {
    Descriptor file = Open(path, O_RDONLY);
    if (file.get() < 0) return SystemError("opening", path, errno);
    struct stat about{};
    if (::fstat(file.get(), &about) != 0) return SystemError("asking for the size of", path, errno);
    if (!S_ISREG(about.st_mode)) return Error{Errc::kIo, "opening " + path + ": not a file"};
    // Who opens a file reads all of it. Told so, the kernel fetches what comes next while the checksum of what is
    // there is taken.
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_WILLNEED);
    return std::unique_ptr<ReadableFile>(
        std::make_unique<PosixReadableFile>(path, std::move(file), static_cast<uint64_t>(about.st_size)));
  }

  Status WriteFile(const std::string& path, std::span<const std::span<const std::byte>> parts, bool sync) override {
    const std::string temporary = TemporaryName(path);
    const auto fail = [&](std::string_view doing, int code) -> Status {
      ::unlink(temporary.c_str());
      return Error{Errc::kIo, SystemError(doing, path, code).message};
    };
    {
      const Descriptor file = Open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
      if (file.get() < 0) return fail("making", errno);
      if (const int code = WriteAll(file.get(), parts); code != 0) return fail("writing", code);
      // Not tried again after a failure: the kernel may have thrown the unwritten pages away and forgotten them.
      if (sync && ::fsync(file.get()) != 0) return fail("syncing", errno);
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) return fail("renaming", errno);
    return {};
  }

  Status SyncFolder(const std::string& path) override {
    const Descriptor folder = Open(path, O_RDONLY | O_DIRECTORY);
    if (folder.get() < 0 || ::fsync(folder.get()) != 0) return SystemError("syncing folder", path, errno);
    return {};
  }

  Status Remove(const std::string& path) override {
    if (std::remove(path.c_str()) != 0 && errno != ENOENT) return SystemError("removing", path, errno);
    return {};
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (std::rename(from.c_str(), to.c_str()) != 0) return SystemError("renaming", from + " to " + to, errno);
    return {};
  }

  Result<std::vector<FolderEntry>> List(const std::string& folder) override {
    std::error_code code;
    std::vector<FolderEntry> entries;
    std::filesystem::directory_iterator next(folder, code);
    for (const std::filesystem::directory_iterator end; !code && next != end; next.increment(code)) {
      std::error_code gone;  // an entry that vanishes meanwhile is no folder
      entries.push_back({next->path().filename().string(), next->is_directory(gone)});
    }
    if (code) return SystemError("listing", folder, code.value());
    std::ranges::sort(entries, {}, &FolderEntry::name);
    return entries;
  }

  Status MakeFolders(const std::string& path) override {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code) return Error{Errc::kIo, SystemError("making folder", path, code.value()).message};
    return {};
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    Descriptor file = Open(path, O_RDWR | O_CREAT);
    if (file.get() < 0) return SystemError("opening", path, errno);
    std::array<char, 32> text{};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return SystemError("locking", path, errno);
      const ssize_t n = ::pread(file.get(), text.data(), text.size() - 1, 0);
      const std::string owner = n > 0 ? std::string(text.data(), static_cast<size_t>(n)) : "unknown";
      return Error{Errc::kBusy, path + " is locked by process " + owner.substr(0, owner.find('\n')) +
                                    ": only one may write; stop it, or open read-only"};
    }
    // For people and for the message above; the lock itself does not depend on it.
    const int n = std::snprintf(text.data(), text.size(), "%ld\n", static_cast<long>(::getpid()));
    if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), text.data(), static_cast<size_t>(n), 0) != n) {
      return SystemError("writing", path, errno);
    }
    return std::unique_ptr<FileLock>(std::make_unique<PosixFileLock>(std::move(file)));
  }
};

}  // namespace

FileSystem& PosixFileSystem() {
  static Posix posix;
  return posix;
}

}  // namespace afterimage
