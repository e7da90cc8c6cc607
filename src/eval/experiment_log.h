// ExperimentLog: a file with one row an experiment, what it was run with and what it came to.
//
// A row is a flat object: its keys are the columns, its values texts, numbers, booleans, lists or null. A file whose
// name ends in .jsonl holds one row a line; any other is CSV (RFC 4180) with a line of column names, in which null is
// an empty cell and a list is JSON text. The last row of a name is the one that counts.
#ifndef AFTERIMAGE_EVAL_EXPERIMENT_LOG_H_
#define AFTERIMAGE_EVAL_EXPERIMENT_LOG_H_

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

// The rows of a log, null where a row lacks a column. A last line that is not complete, since its writer was killed, is
// not a row. Errors: kNotFound, kIo, kCorrupt (a line that is no row, by number).
Result<std::vector<nlohmann::ordered_json>> ReadExperimentLog(const std::string& path);

class ExperimentLog {
 public:
  // Makes the file, and its folder, if there is none. An incomplete last line is cut off.
  // Errors: ReadExperimentLog's, kIo.
  static Result<ExperimentLog> Open(const std::string& path);

  // Experiments that came to something, and not to an `error`.
  const std::set<std::string>& finished() const { return finished_; }

  // Adds a row and returns when it is safe on disk. A column of CSV that the file does not have yet is put beside the
  // one it follows in the row; the file is then written anew, under another name first. REQUIRES: the row has a `name`.
  // Errors: kIo; the file is then as it was.
  Status Add(const nlohmann::ordered_json& row);

 private:
  explicit ExperimentLog(std::string path) : path_(std::move(path)) {}
  void Note(const nlohmann::ordered_json& row);

  std::string path_;
  std::vector<std::string> columns_;
  std::set<std::string> finished_;
};

// {"a": {"b": 1}} as {"a.b": 1}. An empty object is left out; a list stays a list.
nlohmann::ordered_json Flattened(const nlohmann::ordered_json& object);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_EXPERIMENT_LOG_H_
