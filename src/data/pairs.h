// Pairs: which two samples of a data set a cache may take for each other, and which it must not.
//
// A file of pairs is JSONL, one pair a line, read as it is asked for:
//
//   {"a": "2200000000", "b": "2200000400", "kind": "motion", "must_agree": true}
//
// `a` and `b` are ids of samples (docs/world.md says which pairs the world has).
#ifndef AFTERIMAGE_DATA_PAIRS_H_
#define AFTERIMAGE_DATA_PAIRS_H_

#include <memory>
#include <optional>
#include <string>

#include "data/record_reader.h"

namespace afterimage {

struct Pair {
  std::string a;
  std::string b;
  std::string kind;  // what lies between them, in the file's own words; may be empty
  bool must_agree = false;
  std::string where;  // begins messages about it: "val_clips_pairs.jsonl:7"
};

class PairsFile {
 public:
  // Errors: kNotFound, kIo.
  static Result<PairsFile> Open(const std::string& path);

  // The next pair, or nullopt at the end. Errors: kInvalidArgument (a line that is no pair; the message begins with
  // where it stands), kIo.
  Result<std::optional<Pair>> Next();

 private:
  explicit PairsFile(std::unique_ptr<RecordReader> records) : records_(std::move(records)) {}

  std::unique_ptr<RecordReader> records_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_PAIRS_H_
