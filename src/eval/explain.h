// The story of one request, for a person: what was asked, what every layer found and every gate said, which plans were
// weighed, and what was done.
//
// Told from JSON, so that a request just looked up (RequestJson) and a sample of a finished run (a line of its samples
// file) are told by the same words. What the JSON does not hold is left out: files of earlier versions can be told too.
#ifndef AFTERIMAGE_EVAL_EXPLAIN_H_
#define AFTERIMAGE_EVAL_EXPLAIN_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "afterimage/cache.h"

namespace afterimage {

// The request, with what ReportJson says of it.
nlohmann::ordered_json RequestJson(const Query& query, const Report& report);

// The first sample of this id in a samples file. Errors: kNotFound (no such file; no such id, naming the nearest there
// are), kIo, kCorrupt (a line is no JSON object).
Result<nlohmann::ordered_json> FindSample(const std::string& samples_file, const std::string& id);

// At most 100 columns wide, where no single word is wider. Where no plan was used (a dry run) it also says what would
// have been done; where nothing was computed either, only that.
std::string Story(const nlohmann::ordered_json& json);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_EXPLAIN_H_
