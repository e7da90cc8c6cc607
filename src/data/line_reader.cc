#include "data/line_reader.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/posix_file.h"

namespace afterimage {

Result<LineReader> LineReader::Open(const std::string& path, size_t max_line_bytes) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return ReadError(path, errno);
  LineReader reader(file, path, max_line_bytes);
  struct stat info = {};
  if (::fstat(::fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) return ReadError(path, EISDIR);
  return reader;
}

Result<std::optional<std::string>> LineReader::Next() {
  std::string line;
  bool over = false;
  for (;;) {
    const int c = ::getc_unlocked(file_.get());
    if (c == EOF) {
      if (std::ferror(file_.get()) != 0) return ReadError(path_, errno);
      if (line.empty() && !over) return std::optional<std::string>();
      break;
    }
    if (c == '\n') break;
    over = over || line.size() == max_line_bytes_;
    if (!over) line.push_back(static_cast<char>(c));
  }
  ++line_number_;
  if (over) return Error{Errc::kTooLarge, fmt::format("longer than {} bytes", max_line_bytes_)};
  if (line_number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.ends_with('\r')) line.pop_back();
  return std::optional<std::string>(std::move(line));
}

}  // namespace afterimage
