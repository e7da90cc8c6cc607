// What a file costs without us: the bounds `bench store` is held against.
#ifndef AFTERIMAGE_CLI_BENCH_FILE_H_
#define AFTERIMAGE_CLI_BENCH_FILE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "afterimage/result.h"

namespace afterimage {

// Asks the kernel to forget a file's pages, which it need not do (and cannot, in a file system that lives in memory).
// The share of them that is still there. Errors: kIo.
Result<double> DropFromPageCache(const std::string& path);

// Whether the folder lies in memory (tmpfs, ramfs), where there is no disk to be measured.
bool LiesInMemory(const std::string& folder);

struct RawTimes {
  double total_ms = 0;
  double check_ms = 0;  // of it, the checksum, as far as it was waited for
};

// Opens the file, asks for all of it and reads it from its start, in pieces as the store does; takes their checksum
// beside the reading, as the store does, if asked to. REQUIRES: the file is as long as `into`. Errors: kIo.
Result<RawTimes> RawRead(const std::string& path, std::span<std::byte> into, bool with_checksum);

// The same work on bytes in memory: a copy, and the checksum of each piece while it is warm.
RawTimes RawCopy(std::span<const std::byte> from, std::span<std::byte> into, bool with_checksum);

// What fio takes to read the file once, from the disk, in order. nullopt: there is no fio. Errors: kInternal.
Result<std::optional<double>> FioReadMs(const std::string& path);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_BENCH_FILE_H_
