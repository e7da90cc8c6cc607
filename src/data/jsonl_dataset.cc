#include "data/jsonl_dataset.h"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/utf8.h"
#include "data/image_finder.h"
#include "data/line_reader.h"
#include "data/sample_json.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

// Writing JSON out again is recursive, so a line of brackets could exhaust the stack.
constexpr int kMaxDepth = 64;

Error Unusable(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }

Result<Json> ParseObject(const std::string& line) {
  if (!IsValidUtf8(line)) return Unusable("not valid UTF-8");
  bool too_deep = false;
  const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  Json json;
  try {
    json = Json::parse(line, limit_depth);
  } catch (const Json::parse_error& e) {
    return Unusable(fmt::format("not valid JSON (at byte {})", e.byte));
  }
  if (too_deep) return Unusable(fmt::format("nested more than {} deep", kMaxDepth));
  if (!json.is_object()) return Unusable("not a JSON object; every line must be one");
  return json;
}

class JsonlDataset : public Dataset {
 public:
  JsonlDataset(std::string path, LineReader lines, ImageFinder images)
      : path_(std::move(path)), lines_(std::move(lines)), images_(std::move(images)) {}

  Result<std::optional<Sample>> Next() override {
    for (;;) {
      Result<std::optional<std::string>> line = lines_.Next();
      if (!line.ok()) return line.error().code == Errc::kTooLarge ? Here(line.error()) : line.error();
      if (!line->has_value()) return std::optional<Sample>();
      if ((*line)->find_first_not_of(" \t") == std::string::npos) continue;
      const Result<Json> object = ParseObject(**line);
      if (!object.ok()) return Here(object.error());
      Result<Sample> sample = ReadSample(*object, fmt::format("{}", lines_.line_number()), images_);
      if (!sample.ok()) return Here(sample.error());
      return std::optional<Sample>(std::move(*sample));
    }
  }

  std::optional<size_t> size_hint() const override { return std::nullopt; }

 private:
  Error Here(const Error& error) const {
    return Unusable(fmt::format("{}:{}: {}", path_, lines_.line_number(), error.message));
  }

  const std::string path_;
  LineReader lines_;
  const ImageFinder images_;
};

}  // namespace

Result<std::unique_ptr<Dataset>> NewJsonlDataset(const std::string& path, std::vector<std::string> image_roots) {
  Result<LineReader> lines = LineReader::Open(path, kMaxJsonlLineBytes);
  if (!lines.ok()) return lines.error();
  ImageFinder images(std::filesystem::path(path).parent_path().string(), std::move(image_roots));
  return std::unique_ptr<Dataset>(std::make_unique<JsonlDataset>(path, std::move(*lines), std::move(images)));
}

}  // namespace afterimage
