#include "core/posix_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace afterimage {

Error ReadError(std::string_view path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return Error{Errc::kNotFound, fmt::format("There is no file '{}'.", path)};
  }
  return Error{Errc::kIo, fmt::format("Cannot read '{}': {}.", path, std::system_category().message(error_number))};
}

Error WriteError(std::string_view path, int error_number) {
  return Error{Errc::kIo, fmt::format("Cannot write '{}': {}.", path, std::system_category().message(error_number))};
}

}  // namespace afterimage
