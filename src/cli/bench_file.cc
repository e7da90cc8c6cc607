#include "cli/bench_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "afterimage/clock.h"
#include "core/posix_file.h"
#include "store/background_checksum.h"

namespace afterimage {
namespace {

constexpr size_t kPieceBytes = 512 * 1024;  // as store/chunk_file.cc

// Calls `move` for each piece of `into` and takes its checksum; false ends it.
template <typename AnyChecksum, typename Move>
RawTimes Piecewise(std::span<std::byte> into, bool with_checksum, const Move& move) {
  const Clock& clock = SteadyClock();
  const auto start = clock.Now();
  RawTimes times;
  std::optional<AnyChecksum> checksum;
  if (with_checksum) checksum.emplace();
  for (size_t offset = 0; offset < into.size(); offset += kPieceBytes) {
    const std::span<std::byte> piece = into.subspan(offset, std::min(kPieceBytes, into.size() - offset));
    if (!move(offset, piece)) break;
    if (!with_checksum) continue;
    const StageTimer timer(clock, times.check_ms);
    checksum->Add(piece);
  }
  if (with_checksum) {
    const StageTimer timer(clock, times.check_ms);
    (void)checksum->Finish();
  }
  times.total_ms = Milliseconds(clock.Now() - start);
  return times;
}

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// What a command prints, and whether it ended well.
std::optional<std::string> OutputOf(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> piece{};
  for (size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) output.append(piece.data(), n);
  if (::pclose(pipe) != 0) return std::nullopt;
  return output;
}

}  // namespace

Result<double> DropFromPageCache(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0) return ReadError(path, errno);
  if (status.st_size == 0) return 0.0;
  if (::fsync(file.number) != 0) return ReadError(path, errno);  // pages that are not written yet cannot be forgotten
  ::posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED);
  const auto size = static_cast<size_t>(status.st_size);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number, 0);
  if (mapped == MAP_FAILED) return ReadError(path, errno);
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((size + page - 1) / page);
  const int told = ::mincore(mapped, size, resident.data());
  ::munmap(mapped, size);
  if (told != 0) return ReadError(path, errno);
  const auto left = std::ranges::count_if(resident, [](unsigned char state) { return (state & 1) != 0; });
  return static_cast<double>(left) / static_cast<double>(resident.size());
}

bool LiesInMemory(const std::string& folder) {
  constexpr int64_t kTmpfs = 0x01021994;
  constexpr int64_t kRamfs = 0x858458f6;
  struct statfs status = {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  return status.f_type == kTmpfs || status.f_type == kRamfs;
}

Result<RawTimes> RawRead(const std::string& path, std::span<std::byte> into, bool with_checksum) {
  double open_ms = 0;
  int opened = -1;
  {
    const StageTimer timer(SteadyClock(), open_ms);
    opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  const Fd file(opened);
  if (file.number < 0) return ReadError(path, errno);
  {
    const StageTimer timer(SteadyClock(), open_ms);
    ::posix_fadvise(file.number, 0, 0, POSIX_FADV_WILLNEED);
  }
  bool ok = true;
  RawTimes times = Piecewise<BackgroundChecksum>(into, with_checksum, [&](size_t offset, std::span<std::byte> piece) {
    for (size_t done = 0; ok && done < piece.size();) {
      const ssize_t n =
          ::pread(file.number, piece.data() + done, piece.size() - done, static_cast<off_t>(offset + done));
      ok = n > 0;
      if (ok) done += static_cast<size_t>(n);
    }
    return ok;
  });
  if (!ok) return ReadError(path, errno);
  times.total_ms += open_ms;
  return times;
}

RawTimes RawCopy(std::span<const std::byte> from, std::span<std::byte> into, bool with_checksum) {
  return Piecewise<Checksum>(into, with_checksum, [&](size_t offset, std::span<std::byte> piece) {
    std::memcpy(piece.data(), from.data() + offset, piece.size());
    return true;
  });
}

Result<std::optional<double>> FioReadMs(const std::string& path) {
  if (!OutputOf("command -v fio 2>/dev/null").has_value()) return std::optional<double>();
  const std::optional<std::string> output = OutputOf(
      "fio --name=read --readonly --rw=read --bs=512k --ioengine=psync --invalidate=1 --output-format=json "
      "--filename=" +
      ShellQuoted(path) + " 2>/dev/null");
  const nlohmann::json report = nlohmann::json::parse(output.value_or(""), nullptr, false);
  const nlohmann::json::json_pointer bandwidth("/jobs/0/read/bw_bytes");
  const nlohmann::json::json_pointer bytes("/jobs/0/read/io_bytes");
  const auto number = [&](const nlohmann::json::json_pointer& at) {
    return report.is_object() && report.contains(at) && report[at].is_number() ? report[at].get<double>() : 0.0;
  };
  if (number(bandwidth) <= 0 || number(bytes) <= 0) {
    return Error{Errc::kInternal, "fio is installed but did not say how fast it read " + path};
  }
  return std::optional(1000 * number(bytes) / number(bandwidth));
}

}  // namespace afterimage
