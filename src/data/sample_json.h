// Samples from the JSON objects that describe them.
#ifndef AFTERIMAGE_DATA_SAMPLE_JSON_H_
#define AFTERIMAGE_DATA_SAMPLE_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/image_finder.h"
#include "data/record_dataset.h"

namespace afterimage {

// GQA's fields, in the spelling of any of its relatives (jsonl_dataset.h lists the keys). A picture without a path is
// looked for by its id; where metadata names the video it is a frame of, first as <video_id>/<image_id>: frames of two
// videos may have the same name.
SampleReader GqaSamples(ImageFinder images);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_SAMPLE_JSON_H_
