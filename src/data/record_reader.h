// RecordReader: the records of a file of any size, one by one, in bounded memory.
//
// A record is the text of one JSON value: a line of a JSONL file, or a member of the one object or list that a JSON
// file holds. Nothing but where it begins and ends is looked at, so passing over records is many times as fast as
// reading samples, and an order can be drawn over a file of gigabytes by remembering where its records stand.
#ifndef AFTERIMAGE_DATA_RECORD_READER_H_
#define AFTERIMAGE_DATA_RECORD_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "afterimage/result.h"

namespace afterimage {

// A longer record is not held: it is unusable.
inline constexpr size_t kMaxRecordBytes = size_t{4} << 20;

struct Record {
  std::string text;
  std::string id;     // what the file calls it: its key in an object, else its number as text
  std::string where;  // begins messages about it: "questions.jsonl:7"
};

class RecordReader {
 public:
  // Before a record. Means nothing to any other reader.
  struct Place {
    uint64_t offset = 0;
    uint64_t number = 0;  // of records or lines before it
  };

  virtual ~RecordReader() = default;

  // The next record, or nullopt at the end. Errors: kInvalidArgument (this one is unusable, and the message begins with
  // where it stands; the next call goes on behind it), kCorrupt (the file is not what it should be), kIo; the last two
  // end the reading.
  virtual Result<std::optional<Record>> Next() = 0;

  virtual Place place() const = 0;
  // Goes back, or forth, to where place() was. Errors: kIo, kUnsupported (a pipe can be read only once).
  virtual Status GoTo(Place place) = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_RECORD_READER_H_
