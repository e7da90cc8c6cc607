// `afterimage bench store`: what loading a stored chunk costs, beside what its bytes cost without us.
#ifndef AFTERIMAGE_CLI_BENCH_STORE_H_
#define AFTERIMAGE_CLI_BENCH_STORE_H_

#include <cstdint>
#include <string>

namespace afterimage {

struct StoreBenchFlags {
  std::string dir;  // where its folder is made, and removed afterwards; empty: where temporary files lie
  uint64_t chunk_mb = 30;
  int repeats = 15;
  uint64_t chunks = 10000;  // held while lookups are measured
  bool json = false;
};

// Runs, prints, and returns the exit code: failed also when a load gave other bytes than were put.
int RunStoreBench(const StoreBenchFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_BENCH_STORE_H_
