// The records of a JSON file: the members of the one object or list it holds.
//
// The file is scanned, not parsed: strings, brackets and commas tell where a member ends, and whether the member itself
// is valid is left to whoever reads it. So memory is that of one member, whatever the size of the file. (A parser of
// events would need the same memory and check more, but cannot be stopped between two members and asked to go on.)
#ifndef AFTERIMAGE_DATA_JSON_RECORDS_H_
#define AFTERIMAGE_DATA_JSON_RECORDS_H_

#include <memory>
#include <string>

#include "data/record_reader.h"

namespace afterimage {

enum class JsonFile { kObject, kList };

// Errors: kNotFound, kIo, kCorrupt (the file holds something else). What is wrong further on, such as a file that was
// cut short, is found when it is reached.
Result<std::unique_ptr<RecordReader>> NewJsonRecords(const std::string& path, JsonFile kind);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_JSON_RECORDS_H_
