#include "data/llava_dataset.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "data/image_finder.h"
#include "data/json_fields.h"
#include "data/json_records.h"
#include "data/line_records.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

std::string Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

std::string WithoutImageMark(std::string text) {
  constexpr std::string_view kMark = "<image>";
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at)) text.erase(at, kMark.size());
  return Trimmed(text);
}

// The first human turn, and the first of the model's behind it.
void ReadConversation(JsonFields& fields, const Json& turns, Sample& sample) {
  constexpr const char* kWanted = "a list of turns with \"from\" and \"value\"";
  if (!turns.is_array()) return fields.Wrong(kWanted);
  bool asked = false;
  for (const Json& turn : turns) {
    if (!turn.is_object()) return fields.Wrong(kWanted);
    JsonFields parts(turn);
    const std::string from = parts.Text({"from"});
    const std::string value = parts.Text({"value"});
    if (!parts.status().ok()) return fields.Wrong(kWanted);
    if (!asked && from == "human") {
      asked = true;
      sample.question = WithoutImageMark(value);
    } else if (asked && from == "gpt") {
      sample.full_answer = Trimmed(value);
      return;
    }
  }
}

Result<Sample> ReadSample(const Json& object, const std::string& default_id, const ImageFinder& images) {
  JsonFields fields(object);
  Sample sample;
  sample.id = fields.Text({"id", "question_id"});
  if (sample.id.empty()) sample.id = default_id;
  sample.image_id = fields.Text({"image"});
  sample.type = fields.Text({"category"});
  if (const Json* turns = fields.Find({"conversations"})) {
    ReadConversation(fields, *turns, sample);
  } else {
    sample.question = WithoutImageMark(fields.Text({"text"}));
  }
  if (!fields.status().ok()) return fields.status().error();
  if (sample.question.empty()) {
    return Error{Errc::kInvalidArgument,
                 "there is no question: neither a human turn in \"conversations\" nor \"text\""};
  }
  if (!sample.image_id.empty()) sample.image_path = images.ByPath(sample.image_id);
  return sample;
}

}  // namespace

Result<std::unique_ptr<RecordDataset>> NewLlavaDataset(const std::string& path, std::vector<std::string> image_roots) {
  Result<std::unique_ptr<RecordReader>> records =
      path.ends_with(".jsonl") ? NewLineRecords(path) : NewJsonRecords(path, JsonFile::kList);
  if (!records.ok()) return records.error();
  SampleReader read = [images =
                           ImageFinder(std::filesystem::path(path).parent_path().string(), std::move(image_roots))](
                          const Json& object, const std::string& id) { return ReadSample(object, id, images); };
  return std::make_unique<RecordDataset>(std::move(*records), std::move(read));
}

}  // namespace afterimage
