#include "data/pairs.h"

#include <fmt/core.h>

#include <utility>

#include "data/json_fields.h"
#include "data/line_records.h"

namespace afterimage {
namespace {

Result<Pair> ReadPair(const std::string& text) {
  const Result<JsonFields::Json> object = ParseObject(text);
  if (!object.ok()) return object.error();
  JsonFields fields(*object);
  Pair pair;
  pair.a = fields.Text({"a"});
  pair.b = fields.Text({"b"});
  pair.kind = fields.Text({"kind"});
  pair.must_agree = fields.Flag({"must_agree"}, false);
  if (!fields.status().ok()) return fields.status().error();
  if (pair.a.empty() || pair.b.empty()) return Error{Errc::kInvalidArgument, "a pair needs \"a\" and \"b\""};
  // Neither answer may be guessed.
  if (fields.Find({"must_agree"}) == nullptr) return Error{Errc::kInvalidArgument, "there is no \"must_agree\""};
  return pair;
}

}  // namespace

Result<PairsFile> PairsFile::Open(const std::string& path) {
  Result<std::unique_ptr<RecordReader>> records = NewLineRecords(path);
  if (!records.ok()) return records.error();
  return PairsFile(std::move(*records));
}

Result<std::optional<Pair>> PairsFile::Next() {
  Result<std::optional<Record>> record = records_->Next();
  if (!record.ok()) return record.error();
  if (!record->has_value()) return std::optional<Pair>();
  Result<Pair> pair = ReadPair((*record)->text);
  if (!pair.ok()) {
    return Error{Errc::kInvalidArgument, fmt::format("{}: {}", (*record)->where, pair.error().message)};
  }
  pair->where = std::move((*record)->where);
  return std::optional<Pair>(std::move(*pair));
}

}  // namespace afterimage
