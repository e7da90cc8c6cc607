#include "data/sample_json.h"

#include <fmt/core.h>

#include <utility>

#include "data/json_fields.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kVqaAnswers = 10;

// [{"operation": "select", "argument": "wall (12)"}, ...] as "select:wall (12) | ..."
std::string ReadProgram(JsonFields& fields) {
  const Json* steps = fields.Find({"semantic"});
  if (steps == nullptr) return "";
  std::string program;
  if (!steps->is_array()) fields.Wrong("a list of steps");
  for (const Json& step : *steps) {
    if (!step.is_object()) {
      fields.Wrong("a list of steps");
      return "";
    }
    JsonFields parts(step);
    program +=
        fmt::format("{}{}:{}", program.empty() ? "" : " | ", parts.Text({"operation"}), parts.Text({"argument"}));
    if (!parts.status().ok()) fields.Wrong("steps with \"operation\" and \"argument\"");
  }
  return program;
}

void ReadGroups(JsonFields& fields, Sample& sample) {
  const Json* groups = fields.Find({"groups"});
  if (groups == nullptr) return;
  if (!groups->is_object()) return fields.Wrong("an object with \"global\" and \"local\"");
  JsonFields parts(*groups);
  sample.global_group = parts.Text({"global"});
  sample.local_group = parts.Text({"local"});
  if (!parts.status().ok()) fields.Wrong("an object with \"global\" and \"local\"");
}

void ReadTypes(JsonFields& fields, Sample& sample) {
  constexpr const char* kWanted = "an object with \"structural\", \"semantic\" and \"detailed\"";
  const Json* types = fields.Find({"types"});
  if (types == nullptr) return;
  if (!types->is_object()) return fields.Wrong(kWanted);
  JsonFields parts(*types);
  sample.structural_type = parts.Text({"structural"});
  sample.semantic_type = parts.Text({"semantic"});
  sample.type = parts.Text({"detailed"});
  if (!parts.status().ok()) fields.Wrong(kWanted);
}

// Ten texts, or ten objects with "answer", as VQA's own files have them.
void ReadAnswers(JsonFields& fields, Sample& sample) {
  const Json* answers = fields.Find({"answers"});
  if (answers == nullptr) return;
  if (!answers->is_array() || answers->size() != kVqaAnswers) return fields.Wrong("a list of ten answers");
  for (const Json& item : *answers) {
    const Json& answer = item.is_object() && item.contains("answer") ? item["answer"] : item;
    if (!answer.is_string()) return fields.Wrong("a list of ten answers");
    sample.answers.push_back(answer.get<std::string>());
  }
}

// "<video_id>/" of a frame, else empty.
std::string VideoFolder(JsonFields& fields) {
  const Json* metadata = fields.Find({"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return "";
  const std::string video = JsonFields(*metadata).Text({"video_id"});
  return video.empty() ? "" : video + "/";
}

void FindImage(JsonFields& fields, const ImageFinder& images, Sample& sample) {
  const std::string image = fields.Text({"image", "image_path"});
  if (!image.empty()) {
    sample.image_path = images.ByPath(image);
    if (sample.image_id.empty()) sample.image_id = image;
  } else if (!sample.image_id.empty()) {
    const std::string video = VideoFolder(fields);
    if (!video.empty()) sample.image_path = images.ById(video + sample.image_id);
    if (sample.image_path.empty()) sample.image_path = images.ById(sample.image_id);
  }
}

Result<Sample> ReadSample(const Json& object, const std::string& default_id, const ImageFinder& images) {
  JsonFields fields(object);
  Sample sample;
  sample.question = fields.Text({"question"});
  sample.answer = fields.Text({"answer"});
  sample.full_answer = fields.Text({"full_answer", "fullAnswer"});
  ReadAnswers(fields, sample);
  sample.id = fields.Text({"id", "dataset_id", "question_id"});
  if (sample.id.empty()) sample.id = default_id;
  sample.image_id = fields.Text({"image_id", "imageId"});
  sample.semantic_str = fields.Text({"semantic_str", "semanticStr"});
  sample.semantic_program = ReadProgram(fields);
  ReadGroups(fields, sample);
  ReadTypes(fields, sample);
  sample.is_balanced = fields.Flag({"is_balanced", "isBalanced"}, true);
  sample.equivalent = fields.Texts({"equivalent"});
  sample.entailed = fields.Texts({"entailed"});
  sample.expected_hit = fields.Text({"expected_hit"});
  if (const Json* metadata = fields.Find({"metadata"})) sample.metadata = metadata->dump();
  FindImage(fields, images, sample);
  if (!fields.status().ok()) return fields.status().error();
  if (sample.question.empty()) return Error{Errc::kInvalidArgument, "there is no \"question\""};
  return sample;
}

}  // namespace

SampleReader GqaSamples(ImageFinder images) {
  return [images = std::move(images)](const Json& object, const std::string& id) {
    return ReadSample(object, id, images);
  };
}

}  // namespace afterimage
