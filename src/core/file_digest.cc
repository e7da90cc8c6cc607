#include "core/file_digest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/posix_file.h"
#include "core/sha256.h"

namespace afterimage {
namespace {

constexpr std::string_view kHeader = "afterimage file digests 1\n";
constexpr size_t kMaxEntries = 256;
// Far above what kMaxEntries lines take: a larger file is not ours.
constexpr size_t kMaxCacheBytes = 256u << 10;
constexpr size_t kPieceBytes = 1u << 20;

// What must agree for a file to count as unchanged. The ctime is there because anyone can set an mtime back.
struct FileKey {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  bool operator==(const FileKey&) const = default;
};

struct Entry {
  Digest digest;
  FileKey key;
};

// Wraps for years past 2262, which file systems can store: it stays a good key, where signed overflow would be none.
int64_t Nanoseconds(const timespec& time) {
  return static_cast<int64_t>(static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u +
                              static_cast<uint64_t>(time.tv_nsec));
}

FileKey KeyOf(const struct stat& info) {
  return FileKey{.device = info.st_dev,
                 .inode = info.st_ino,
                 .size = info.st_size,
                 .mtime_ns = Nanoseconds(info.st_mtim),
                 .ctime_ns = Nanoseconds(info.st_ctim)};
}

// How many bytes came, fewer than asked for only at the end of the file; or -1 and errno.
ssize_t ReadAt(int fd, std::span<std::byte> out, uint64_t offset) {
  size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t n = pread(fd, out.data() + filled, out.size() - filled, static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  return static_cast<ssize_t>(filled);
}

Result<Digest> HashFile(int fd, std::string_view path) {
  Sha256 sha;
  std::vector<std::byte> piece(kPieceBytes);
  for (uint64_t offset = 0;;) {
    const ssize_t n = ReadAt(fd, piece, offset);
    if (n < 0) return ReadError(path, errno);
    sha.AddRaw(std::span(piece).first(static_cast<size_t>(n)));
    if (static_cast<size_t>(n) < piece.size()) return sha.Finish();
    offset += static_cast<uint64_t>(n);
  }
}

std::optional<Entry> ParseLine(std::string_view line) {
  constexpr size_t kHexDigits = 64;
  const std::optional<Digest> digest = DigestFromHex(line.substr(0, kHexDigits));
  if (!digest.has_value()) return std::nullopt;
  line.remove_prefix(kHexDigits);
  const auto take = [&line](auto& number) {
    if (!line.starts_with(' ')) return false;
    line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    line.remove_prefix(static_cast<size_t>(end - line.data()));
    return error == std::errc();
  };
  Entry entry{.digest = *digest, .key = {}};
  FileKey& key = entry.key;
  if (!take(key.device) || !take(key.inode) || !take(key.size) || !take(key.mtime_ns) || !take(key.ctime_ns) ||
      !line.empty()) {
    return std::nullopt;
  }
  return entry;
}

// The entries, oldest first. One bad line spoils all: we never write one, so something else happened to the file.
std::vector<Entry> Parse(std::string_view text) {
  if (!text.starts_with(kHeader)) return {};
  text.remove_prefix(kHeader.size());
  std::vector<Entry> entries;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    const std::optional<Entry> entry = ParseLine(text.substr(0, end));
    if (!entry.has_value()) return {};
    entries.push_back(*entry);
    text.remove_prefix(end + 1);
  }
  return entries;
}

std::vector<Entry> Load(const std::string& cache_path) {
  const Fd file(open(cache_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) return {};
  std::vector<std::byte> bytes(kMaxCacheBytes + 1);
  const ssize_t n = ReadAt(file.number, bytes, 0);
  if (n < 0 || static_cast<size_t>(n) > kMaxCacheBytes) return {};
  return Parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(n)));
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Not synced to disk: after a power cut the file may be garbage, which counts as empty.
void Save(const std::string& cache_path, std::span<const Entry> entries) {
  std::string text(kHeader);
  for (const auto& [digest, key] : entries) {
    text +=
        fmt::format("{} {} {} {} {} {}\n", digest.Hex(), key.device, key.inode, key.size, key.mtime_ns, key.ctime_ns);
  }
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(cache_path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);

  std::string temporary = cache_path + ".XXXXXX";
  const Fd file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.number < 0) return;
  if (!WriteAll(file.number, text) || rename(temporary.c_str(), cache_path.c_str()) != 0) unlink(temporary.c_str());
}

void Remember(const std::string& cache_path, const Entry& entry) {
  // Read once more: hashing took a while, and others may have added theirs.
  std::vector<Entry> entries = Load(cache_path);
  std::erase_if(entries, [&entry](const Entry& other) {
    return other.key.device == entry.key.device && other.key.inode == entry.key.inode;
  });
  entries.push_back(entry);
  const size_t kept = std::min(entries.size(), kMaxEntries);
  Save(cache_path, std::span(entries).last(kept));
}

}  // namespace

FileDigests::FileDigests(std::string cache_path, std::chrono::nanoseconds min_age)
    : cache_path_(std::move(cache_path)), min_age_(min_age) {}

Result<Digest> FileDigests::Of(const std::string& path) {
  // The age counts from here, not from the end: a change while we hash gets a time later than this one.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t newest_ns = Nanoseconds(now) - min_age_.count();

  // Without O_NONBLOCK, opening a pipe would wait for someone to write to it.
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.number < 0 || fstat(file.number, &info) != 0) return ReadError(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{Errc::kIo, fmt::format("Cannot read '{}': it is a directory or a device, not a file.", path)};
  }
  const FileKey key = KeyOf(info);
  if (!cache_path_.empty()) {
    for (const Entry& entry : Load(cache_path_)) {
      if (entry.key == key) return entry.digest;
    }
  }

  Result<Digest> digest = HashFile(file.number, path);
  if (!digest.ok() || cache_path_.empty()) return digest;
  const bool unchanged = fstat(file.number, &info) == 0 && KeyOf(info) == key;
  if (unchanged && key.mtime_ns <= newest_ns && key.ctime_ns <= newest_ns) {
    Remember(cache_path_, Entry{.digest = *digest, .key = key});
  }
  return digest;
}

}  // namespace afterimage
