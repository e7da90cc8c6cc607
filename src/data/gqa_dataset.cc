#include "data/gqa_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "data/image_finder.h"
#include "data/sample_json.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSuffix = "_questions.json";

// "val_balanced, val_clips": what a person could have meant.
std::string QuestionFilesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<std::unique_ptr<Dataset>> NewGqaDataset(const std::string& data_dir, const std::string& split,
                                               const std::string& config, const std::vector<std::string>& image_roots) {
  const fs::path folder = fs::path(data_dir) / "questions";
  const fs::path path = folder / fmt::format("{}_{}{}", split, config, kSuffix);
  std::ifstream file(path);
  if (!file) {
    const std::string there = QuestionFilesIn(folder);
    return Error{Errc::kNotFound,
                 fmt::format("There are no questions at {}{}.", path.string(),
                             there.empty() ? ", and no others in that folder" : "; there are: " + there)};
  }
  std::vector<std::string> roots = {(fs::path(data_dir) / "images").string()};
  roots.insert(roots.end(), image_roots.begin(), image_roots.end());
  const ImageFinder images(data_dir, roots);

  std::vector<Result<Sample>> samples;
  std::string id;
  bool other = false;  // something at the top that is no question
  const auto take = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == 0) {
      other = other || event == Json::parse_event_t::array_start || event == Json::parse_event_t::value;
    } else if (depth == 1 && event == Json::parse_event_t::key) {
      id = parsed.get<std::string>();
    } else if (depth == 1 && event == Json::parse_event_t::object_end) {
      Result<Sample> sample = ReadSample(parsed, id, images);
      if (!sample.ok()) {
        sample = Error{Errc::kInvalidArgument,
                       fmt::format("{}: question {}: {}", path.string(), id, sample.error().message)};
      }
      samples.push_back(std::move(sample));
      return false;  // forgotten again
    } else if (depth == 1 && (event == Json::parse_event_t::value || event == Json::parse_event_t::array_end)) {
      other = true;
    }
    return true;
  };
  try {
    [[maybe_unused]] const Json emptied = Json::parse(file, take);
  } catch (const Json::exception& e) {
    return Error{Errc::kInvalidArgument, fmt::format("{} is not valid JSON: {}", path.string(), e.what())};
  }
  if (other) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{} is not a file of GQA questions: an object of objects by question id", path.string())};
  }
  return NewHeldDataset(std::move(samples));
}

}  // namespace afterimage
