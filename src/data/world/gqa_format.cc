#include "data/world/gqa_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/world/wording.h"

namespace afterimage::world {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> ObjectIds(const Picture& picture) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < picture.scene.objects.size(); ++i) ids.push_back(fmt::format("{}{}", picture.id, i));
  return ids;
}

// {word: object} for the slots that name one object.
Json Annotations(const Text& text, const Answer& answer, const std::vector<std::string>& ids) {
  Json json = Json::object();
  const auto add = [&](const char* slot, int object) {
    const auto at = text.word_of.find(slot);
    if (at != text.word_of.end() && object >= 0) json[std::to_string(at->second)] = ids[static_cast<size_t>(object)];
  };
  add("o", answer.o);
  add("p", answer.p);
  add("x", answer.answer);
  return json;
}

// GQA's groups: questions with the same global group share a set of answers, with the same local one also a subject.
Json Groups(const Entry& entry, const Vocabulary& words) {
  const std::string& type = entry.question.type;
  const Slots& slots = entry.question.slots;
  Json global = nullptr;
  if (type == "color" || type == "ccolor") global = "color";
  if (type == "size" || type == "csize") global = "size";
  if (type == "shape" || type == "cshape" || type == "ccmp" || type.starts_with("relq")) global = "object";
  if (type.starts_with("count")) global = "number";
  // The type's number, as GQA's codes are: two digits, then what the question is about.
  std::string local = fmt::format("{:02}-", &words.type(type) - words.types.data() + 1);
  const auto add = [&](const std::vector<std::string>& values, int index) {
    if (index < 0) return;
    if (local.back() != '-') local += "_";
    local += values[static_cast<size_t>(index)];
  };
  add(words.kinds, slots.o);
  add(words.kinds, slots.p);
  add(words.colors, slots.c);
  add(words.colors, slots.d);
  add(words.relations, slots.r);
  return {{"global", global}, {"local", local}};
}

struct Box {
  int x = 0;
  int y = 0;
  int w = 0;
  int h = 0;
};

int SideOf(const Edit& edit) {
  if (edit.kind == Edit::Kind::kResized) return edit.amount;
  if (edit.kind == Edit::Kind::kCropped) return kPictureSide - 2 * edit.amount;
  return kPictureSide;
}

Box BoxOf(const Object& object, const Edit& edit) {
  const int side = SideOf(edit);
  const auto place = [&](int at) {  // 1/16 pixel of the drawn picture -> pixel of the written one
    if (edit.kind == Edit::Kind::kResized) return at * side / (kPictureSide * kSubpixels);
    return at / kSubpixels - (edit.kind == Edit::Kind::kCropped ? edit.amount : 0);
  };
  const int left = std::clamp(place(object.x - object.r), 0, side);
  const int top = std::clamp(place(object.y - object.r), 0, side);
  const int right = std::clamp(place(object.x + object.r), 0, side);
  const int bottom = std::clamp(place(object.y + object.r), 0, side);
  return {left, top, right - left, bottom - top};
}

}  // namespace

Json QuestionJson(const Entry& entry, const Picture& picture, const Vocabulary& words) {
  const QuestionType& type = words.type(entry.question.type);
  const std::vector<std::string> ids = ObjectIds(picture);
  const Text question = Fill(entry.wording, entry.question.slots, entry.answer, words);
  const Text full = FullAnswer(type, entry.question.slots, entry.answer, words);
  const std::vector<Step> program = Program(entry.question, entry.answer, words, ids);
  Json semantic = Json::array();
  for (const Step& step : program) {
    semantic.push_back(
        {{"operation", step.operation}, {"dependencies", step.dependencies}, {"argument", step.argument}});
  }
  Json answer_annotation = Json::object();
  if (entry.answer.answer >= 0) answer_annotation["0"] = ids[static_cast<size_t>(entry.answer.answer)];
  Json json = {{"imageId", picture.id},
               {"question", question.text},
               {"answer", entry.answer.text},
               {"fullAnswer", full.text},
               {"isBalanced", entry.is_balanced},
               {"groups", Groups(entry, words)},
               {"entailed", entry.entailed},
               {"equivalent", entry.equivalent},
               {"types", {{"structural", type.structural}, {"semantic", type.semantic}, {"detailed", type.detailed}}},
               {"annotations",
                {{"question", Annotations(question, entry.answer, ids)},
                 {"answer", answer_annotation},
                 {"fullAnswer", Annotations(full, entry.answer, ids)}}},
               {"semantic", semantic},
               {"semanticStr", ProgramText(program)}};
  if (entry.frame) {
    json["metadata"] = {{"video_id", entry.frame->video_id},
                        {"frame_number", entry.frame->number},
                        {"timestamp", entry.frame->timestamp},
                        {"scene_id", entry.frame->scene_id}};
  }
  return json;
}

Json SceneGraphJson(const Picture& picture, const Vocabulary& words) {
  const std::vector<std::string> ids = ObjectIds(picture);
  const std::vector<Object>& objects = picture.scene.objects;
  Json all = Json::object();
  for (size_t i = 0; i < objects.size(); ++i) {
    Json relations = Json::array();
    for (size_t j = 0; j < objects.size(); ++j) {
      const auto relate = [&](const char* name, bool holds) {
        if (holds) relations.push_back({{"name", name}, {"object", ids[j]}});
      };
      relate("to the left of", objects[j].x - objects[i].x >= kApart);
      relate("to the right of", objects[i].x - objects[j].x >= kApart);
      relate("above", objects[j].y - objects[i].y >= kApart);
      relate("below", objects[i].y - objects[j].y >= kApart);
    }
    const Box box = BoxOf(objects[i], picture.edit);
    all[ids[i]] = {
        {"name", words.kinds[static_cast<size_t>(objects[i].kind)]},
        {"x", box.x},
        {"y", box.y},
        {"w", box.w},
        {"h", box.h},
        {"attributes",
         {words.colors[static_cast<size_t>(objects[i].color)], words.sizes[static_cast<size_t>(objects[i].size)]}},
        {"relations", relations}};
  }
  return {{"width", SideOf(picture.edit)}, {"height", SideOf(picture.edit)}, {"objects", all}};
}

}  // namespace afterimage::world
