#include "cli/experiment_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>

#include "cli/option_table.h"
#include "cli/presets.h"
#include "core/posix_file.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Error Wrong(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }

// Of several values: joined by '+'.
std::string ShortText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : "+") + ShortText(item);
  return text;
}

// Every combination of a grid's values, as the options it sets.
Result<std::vector<Json>> Combinations(const Json& grid, const std::string& name) {
  std::vector<Json> combinations = {Json::object()};
  if (!grid.is_object()) return Wrong(fmt::format("Experiment '{}': a grid is an object of lists.", name));
  for (const auto& [key, values] : grid.items()) {
    if (!values.is_array() || values.empty()) {
      return Wrong(fmt::format("Experiment '{}': the grid's '{}' is to be a list of values.", name, key));
    }
    std::vector<Json> longer;
    for (const Json& combination : combinations) {
      for (const Json& value : values) {
        longer.push_back(combination);
        longer.back()[key] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

// `defaults` under what an experiment gives itself. A preset of its own takes the place of the defaults' values too.
Result<Json> Merged(const Json& defaults, const Json& own) {
  Json options = defaults;
  if (own.contains("preset")) {
    if (!own["preset"].is_string()) return Wrong("a preset is named by a text");
    const Result<Json> preset = PresetOptions(own["preset"].get<std::string>());
    if (!preset.ok()) return preset.error();
    for (const auto& [key, value] : preset->items()) options.erase(key);
  }
  options.update(own);
  return options;
}

// Letters, digits and a few signs that no file system and no shell minds.
std::string FileName(const std::string& name) {
  std::string file_name = name;
  for (char& c : file_name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && std::string_view("-_=+.").find(c) == std::string_view::npos) c = '_';
  }
  if (file_name.starts_with('.')) file_name.front() = '_';
  return file_name;
}

Status AddExperiments(const Json& entry, const Json& defaults, std::vector<Experiment>& experiments) {
  const bool named = entry.is_object() && entry.contains("name") && entry["name"].is_string();
  const std::string name = named ? entry["name"].get<std::string>() : "";
  if (name.empty()) return Wrong(fmt::format("Experiment {} has no name.", experiments.size() + 1));
  const Result<std::vector<Json>> combinations = Combinations(entry.value("grid", Json::object()), name);
  if (!combinations.ok()) return combinations.error();
  for (const Json& combination : *combinations) {
    Json own = entry;
    own.erase("grid");
    own.update(combination);
    Experiment experiment;
    experiment.name = name;
    for (const auto& [key, value] : combination.items())
      experiment.name += fmt::format("-{}={}", key, ShortText(value));
    own["name"] = experiment.name;
    Result<Json> options = Merged(defaults, own);
    if (!options.ok()) return Wrong(fmt::format("Experiment '{}': {}", experiment.name, options.error().message));
    experiment.options = std::move(*options);
    experiment.own_cache_dir = own.contains("cache_dir");
    experiment.file_name = FileName(experiment.name);
    experiments.push_back(std::move(experiment));
  }
  return {};
}

Status CheckNames(const std::vector<Experiment>& experiments) {
  std::map<std::string, std::string> names;  // by file name
  for (const Experiment& experiment : experiments) {
    const auto [other, is_new] = names.emplace(experiment.file_name, experiment.name);
    if (is_new) continue;
    return Wrong(other->second == experiment.name
                     ? fmt::format("Two experiments have the name '{}'.", experiment.name)
                     : fmt::format("The names '{}' and '{}' would make one file.", other->second, experiment.name));
  }
  return {};
}

}  // namespace

Result<std::vector<Experiment>> ReadExperiments(const Json& spec) {
  if (!spec.is_object()) return Wrong("A specification is an object with \"experiments\".");
  const std::vector<std::string> keys = {"defaults", "experiments", "notes"};
  for (const auto& [key, value] : spec.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    return Wrong(fmt::format("A specification has no '{}'.{}", key, DidYouMean(key, keys)));
  }
  const Json defaults = spec.value("defaults", Json::object());
  if (!defaults.is_object()) return Wrong("The \"defaults\" of a specification are an object.");
  const Json entries = spec.value("experiments", Json());
  if (!entries.is_array() || entries.empty()) return Wrong("A specification needs \"experiments\", a list.");
  std::vector<Experiment> experiments;
  for (const Json& entry : entries) {
    if (Status status = AddExperiments(entry, defaults, experiments); !status.ok()) return status.error();
  }
  if (Status status = CheckNames(experiments); !status.ok()) return status.error();
  return experiments;
}

Result<Json> ReadSpecFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return ReadError(path, errno);
  try {
    return Json::parse(file);
  } catch (const Json::parse_error& e) {
    return Wrong(fmt::format("{} is no JSON, at byte {}.", path, e.byte));
  }
}

}  // namespace afterimage
