// `afterimage bench layers`: what asking each layer costs, with how many entries, and what of it is making the vector.
#ifndef AFTERIMAGE_CLI_BENCH_LAYERS_H_
#define AFTERIMAGE_CLI_BENCH_LAYERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace afterimage {

struct LayersBenchFlags {
  std::vector<uint64_t> entries = {1000, 10000};
  int lookups = 200;
  std::string encoder = "all-minilm-l6-v2";  // as FindModel takes it
  bool json = false;
};

// Runs, prints, and returns the exit code.
int RunLayersBench(const LayersBenchFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_BENCH_LAYERS_H_
