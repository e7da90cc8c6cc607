// The options of one run of a data set: those of `afterimage run`, and the keys of an experiment of a sweep.
#ifndef AFTERIMAGE_CLI_RUN_FLAGS_H_
#define AFTERIMAGE_CLI_RUN_FLAGS_H_

#include <string>

#include "cli/cache_flags.h"
#include "cli/engine_flags.h"
#include "cli/option_table.h"
#include "data/open_dataset.h"
#include "eval/run.h"

namespace afterimage {

struct RunFlags {
  RunFlags() {
    cache.options.folder = "semantic_cache";
    cache.options.loosest = ReuseClass::kApproximate;
  }

  std::string name = "run";  // in the log of experiments
  std::string notes;
  EngineFlags engine;
  CacheFlags cache;
  RunOptions run;
  DatasetChoice dataset;
  bool baseline = false;
  bool oracle = false;
  std::string samples_file;  // empty: none
};

// REQUIRES: the flags outlive the table.
OptionTable RunOptionTable(RunFlags& flags);

// Gives what was not given what --compat and the preset say. Called once all that is given is set.
// Errors: kInvalidArgument (no such preset).
Status ApplyDefaults(OptionTable& table, RunFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_RUN_FLAGS_H_
