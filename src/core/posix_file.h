// What reading and writing a file through POSIX takes everywhere: a descriptor that closes itself, and errno as an
// Error.
#ifndef AFTERIMAGE_CORE_POSIX_FILE_H_
#define AFTERIMAGE_CORE_POSIX_FILE_H_

#include <unistd.h>

#include <string_view>

#include "afterimage/result.h"

namespace afterimage {

struct Fd {
  explicit Fd(int descriptor) : number(descriptor) {}
  ~Fd() {
    if (number >= 0) close(number);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  const int number;
};

// kNotFound where there is no such file, else kIo; the message names the path.
Error ReadError(std::string_view path, int error_number);
// kIo; the message names the path.
Error WriteError(std::string_view path, int error_number);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_POSIX_FILE_H_
