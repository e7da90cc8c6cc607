// `afterimage bench cache`: requests through the whole cache and without it, side by side, and what a miss costs.
#ifndef AFTERIMAGE_CLI_BENCH_CACHE_H_
#define AFTERIMAGE_CLI_BENCH_CACHE_H_

#include <string>

#include "cli/bench_tools.h"

namespace afterimage {

struct CacheBenchFlags {
  std::string shape = "0.5b";
  int pictures = 4;
  int questions = 3;  // about each picture
  int misses = 30;    // pairs that measure what a miss costs
  int threads = 0;
  int text_tokens = 40;
  std::string models_dir = DefaultModelsDir();
  std::string cache_dir;  // empty: a temporary folder, removed at the end
  bool json = false;
};

// Runs, prints, and returns the exit code: failed also when an answer differed from the one without a cache.
int RunCacheBench(const CacheBenchFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_BENCH_CACHE_H_
