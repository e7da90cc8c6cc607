// The records of several files, one file after another.
#ifndef AFTERIMAGE_DATA_CHAINED_RECORDS_H_
#define AFTERIMAGE_DATA_CHAINED_RECORDS_H_

#include <memory>
#include <vector>

#include "data/record_reader.h"

namespace afterimage {

// REQUIRES: at least one reader, each at its beginning.
std::unique_ptr<RecordReader> NewChainedRecords(std::vector<std::unique_ptr<RecordReader>> readers);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_CHAINED_RECORDS_H_
