// `afterimage bench reuse`: what putting state back is worth, side by side with computing it.
#ifndef AFTERIMAGE_CLI_BENCH_REUSE_H_
#define AFTERIMAGE_CLI_BENCH_REUSE_H_

#include <string>
#include <vector>

#include "cli/bench_tools.h"

namespace afterimage {

struct ReuseBenchFlags {
  std::vector<std::string> shapes = {"0.5b", "2b"};
  int pairs = 10;
  int prefill_pairs = 20;  // canonical steps against plain, without the encoder
  int threads = 0;
  int text_tokens = 40;
  std::string models_dir = DefaultModelsDir();
  bool json = false;
};

// Runs, prints, and returns the exit code: failed also when a hit's logits were not the cold run's to the bit.
int RunReuseBench(const ReuseBenchFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_BENCH_REUSE_H_
