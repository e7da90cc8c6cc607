// Pairs (pairs.h) with the questions they are of, for whoever has to look at both: what `afterimage world` writes
// beside a stream's questions (docs/world.md), and anyone may write beside theirs.
#ifndef AFTERIMAGE_DATA_LABELLED_PAIRS_H_
#define AFTERIMAGE_DATA_LABELLED_PAIRS_H_

#include <string>
#include <vector>

#include "data/dataset.h"

namespace afterimage {

struct LabelledPair {
  Sample a;
  Sample b;
  bool must_agree = false;  // false: their answers differ, and taking one for the other is an error
};

// All pairs of a stream; its questions are found as the GQA reader finds them (gqa_dataset.h). Errors: kNotFound (the
// pairs or the questions), kInvalidArgument (a line that is no pair, or names a question that is not there), and the
// reader's.
Result<std::vector<LabelledPair>> ReadLabelledPairs(const std::string& data_dir, const std::string& split,
                                                    const std::string& stream,
                                                    const std::vector<std::string>& image_roots);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_LABELLED_PAIRS_H_
