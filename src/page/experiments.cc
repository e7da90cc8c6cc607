#include "page/experiments.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <utility>

#include "core/json_text.h"
#include "eval/experiment_log.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

LoggedExperiment MakeExperiment(const Json& row, const std::string& log_file) {
  LoggedExperiment experiment;
  experiment.log_file = log_file;
  experiment.options = Json::object();
  experiment.results = Json::object();
  bool is_result = false;
  for (const auto& [key, value] : row.items()) {
    if (key == "name") {
      experiment.name = value.get<std::string>();
    } else if (key == "samples_file") {
      if (value.is_string()) experiment.samples_file = value.get<std::string>();
    } else if (key == "error") {
      is_result = true;
      if (!value.is_null()) experiment.error = value.is_string() ? value.get<std::string>() : JsonText(value);
    } else if (!is_result) {
      experiment.options[key] = value;
    } else if (!value.is_null()) {
      experiment.results[key] = value;
    }
  }
  return experiment;
}

// Two logs may hold experiments of the same name: of two machines, say.
void TellApart(std::vector<LoggedExperiment>& experiments) {
  std::map<std::string, int> count;
  for (const LoggedExperiment& experiment : experiments) ++count[experiment.name];
  for (LoggedExperiment& experiment : experiments) {
    if (count[experiment.name] > 1) experiment.name += fmt::format(" ({})", experiment.log_file);
  }
}

}  // namespace

Result<std::vector<LoggedExperiment>> ReadLoggedExperiments(const std::vector<std::string>& log_files) {
  std::vector<LoggedExperiment> experiments;
  for (const std::string& log_file : log_files) {
    const Result<std::vector<Json>> rows = ReadExperimentLog(log_file);
    if (!rows.ok()) return rows.error();
    std::map<std::string, size_t> places;
    for (const Json& row : *rows) {
      LoggedExperiment experiment = MakeExperiment(row, log_file);
      const auto [place, is_new] = places.try_emplace(experiment.name, experiments.size());
      if (is_new) {
        experiments.push_back(std::move(experiment));
      } else {
        experiments[place->second] = std::move(experiment);
      }
    }
  }
  TellApart(experiments);
  return experiments;
}

std::string FindBeside(const std::string& path, const std::string& neighbour) {
  std::error_code ignored;
  if (path.empty() || fs::path(path).is_absolute() || fs::exists(path, ignored)) return path;
  const std::string beside = (fs::path(neighbour).parent_path() / path).string();
  return fs::exists(beside, ignored) ? beside : path;
}

}  // namespace afterimage
