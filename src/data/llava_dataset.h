// The reader of LLaVA's two formats.
//
// Instructions, a JSON list; what a person said first and what was answered to it become a sample:
//
//   {"id": "33471", "image": "000000033471.jpg", "conversations": [{"from": "human", "value": "<image>\nWhat is it?"},
//                                                                  {"from": "gpt", "value": "It is a bus."}, ...]}
//
// "<image>" is left out of the question: the picture is given to the model as one. Without `image` it is asked without.
// Answers here are whole paragraphs, of which exact match would say nothing: they become full_answer, and are not
// scored.
//
// Questions of a benchmark, one object a line:
//
//   {"question_id": 7, "image": "007.jpg", "text": "What is it?", "category": "conv"}
//
// `image` is a path beside the file, or under `image_roots`, and the picture's id.
#ifndef AFTERIMAGE_DATA_LLAVA_DATASET_H_
#define AFTERIMAGE_DATA_LLAVA_DATASET_H_

#include <memory>
#include <string>
#include <vector>

#include "data/record_dataset.h"

namespace afterimage {

// A file whose name ends in .jsonl is one of questions, any other one of instructions. Errors: kNotFound, kIo,
// kCorrupt.
Result<std::unique_ptr<RecordDataset>> NewLlavaDataset(const std::string& path, std::vector<std::string> image_roots);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_LLAVA_DATASET_H_
