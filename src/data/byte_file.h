// ByteFile: a file read byte by byte, through a buffer, that knows where it stands.
#ifndef AFTERIMAGE_DATA_BYTE_FILE_H_
#define AFTERIMAGE_DATA_BYTE_FILE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "afterimage/result.h"

namespace afterimage {

class ByteFile {
 public:
  static constexpr int kEnd = -1;

  // Passes over a byte order mark. Errors: kNotFound, kIo.
  static Result<ByteFile> Open(const std::string& path);

  // The next byte, or kEnd: at the end, and where reading fails, which status() tells.
  int Next() {
    const int c = ::getc_unlocked(file_.get());
    if (c != EOF) ++offset_;
    return c;
  }
  // Puts back the byte that Next gave last.
  void Back(int c) {
    std::ungetc(c, file_.get());
    --offset_;
  }
  Status status() const;

  const std::string& path() const { return path_; }
  uint64_t offset() const { return offset_; }
  // Errors: kIo, kUnsupported (a pipe).
  Status GoTo(uint64_t offset);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  ByteFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  uint64_t offset_ = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_BYTE_FILE_H_
