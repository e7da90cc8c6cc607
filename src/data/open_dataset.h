// Data sets by name.
//
//   world         GQA-shaped questions about drawn pictures (docs/world.md); shipped
//   gqa           GQA's own question files, or the export of its tables as JSONL (gqa_dataset.h)
//   llava         LLaVA's instructions or questions (llava_dataset.h): <data dir>/<config>.json or .jsonl, or the file
//                 that the data dir names; llava150k is the same
//   video_frames  frames in their order (video_dataset.h): <data dir>/<config>.json, or the file the data dir names
//   synthetic     three pairs of requests that tell which layer should find the second (expected_hit); shipped
//   jsonl         the file that the data dir names (jsonl_dataset.h); so is a name that ends in .jsonl
#ifndef AFTERIMAGE_DATA_OPEN_DATASET_H_
#define AFTERIMAGE_DATA_OPEN_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace afterimage {

inline constexpr std::string_view kDatasetNames = "world, gqa, llava, llava150k, video_frames, synthetic, jsonl";

struct DatasetChoice {
  std::string name = "world";
  std::string data_dir;  // empty: what is shipped
  std::string split = "val";
  std::string config;                   // which questions; empty: the data set's own default
  int64_t max_samples = 128;            // negative: all
  std::optional<int64_t> shuffle_seed;  // of the order; negative: as they come; unset: the data set's own default
};

// The same with its defaults filled in. Order: 7, but as they come where the order means something: frames, pairs, and
// the streams of the world, which are all but "balanced".
DatasetChoice WithDefaults(DatasetChoice choice);

// A shipped folder ("data/world") by name. Errors: kNotFound.
using ShippedFolder = std::function<Result<std::string>(const std::string& name)>;

// Pictures are also looked for under `image_roots`. Errors: kInvalidArgument (no such name, no samples asked for, no
// data dir where one is needed), and those of the readers.
Result<std::unique_ptr<Dataset>> OpenDataset(const DatasetChoice& choice, const std::vector<std::string>& image_roots,
                                             const ShippedFolder& shipped);

// The file of pairs (pairs.h) that belongs to these questions, of the world or in its format; empty where there is
// none. Errors: as OpenDataset, for a folder that is not there.
Result<std::string> FindPairs(const DatasetChoice& choice, const ShippedFolder& shipped);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_OPEN_DATASET_H_
