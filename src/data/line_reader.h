// LineReader: a text file of any size, line by line, in bounded memory.
//
// Reads forward only, so a pipe will do.
#ifndef AFTERIMAGE_DATA_LINE_READER_H_
#define AFTERIMAGE_DATA_LINE_READER_H_

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "afterimage/result.h"

namespace afterimage {

class LineReader {
 public:
  // Errors: kNotFound, kIo.
  static Result<LineReader> Open(const std::string& path, size_t max_line_bytes);

  // The next line, without its LF or CR LF and without a byte order mark at the file's start; nullopt at the end.
  // Errors: kTooLarge (the line is over the limit; it is passed over and the next call gives the line after it), kIo.
  Result<std::optional<std::string>> Next();

  size_t line_number() const { return line_number_; }  // of the line given last; the first is 1

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  LineReader(std::FILE* file, std::string path, size_t max_line_bytes)
      : file_(file), path_(std::move(path)), max_line_bytes_(max_line_bytes) {}

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  size_t max_line_bytes_;
  size_t line_number_ = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_LINE_READER_H_
