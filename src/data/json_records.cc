#include "data/json_records.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "data/byte_file.h"

namespace afterimage {
namespace {

bool IsSpace(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

class JsonRecords : public RecordReader {
 public:
  JsonRecords(ByteFile file, JsonFile kind) : file_(std::move(file)), kind_(kind) {}

  Status ReadOpening() {
    if (NextInk() == (kind_ == JsonFile::kObject ? '{' : '[')) return {};
    if (Status status = file_.status(); !status.ok()) return status;
    return Error{Errc::kCorrupt, fmt::format("{} does not hold a JSON {}.", file_.path(),
                                             kind_ == JsonFile::kObject ? "object of records" : "list of records")};
  }

  Result<std::optional<Record>> Next() override {
    if (ended_) return std::optional<Record>();
    int c = NextInk();
    if (c == (kind_ == JsonFile::kObject ? '}' : ']')) return AtClosing();
    if (number_ > 0) {
      if (c != ',') return Broken("there is no comma");
      c = NextInk();
    }
    ++number_;
    Record record;
    record.id = fmt::format("{}", number_);
    if (kind_ == JsonFile::kObject) {
      if (Status status = ReadKey(c, record.id); !status.ok()) return status.error();
      c = NextInk();
    }
    record.where = fmt::format("{}: record {}", file_.path(), record.id);
    text_.clear();
    over_ = false;
    if (Status status = ReadValue(c); !status.ok()) return status.error();
    if (over_) {
      return Error{Errc::kInvalidArgument, fmt::format("{}: longer than {} bytes", record.where, kMaxRecordBytes)};
    }
    record.text = text_;
    return std::optional<Record>(std::move(record));
  }

  Place place() const override { return {file_.offset(), number_}; }

  Status GoTo(Place place) override {
    number_ = place.number;
    ended_ = false;
    return file_.GoTo(place.offset);
  }

 private:
  // The next byte that is not white space.
  int NextInk() {
    int c = file_.Next();
    while (IsSpace(c)) c = file_.Next();
    return c;
  }

  Error Broken(const char* why) const {
    if (Status status = file_.status(); !status.ok()) return status.error();
    return Error{Errc::kCorrupt,
                 fmt::format("{} is not valid JSON: {} at byte {}.", file_.path(), why, file_.offset())};
  }

  Result<std::optional<Record>> AtClosing() {
    if (NextInk() != ByteFile::kEnd) return Broken("it goes on behind its end");
    if (Status status = file_.status(); !status.ok()) return status.error();
    ended_ = true;
    return std::optional<Record>();
  }

  Status ReadKey(int first, std::string& key) {
    text_.clear();
    over_ = false;
    if (first != '"') return Broken("there is no key");
    if (Status status = ReadString(); !status.ok()) return status;
    const nlohmann::json parsed = nlohmann::json::parse(text_, nullptr, false);
    if (!parsed.is_string() || NextInk() != ':') return Broken("there is no key");
    key = parsed.get<std::string>();
    return {};
  }

  void Keep(int c) {
    over_ = over_ || text_.size() == kMaxRecordBytes;
    if (!over_) text_.push_back(static_cast<char>(c));
  }

  // From its opening quote, which was read, to its closing one.
  Status ReadString() {
    Keep('"');
    for (;;) {
      const int c = file_.Next();
      if (c == ByteFile::kEnd) return Broken("it ends within a text");
      Keep(c);
      if (c == '"') return {};
      if (c != '\\') continue;
      const int escaped = file_.Next();
      if (escaped == ByteFile::kEnd) return Broken("it ends within a text");
      Keep(escaped);
    }
  }

  Status ReadValue(int c) {
    if (c == '"') return ReadString();
    if (c != '{' && c != '[') return ReadWord(c);
    int depth = 0;
    for (;; c = file_.Next()) {
      if (c == ByteFile::kEnd) return Broken("it ends within a record");
      if (c == '"') {
        if (Status status = ReadString(); !status.ok()) return status;
        continue;
      }
      Keep(c);
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth == 0) return {};
    }
  }

  // A number, true, false or null.
  Status ReadWord(int c) {
    while (c != ByteFile::kEnd && c != ',' && c != '}' && c != ']' && !IsSpace(c)) {
      Keep(c);
      c = file_.Next();
    }
    if (c == ByteFile::kEnd) return Broken("it ends within a record");
    if (text_.empty()) return Broken("there is no value");
    file_.Back(c);
    return {};
  }

  ByteFile file_;
  const JsonFile kind_;
  uint64_t number_ = 0;
  bool ended_ = false;
  std::string text_;   // of the member, as far as it was read
  bool over_ = false;  // there is more of it than is kept
};

}  // namespace

Result<std::unique_ptr<RecordReader>> NewJsonRecords(const std::string& path, JsonFile kind) {
  Result<ByteFile> file = ByteFile::Open(path);
  if (!file.ok()) return file.error();
  auto records = std::make_unique<JsonRecords>(std::move(*file), kind);
  if (Status status = records->ReadOpening(); !status.ok()) return status.error();
  return std::unique_ptr<RecordReader>(std::move(records));
}

}  // namespace afterimage
