#include "data/video_dataset.h"

#include <filesystem>
#include <utility>

#include "data/image_finder.h"
#include "data/json_records.h"
#include "data/sample_json.h"

namespace afterimage {

Result<std::unique_ptr<RecordDataset>> NewVideoDataset(const std::string& path,
                                                       const std::vector<std::string>& image_roots) {
  Result<std::unique_ptr<RecordReader>> records = NewJsonRecords(path, JsonFile::kList);
  if (!records.ok()) return records.error();
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<std::string> roots = {folder.string(), (folder / "images").string()};
  roots.insert(roots.end(), image_roots.begin(), image_roots.end());
  return std::make_unique<RecordDataset>(std::move(*records),
                                         GqaSamples(ImageFinder(folder.string(), std::move(roots))));
}

}  // namespace afterimage
