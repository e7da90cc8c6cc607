// A sweep: the experiments of a specification, one after another, each into a row of the log.
#ifndef AFTERIMAGE_CLI_SWEEP_H_
#define AFTERIMAGE_CLI_SWEEP_H_

#include <cstdint>
#include <optional>
#include <string>

namespace afterimage {

struct SweepFlags {
  std::string specs;     // file
  std::string log_file;  // .csv or .jsonl
  std::string samples_dir;
  bool resume = false;             // passes over experiments that are finished in the log
  bool purge = false;              // empties the cache an experiment names before it, and all caches after them
  std::optional<int64_t> samples;  // for all experiments, in place of theirs
};

// Every experiment has a cache of its own, empty when it begins: <cache dir>/<name>. One that names a cache_dir itself
// uses that as it is, unless `purge` or an interrupted run of this very experiment says to empty it.
// An experiment that fails is a row with its error, and the next one is run. Returns the exit code: kExitFailed if one
// failed. Nothing is run where the specification has an error anywhere.
int RunSweep(const SweepFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_SWEEP_H_
