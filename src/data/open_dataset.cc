#include "data/open_dataset.h"

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>

#include "data/gqa_dataset.h"
#include "data/jsonl_dataset.h"
#include "data/llava_dataset.h"
#include "data/record_dataset.h"
#include "data/video_dataset.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultSeed = 7;
constexpr int64_t kAsTheyCome = -1;

bool IsLlava(const DatasetChoice& choice) { return choice.name == "llava" || choice.name == "llava150k"; }

const char* DefaultConfig(const DatasetChoice& choice) {
  if (choice.name == "world") return "balanced";
  if (choice.name == "gqa") return "val_balanced_instructions";
  if (IsLlava(choice)) return "llava_instruct_150k";
  if (choice.name == "video_frames") return "video_frames";
  return "";
}

bool OrderMeansSomething(const DatasetChoice& choice) {
  return choice.name == "video_frames" || choice.name == "synthetic" ||
         (choice.name == "world" && choice.config != "balanced");
}

Result<std::string> GivenDataDir(const DatasetChoice& choice) {
  if (!choice.data_dir.empty()) return choice.data_dir;
  return Error{Errc::kInvalidArgument,
               fmt::format("The data set '{}' is not shipped: say where it is with --data-dir.", choice.name)};
}

// The data dir itself where it is a file, else <data dir>/<config> with one of these endings.
Result<std::string> FindFile(const DatasetChoice& choice, std::initializer_list<const char*> endings) {
  const Result<std::string> data_dir = GivenDataDir(choice);
  if (!data_dir.ok()) return data_dir.error();
  std::error_code ignored;
  if (fs::exists(*data_dir, ignored) && !fs::is_directory(*data_dir, ignored)) return *data_dir;
  std::vector<std::string> looked_for;
  for (const char* ending : endings) {
    looked_for.push_back((fs::path(*data_dir) / (choice.config + ending)).string());
    if (fs::exists(looked_for.back(), ignored)) return looked_for.back();
  }
  return Error{Errc::kNotFound, fmt::format("There are no questions at {}.", fmt::join(looked_for, ", "))};
}

using Opened = Result<std::unique_ptr<RecordDataset>>;

bool IsGqa(const DatasetChoice& choice) { return choice.name == "world" || choice.name == "gqa"; }

Result<std::string> GqaDataDir(const DatasetChoice& choice, const ShippedFolder& shipped) {
  return choice.name == "world" && choice.data_dir.empty() ? shipped("data/world") : GivenDataDir(choice);
}

Opened OpenGqa(const DatasetChoice& choice, const std::vector<std::string>& image_roots, const ShippedFolder& shipped) {
  const Result<std::string> data_dir = GqaDataDir(choice, shipped);
  if (!data_dir.ok()) return data_dir.error();
  return NewGqaDataset(*data_dir, choice.split, choice.config, image_roots);
}

Opened Open(const DatasetChoice& choice, const std::vector<std::string>& image_roots, const ShippedFolder& shipped) {
  if (choice.name.ends_with(".jsonl")) return NewJsonlDataset(choice.name, image_roots);
  if (IsGqa(choice)) return OpenGqa(choice, image_roots, shipped);
  if (IsLlava(choice)) {
    const Result<std::string> file = FindFile(choice, {".json", ".jsonl"});
    return file.ok() ? NewLlavaDataset(*file, image_roots) : Opened(file.error());
  }
  if (choice.name == "video_frames") {
    const Result<std::string> file = FindFile(choice, {".json"});
    return file.ok() ? NewVideoDataset(*file, image_roots) : Opened(file.error());
  }
  if (choice.name == "synthetic") {
    const Result<std::string> folder = choice.data_dir.empty() ? shipped("data/synthetic") : choice.data_dir;
    if (!folder.ok()) return folder.error();
    return NewJsonlDataset((fs::path(*folder) / "records.jsonl").string(), image_roots);
  }
  if (choice.name == "jsonl") {
    const Result<std::string> file = GivenDataDir(choice);
    return file.ok() ? NewJsonlDataset(*file, image_roots) : Opened(file.error());
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("There is no data set '{}': give one of {}, or a file whose name ends "
                           "in .jsonl.",
                           choice.name, kDatasetNames)};
}

}  // namespace

DatasetChoice WithDefaults(DatasetChoice choice) {
  if (choice.config.empty()) choice.config = DefaultConfig(choice);
  if (!choice.shuffle_seed.has_value()) {
    choice.shuffle_seed = OrderMeansSomething(choice) ? kAsTheyCome : kDefaultSeed;
  }
  return choice;
}

Result<std::unique_ptr<Dataset>> OpenDataset(const DatasetChoice& choice, const std::vector<std::string>& image_roots,
                                             const ShippedFolder& shipped) {
  if (choice.max_samples == 0) return Error{Errc::kInvalidArgument, "--max-samples: give 1 or more, or -1 for all."};
  const DatasetChoice complete = WithDefaults(choice);
  Opened dataset = Open(complete, image_roots, shipped);
  if (!dataset.ok()) return dataset.error();
  return ShuffleAndTake(std::move(*dataset), complete.max_samples, *complete.shuffle_seed);
}

Result<std::string> FindPairs(const DatasetChoice& choice, const ShippedFolder& shipped) {
  if (!IsGqa(choice)) return std::string();
  const DatasetChoice complete = WithDefaults(choice);
  const Result<std::string> data_dir = GqaDataDir(complete, shipped);
  if (!data_dir.ok()) return data_dir.error();
  return FindGqaPairs(*data_dir, complete.split, complete.config);
}

}  // namespace afterimage
