// The JSONL reader: one JSON object a line, one sample an object.
//
//   {"id": "7", "question": "What is on the sofa?", "answer": "a cat", "image": "sofa.png"}
//
//   question                         required
//   answer, full_answer              the reference, as a word and as a sentence
//   image, image_path                the picture's file (image_finder.h)
//   image_id                         what the picture is called; without `image` it is looked for by this name.
//                                    Default: `image` as it is written
//   id, dataset_id, question_id      text or a number; default: the line's number
//   metadata                         any JSON, passed through
//   answers                          what ten people answered: texts, or objects with "answer" (VQA)
//   expected_hit                     how a cache should know it: exact, semantic, embedding
//   semantic_str, semantic, groups {global, local}, types {structural, semantic, detailed}, is_balanced, equivalent,
//   entailed                         labels, as the data sets that have them write them; the two lists of ids may also
//                                    be the text of a Python list, as in GQA's exports: "['07', '08']"
//
// fullAnswer, imageId, semanticStr and isBalanced are understood too; what else a line holds is not read. Empty lines
// are passed over; a byte order mark and CR LF do no harm.
#ifndef AFTERIMAGE_DATA_JSONL_DATASET_H_
#define AFTERIMAGE_DATA_JSONL_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "data/record_dataset.h"

namespace afterimage {

// Pictures are looked for beside `path`, then under `image_roots`. A line that cannot be used is answered with
// kInvalidArgument and a message that begins with "<path>:<line>:".
// Errors: kNotFound, kIo.
Result<std::unique_ptr<RecordDataset>> NewJsonlDataset(const std::string& path, std::vector<std::string> image_roots);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_JSONL_DATASET_H_
