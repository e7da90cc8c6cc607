// The records of a JSONL file: its lines, without those that are blank. A byte order mark and CR LF do no harm.
//
// Reads forward only, so a pipe will do, until GoTo is called. Places are numbered by lines.
#ifndef AFTERIMAGE_DATA_LINE_RECORDS_H_
#define AFTERIMAGE_DATA_LINE_RECORDS_H_

#include <memory>
#include <string>

#include "data/record_reader.h"

namespace afterimage {

// Errors: kNotFound, kIo.
Result<std::unique_ptr<RecordReader>> NewLineRecords(const std::string& path);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_LINE_RECORDS_H_
