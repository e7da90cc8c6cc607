// Experiments: what the logs of `run`, `sweep` and `ablate` say, as a page needs it.
#ifndef AFTERIMAGE_PAGE_EXPERIMENTS_H_
#define AFTERIMAGE_PAGE_EXPERIMENTS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

struct LoggedExperiment {
  std::string name;                  // with its log's, where two logs have one of that name
  nlohmann::ordered_json options;    // what it was run with: the columns before `error`
  nlohmann::ordered_json results;    // what it came to: the columns behind it, without those that are null
  std::optional<std::string> error;  // why there are no results
  std::string samples_file;          // as the log has it; empty: none
  std::string log_file;
};

// In the order of the logs; of the rows of a name in one log, the last, where the first stood. A log without rows is
// fine. Errors: ReadExperimentLog's.
Result<std::vector<LoggedExperiment>> ReadLoggedExperiments(const std::vector<std::string>& log_files);

// Where a file lies that was named relative to the working directory of a run: there, or else beside `neighbour`.
std::string FindBeside(const std::string& path, const std::string& neighbour);

}  // namespace afterimage

#endif  // AFTERIMAGE_PAGE_EXPERIMENTS_H_
