// A sample from the JSON object that describes it, in the spelling of any reader (jsonl_dataset.h lists the keys).
#ifndef AFTERIMAGE_DATA_SAMPLE_JSON_H_
#define AFTERIMAGE_DATA_SAMPLE_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "data/dataset.h"
#include "data/image_finder.h"

namespace afterimage {

// Errors: kInvalidArgument, with what is wrong.
Result<Sample> ReadSample(const nlohmann::ordered_json& object, const std::string& default_id,
                          const ImageFinder& images);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_SAMPLE_JSON_H_
