// A page of experiments: one HTML file that needs nothing from outside itself.
//
// It holds the rows of the logs, a few numbers of every request, the pictures of what went wrong, and the libraries
// that draw it. What a log or a samples file says is only ever text in it: no question can become markup or script.
#ifndef AFTERIMAGE_PAGE_PAGE_H_
#define AFTERIMAGE_PAGE_PAGE_H_

#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

// The whole file. `log_files` are what `run`, `sweep` and `ablate` wrote (eval/experiment_log.h). What is missing - a
// samples file, a picture - is missing on the page, and it says so. Errors: kNotFound, kIo, kCorrupt (a file that is
// no log, with the line).
Result<std::string> MakePage(const std::vector<std::string>& log_files, const std::string& title);

}  // namespace afterimage

#endif  // AFTERIMAGE_PAGE_PAGE_H_
