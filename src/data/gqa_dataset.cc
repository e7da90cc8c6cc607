#include "data/gqa_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "data/chained_records.h"
#include "data/image_finder.h"
#include "data/json_records.h"
#include "data/line_records.h"
#include "data/sample_json.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = "_questions.json";
constexpr std::string_view kExport = "_instructions";

bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// "; there are: val_balanced, val_clips": what a person could have meant.
std::string QuestionFilesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? "" : fmt::format("; there are: {}", fmt::join(names, ", "));
}

// All <start><number>.json of a folder, chained by number: as text, 10 would come before 2.
Result<std::unique_ptr<RecordReader>> OpenParts(const fs::path& folder, const std::string& start) {
  std::vector<std::pair<int, std::string>> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string stem = entry.path().stem().string();
    if (!stem.starts_with(start) || entry.path().extension() != ".json") continue;
    int number = 0;
    const auto [end, failed] = std::from_chars(stem.data() + start.size(), stem.data() + stem.size(), number);
    if (failed == std::errc() && end == stem.data() + stem.size()) parts.emplace_back(number, entry.path().string());
  }
  if (parts.empty()) {
    return Error{Errc::kNotFound, fmt::format("There is no {}<number>.json in {}.", start, folder.string())};
  }
  std::sort(parts.begin(), parts.end());
  std::vector<std::unique_ptr<RecordReader>> readers;
  for (const auto& [number, path] : parts) {
    Result<std::unique_ptr<RecordReader>> reader = NewJsonRecords(path, JsonFile::kObject);
    if (!reader.ok()) return reader.error();
    readers.push_back(std::move(*reader));
  }
  return NewChainedRecords(std::move(readers));
}

std::string NameOf(const std::string& split, const std::string& config) {
  return config.ends_with(kExport) ? config.substr(0, config.size() - kExport.size())
                                   : fmt::format("{}_{}", split, config);
}

Result<std::unique_ptr<RecordReader>> OpenRecords(const fs::path& data_dir, const std::string& split,
                                                  const std::string& config) {
  const std::string name = NameOf(split, config);
  std::vector<std::string> looked_for;
  const auto is_there = [&](const fs::path& path) {
    looked_for.push_back(path.string());
    return IsThere(path);
  };
  for (const fs::path& folder : {data_dir / "questions", data_dir}) {
    const fs::path file = folder / fmt::format("{}{}", name, kSuffix);
    if (is_there(file)) return NewJsonRecords(file.string(), JsonFile::kObject);
  }
  for (const fs::path& folder : {data_dir / "questions", data_dir}) {
    const fs::path parts = folder / fmt::format("{}_questions", name);
    if (is_there(parts)) return OpenParts(parts, fmt::format("{}_questions_", name));
  }
  for (const fs::path& file : {data_dir / config / (split + ".jsonl"), data_dir / (config + ".jsonl")}) {
    if (is_there(file)) return NewLineRecords(file.string());
  }
  return Error{Errc::kNotFound, fmt::format("There are no questions at {}{}.", fmt::join(looked_for, ", "),
                                            QuestionFilesIn(data_dir / "questions"))};
}

}  // namespace

Result<std::unique_ptr<RecordDataset>> NewGqaDataset(const std::string& data_dir, const std::string& split,
                                                     const std::string& config,
                                                     const std::vector<std::string>& image_roots) {
  Result<std::unique_ptr<RecordReader>> records = OpenRecords(data_dir, split, config);
  if (!records.ok()) return records.error();
  std::vector<std::string> roots = {(fs::path(data_dir) / "images").string(), data_dir};
  roots.insert(roots.end(), image_roots.begin(), image_roots.end());
  return std::make_unique<RecordDataset>(std::move(*records), GqaSamples(ImageFinder(data_dir, std::move(roots))));
}

std::string FindGqaPairs(const std::string& data_dir, const std::string& split, const std::string& config) {
  for (const fs::path& folder : {fs::path(data_dir) / "questions", fs::path(data_dir)}) {
    const fs::path file = folder / fmt::format("{}_pairs.jsonl", NameOf(split, config));
    if (IsThere(file)) return file.string();
  }
  return "";
}

}  // namespace afterimage
