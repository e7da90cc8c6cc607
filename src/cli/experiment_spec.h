// A specification of experiments: what `afterimage sweep` runs.
//
//   {"defaults": {"dataset_config": "traffic", "max_samples": 128},
//    "experiments": [{"name": "exact", "preset": "tiny-internvl", "reuse": "exact"},
//                    {"name": "semantic", "grid": {"similarity_threshold": [0.8, 0.9]}, "notes": "for people"}]}
//
// Keys are those of the options of `run` (docs/options.md). What an experiment says itself counts before the preset it
// names, this before `defaults`, and these before a preset that `defaults` name. A `grid` stands for one experiment for
// every combination of its values, in order, the last key's changing fastest; "semantic" above for
// "semantic-similarity_threshold=0.8" and "semantic-similarity_threshold=0.9".
#ifndef AFTERIMAGE_CLI_EXPERIMENT_SPEC_H_
#define AFTERIMAGE_CLI_EXPERIMENT_SPEC_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

struct Experiment {
  std::string name;
  nlohmann::ordered_json options;  // all that is given, the name too; not what a preset says
  bool own_cache_dir = false;      // it names its cache folder itself, and not only `defaults` do
  std::string file_name;           // the name as part of a path; no two experiments have the same
};

// Whether the keys are options, and their values good, is not looked at. Errors: kInvalidArgument (what is wrong, and
// with which experiment).
Result<std::vector<Experiment>> ReadExperiments(const nlohmann::ordered_json& spec);

// The JSON of a file. Errors: kNotFound, kIo, kInvalidArgument (no JSON, and where it ends to be).
Result<nlohmann::ordered_json> ReadSpecFile(const std::string& path);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_EXPERIMENT_SPEC_H_
