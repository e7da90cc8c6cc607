#include "data/sample_json.h"

#include <fmt/core.h>

#include <initializer_list>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Error Unusable(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }

// The fields of one object. The first that has the wrong type is remembered and the rest of the reading goes on, so
// that a caller asks once.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  const Status& status() const { return status_; }

  // The first of these that is there and not null.
  const Json* Find(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const auto found = object_.find(name);
      if (found == object_.end() || found->is_null()) continue;
      name_ = name;
      return &*found;
    }
    return nullptr;
  }

  // Numbers are taken as they are written: ids and answers are often numbers.
  std::string Text(std::initializer_list<const char*> names) {
    const Json* value = Find(names);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    if (value->is_number()) return value->dump();
    Wrong("a text");
    return "";
  }

  bool Flag(std::initializer_list<const char*> names, bool otherwise) {
    const Json* value = Find(names);
    if (value == nullptr) return otherwise;
    if (value->is_boolean()) return value->get<bool>();
    Wrong("true or false");
    return otherwise;
  }

  std::vector<std::string> Texts(std::initializer_list<const char*> names) {
    std::vector<std::string> texts;
    const Json* value = Find(names);
    if (value == nullptr) return texts;
    if (!value->is_array()) Wrong("a list of texts");
    for (const Json& item : *value) {
      if (item.is_string()) {
        texts.push_back(item.get<std::string>());
      } else {
        Wrong("a list of texts");
      }
    }
    return texts;
  }

  void Wrong(const char* wanted) {
    if (status_.ok()) status_ = Unusable(fmt::format("\"{}\" must be {}", name_, wanted));
  }

 private:
  const Json& object_;
  std::string name_;  // found last
  Status status_;
};

// [{"operation": "select", "argument": "wall (12)"}, ...] as "select:wall (12) | ..."
std::string ReadProgram(Fields& fields) {
  const Json* steps = fields.Find({"semantic"});
  if (steps == nullptr) return "";
  std::string program;
  if (!steps->is_array()) fields.Wrong("a list of steps");
  for (const Json& step : *steps) {
    if (!step.is_object()) {
      fields.Wrong("a list of steps");
      return "";
    }
    Fields parts(step);
    program +=
        fmt::format("{}{}:{}", program.empty() ? "" : " | ", parts.Text({"operation"}), parts.Text({"argument"}));
    if (!parts.status().ok()) fields.Wrong("steps with \"operation\" and \"argument\"");
  }
  return program;
}

void ReadGroups(Fields& fields, Sample& sample) {
  const Json* groups = fields.Find({"groups"});
  if (groups == nullptr) return;
  if (!groups->is_object()) return fields.Wrong("an object with \"global\" and \"local\"");
  Fields parts(*groups);
  sample.global_group = parts.Text({"global"});
  sample.local_group = parts.Text({"local"});
  if (!parts.status().ok()) fields.Wrong("an object with \"global\" and \"local\"");
}

void ReadType(Fields& fields, Sample& sample) {
  const Json* types = fields.Find({"types"});
  if (types == nullptr) return;
  if (!types->is_object()) return fields.Wrong("an object with \"detailed\"");
  Fields parts(*types);
  sample.type = parts.Text({"detailed"});
  if (!parts.status().ok()) fields.Wrong("an object with \"detailed\"");
}

}  // namespace

Result<Sample> ReadSample(const Json& object, const std::string& default_id, const ImageFinder& images) {
  Fields fields(object);
  Sample sample;
  sample.question = fields.Text({"question"});
  sample.answer = fields.Text({"answer"});
  sample.full_answer = fields.Text({"full_answer", "fullAnswer"});
  sample.id = fields.Text({"id", "dataset_id", "question_id"});
  if (sample.id.empty()) sample.id = default_id;
  const std::string image = fields.Text({"image", "image_path"});
  sample.image_id = fields.Text({"image_id", "imageId"});
  sample.semantic_str = fields.Text({"semantic_str", "semanticStr"});
  sample.semantic_program = ReadProgram(fields);
  ReadGroups(fields, sample);
  ReadType(fields, sample);
  sample.is_balanced = fields.Flag({"is_balanced", "isBalanced"}, true);
  sample.equivalent = fields.Texts({"equivalent"});
  if (const Json* metadata = fields.Find({"metadata"})) sample.metadata = metadata->dump();
  if (!fields.status().ok()) return fields.status().error();
  if (sample.question.empty()) return Unusable("there is no \"question\"");
  if (!image.empty()) {
    sample.image_path = images.ByPath(image);
    if (sample.image_id.empty()) sample.image_id = image;
  } else if (!sample.image_id.empty()) {
    sample.image_path = images.ById(sample.image_id);
  }
  return sample;
}

}  // namespace afterimage
