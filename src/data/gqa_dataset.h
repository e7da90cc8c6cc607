// The reader of GQA's question files, which `afterimage world` writes too.
//
// One JSON object: question id -> question, with imageId, question, answer, fullAnswer, isBalanced, groups, types,
// semantic, semanticStr, equivalent and more. It is read question by question, so a file of gigabytes needs the memory
// of its samples, not of its JSON. Samples come in the order of the file.
//
//   <data dir>/questions/<split>_<config>_questions.json
//   <data dir>/images/<imageId>.png (.jpg, .jpeg, .webp)
#ifndef AFTERIMAGE_DATA_GQA_DATASET_H_
#define AFTERIMAGE_DATA_GQA_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace afterimage {

// Pictures are looked for in the data folder, then under `image_roots`. Errors: kNotFound (naming the file, and which
// there are), kIo, kInvalidArgument (not such a file).
Result<std::unique_ptr<Dataset>> NewGqaDataset(const std::string& data_dir, const std::string& split,
                                               const std::string& config, const std::vector<std::string>& image_roots);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_GQA_DATASET_H_
