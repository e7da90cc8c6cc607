// The reader of frames of videos: a JSON list of GQA-shaped records, in the order of the frames.
//
//   {"question": "Is there a cup?", "answer": "yes", "imageId": "frame_0007",
//    "metadata": {"video_id": "desk", "frame_number": 7, "timestamp": 0.28, "scene_id": 1}}
//
// The picture is <root>/<video_id>/<imageId>.png (.jpg, .jpeg, .webp), where a root is the folder of the file, `images`
// in it, or one of `image_roots`.
#ifndef AFTERIMAGE_DATA_VIDEO_DATASET_H_
#define AFTERIMAGE_DATA_VIDEO_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "data/record_dataset.h"

namespace afterimage {

// Errors: kNotFound, kIo, kCorrupt.
Result<std::unique_ptr<RecordDataset>> NewVideoDataset(const std::string& path,
                                                       const std::vector<std::string>& image_roots);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_VIDEO_DATASET_H_
