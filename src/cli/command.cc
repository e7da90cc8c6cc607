#include "cli/command.h"

#include <fmt/core.h>

#include <cstdio>

namespace afterimage {

int Fail(const Error& error) {
  fmt::print(stderr, "afterimage: {}\n", error.message);
  return error.code == Errc::kInvalidArgument ? kExitBadUsage : kExitFailed;
}

}  // namespace afterimage
