// A Report for machines (JSON) and one sample's outcome for logs.
#ifndef AFTERIMAGE_EVAL_REPORT_JSON_H_
#define AFTERIMAGE_EVAL_REPORT_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "afterimage/report.h"
#include "eval/outcome.h"

namespace afterimage {

nlohmann::ordered_json ReportJson(const Report& report);

// "exact_text=miss, prefix=hit, kv_cache=hit", in the order of the layers.
std::string StatusLine(const Report& report);

// [7] hit (prefix:image) | latency=0.032s | answer match=True | exact_text=miss, prefix=hit, kv_cache=hit
// "answer match" is None where there is no reference. A sample that was not answered: [7] error | <why>
std::string LogLine(const SampleOutcome& outcome);

// One line of the samples file, without its line break. Times called `latency` and `ttft` are seconds, as in the log
// line; those whose name ends in _ms are milliseconds. Of a substitution, `label` says whether the labels call it
// right: true, false, or null where they do not say.
std::string SampleLine(const SampleOutcome& outcome);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_REPORT_JSON_H_
