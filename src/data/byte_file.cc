#include "data/byte_file.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/posix_file.h"

namespace afterimage {

Result<ByteFile> ByteFile::Open(const std::string& path) {
  std::FILE* opened = std::fopen(path.c_str(), "rbe");
  if (opened == nullptr) return ReadError(path, errno);
  ByteFile file(opened, path);
  struct stat info = {};
  if (::fstat(::fileno(opened), &info) == 0 && S_ISDIR(info.st_mode)) return ReadError(path, EISDIR);
  // A mark that is cut short is not put back: no text begins with these bytes.
  if (const int first = file.Next(); first != 0xEF) {
    if (first != kEnd) file.Back(first);
  } else if (file.Next() != 0xBB || file.Next() != 0xBF) {
    return Error{Errc::kCorrupt, fmt::format("{} is not text in UTF-8.", path)};
  }
  return file;
}

Status ByteFile::status() const { return std::ferror(file_.get()) != 0 ? Status(ReadError(path_, errno)) : Status(); }

Status ByteFile::GoTo(uint64_t offset) {
  if (::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) {
    if (errno != ESPIPE) return ReadError(path_, errno);
    return Error{Errc::kUnsupported, fmt::format("{} is a pipe, which can be read only once and in its order: give "
                                                 "--shuffle-seed -1.",
                                                 path_)};
  }
  offset_ = offset;
  return {};
}

}  // namespace afterimage
