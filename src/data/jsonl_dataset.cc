#include "data/jsonl_dataset.h"

#include <filesystem>
#include <utility>

#include "data/image_finder.h"
#include "data/line_records.h"
#include "data/sample_json.h"

namespace afterimage {

Result<std::unique_ptr<RecordDataset>> NewJsonlDataset(const std::string& path, std::vector<std::string> image_roots) {
  Result<std::unique_ptr<RecordReader>> records = NewLineRecords(path);
  if (!records.ok()) return records.error();
  ImageFinder images(std::filesystem::path(path).parent_path().string(), std::move(image_roots));
  return std::make_unique<RecordDataset>(std::move(*records), GqaSamples(std::move(images)));
}

}  // namespace afterimage
