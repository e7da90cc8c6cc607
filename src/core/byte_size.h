// Sizes as people write them: "2GB", "512 MiB", "4096".
#ifndef AFTERIMAGE_CORE_BYTE_SIZE_H_
#define AFTERIMAGE_CORE_BYTE_SIZE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "afterimage/result.h"

namespace afterimage {

// A number, then nothing or B; KB MB GB TB (or K M G T), powers of 1000; KiB MiB GiB TiB, powers of 1024. In any case.
// Errors: kInvalidArgument.
Result<uint64_t> ParseByteSize(std::string_view text);

// "12 B", "3.4 KB", "5.6 MB", "7.89 GB": powers of 1000.
std::string FormatByteSize(uint64_t bytes);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_BYTE_SIZE_H_
