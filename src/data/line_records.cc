#include "data/line_records.h"

#include <fmt/core.h>

#include <utility>

#include "data/byte_file.h"

namespace afterimage {
namespace {

class LineRecords : public RecordReader {
 public:
  explicit LineRecords(ByteFile file) : file_(std::move(file)) {}

  Result<std::optional<Record>> Next() override {
    for (;;) {
      std::string line;
      bool over = false;
      int c = file_.Next();
      if (c == ByteFile::kEnd) break;
      for (; c != '\n' && c != ByteFile::kEnd; c = file_.Next()) {
        over = over || line.size() == kMaxRecordBytes;
        if (!over) line.push_back(static_cast<char>(c));
      }
      ++number_;
      std::string where = fmt::format("{}:{}", file_.path(), number_);
      if (over) {
        return Error{Errc::kInvalidArgument, fmt::format("{}: longer than {} bytes", where, kMaxRecordBytes)};
      }
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      return std::optional<Record>({std::move(line), fmt::format("{}", number_), std::move(where)});
    }
    if (Status status = file_.status(); !status.ok()) return status.error();
    return std::optional<Record>();
  }

  Place place() const override { return {file_.offset(), number_}; }

  Status GoTo(Place place) override {
    number_ = place.number;
    return file_.GoTo(place.offset);
  }

 private:
  ByteFile file_;
  uint64_t number_ = 0;
};

}  // namespace

Result<std::unique_ptr<RecordReader>> NewLineRecords(const std::string& path) {
  Result<ByteFile> file = ByteFile::Open(path);
  if (!file.ok()) return file.error();
  return std::unique_ptr<RecordReader>(std::make_unique<LineRecords>(std::move(*file)));
}

}  // namespace afterimage
