// The reader of GQA's questions: its own files, which `afterimage world` writes too, and the export of its tables.
//
// A file of its own is one JSON object: question id -> question, with imageId, question, answer, fullAnswer,
// isBalanced, groups, types, semantic, semanticStr, equivalent, entailed and more; the export is the same objects with
// an id, one a line. Read one at a time, in the order of the file: a file of gigabytes needs the memory of one
// question.
//
// `config` says which questions: GQA's word ("balanced", "all") or the export's ("val_balanced_instructions"). Looked
// for, in this order, where <name> is "<split>_<config>", or the export's word without "_instructions":
//
//   <data dir>/questions/<name>_questions.json, <data dir>/<name>_questions.json
//   <data dir>/questions/<name>_questions/, <data dir>/<name>_questions/: a folder of <name>_questions_<number>.json
//   <data dir>/<config>/<split>.jsonl, <data dir>/<config>.jsonl
//
// Pictures are looked for in <data dir>/images, in <data dir>, then under `image_roots` (image_finder.h).
#ifndef AFTERIMAGE_DATA_GQA_DATASET_H_
#define AFTERIMAGE_DATA_GQA_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "data/record_dataset.h"

namespace afterimage {

// Errors: kNotFound (naming all that was looked for, and which questions there are), kIo, kCorrupt (not such a file).
Result<std::unique_ptr<RecordDataset>> NewGqaDataset(const std::string& data_dir, const std::string& split,
                                                     const std::string& config,
                                                     const std::vector<std::string>& image_roots);

// The pairs (pairs.h) of these questions: <data dir>/questions/<name>_pairs.jsonl or <data dir>/<name>_pairs.jsonl;
// empty where there are none.
std::string FindGqaPairs(const std::string& data_dir, const std::string& split, const std::string& config);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_GQA_DATASET_H_
