// Dataset: where samples come from.
//
// A sample is a question with what is known about it: the picture it is about, the answer that counts as right, and
// the labels some data sets carry. A reader fills what its files hold and leaves the rest empty.
#ifndef AFTERIMAGE_DATA_DATASET_H_
#define AFTERIMAGE_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

struct Sample {
  std::string id;
  std::string question;
  std::string answer;            // the reference; empty, like `answers`: none, and the response is not scored
  std::string full_answer;       // the same as a sentence
  std::string image_id;          // what the data set calls the picture
  std::string image_path;        // empty: no file was found for it, or there is no picture
  std::string semantic_str;      // the question as a program: "select: wall (12)->query: name [0]"
  std::string semantic_program;  // the same, written "select:wall (12) | query:name"
  std::string type;              // what kind of question it is, in the data set's own words
  std::string structural_type;   // GQA's: verify, query, choose, logical, compare
  std::string semantic_type;     // GQA's: obj, attr, cat, rel, global
  std::string global_group;
  std::string local_group;
  bool is_balanced = true;              // false: an open question, whose answer is not scored
  std::vector<std::string> equivalent;  // ids of questions with the same meaning about the same picture
  std::vector<std::string> entailed;    // ids of questions whose answers follow from this one's
  std::vector<std::string> answers;     // what ten people answered (VQA); empty: `answer` alone is the reference
  std::string expected_hit;             // how a cache should know it: exact, semantic or embedding; empty: it need not
  std::string metadata;                 // JSON, passed through; empty: none

  bool has_image() const { return !image_path.empty() || !image_id.empty(); }
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  // The next sample, or nullopt at the end. kInvalidArgument means that this one sample cannot be used, and says where
  // it stands; the next call goes on behind it. Any other error ends the data set.
  virtual Result<std::optional<Sample>> Next() = 0;

  // How many samples are left, unusable ones included; nullopt where finding out would mean reading them all.
  virtual std::optional<size_t> size_hint() const = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_DATASET_H_
