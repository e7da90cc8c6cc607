// The options that make one request, and the model and cache it goes to: of `ask`, and of `explain`, which looks at
// what `ask` would do.
#ifndef AFTERIMAGE_CLI_REQUEST_FLAGS_H_
#define AFTERIMAGE_CLI_REQUEST_FLAGS_H_

#include <string>
#include <vector>

#include "afterimage/cache.h"
#include "cli/cache_flags.h"
#include "cli/engine_flags.h"

namespace afterimage {

struct RequestFlags {
  EngineFlags engine;
  CacheFlags cache;
  Sampling sampling;
  std::vector<std::string> images;
  std::string system;
  std::string question;
  bool json = false;

  // Reads the pictures. Errors: ReadImage's.
  Result<Query> MakeQuery() const;
};

// All but the question.
void AddRequestOptions(OptionTable& table, RequestFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_REQUEST_FLAGS_H_
