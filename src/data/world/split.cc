#include "data/world/split.h"

#include <fmt/format.h>

#include <cassert>

#include "data/world/split_builder.h"
#include "data/world/wording.h"

namespace afterimage::world {

SplitBuilder::SplitBuilder(std::string name, int number, uint64_t seed, int scenes, const Vocabulary& words)
    : number_(number),
      scenes_(scenes),
      words_(words),
      rng_(seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(number)) {
  split_.name = std::move(name);
}

Split SplitBuilder::Build() {
  MakeBalanced();
  MakeParaphrases();
  MakeHeldout();
  MakeFlips();
  MakeClips();
  MakeTwins();
  MakeLookalikes();
  MakeTraffic();
  MakeMixed();
  return std::move(split_);
}

std::string SplitBuilder::PictureId(Family family, size_t index) const {
  return fmt::format("{}{}{:05}", number_, static_cast<int>(family), index);
}

std::string SplitBuilder::QuestionId(Family family, size_t serial, size_t wording) const {
  return fmt::format("{}{}{:06}{:02}", number_, static_cast<int>(family), serial, wording);
}

size_t SplitBuilder::AddPicture(Family family, Scene scene, Edit edit) {
  split_.pictures.push_back(Picture{PictureId(family, pictures_made_[family]++), std::move(scene), edit});
  return split_.pictures.size() - 1;
}

bool SplitBuilder::CanAsk(const Question& question, const Scene& scene) const {
  return Evaluate(question, scene, words_).has_value();
}

std::string SplitBuilder::AnswerOf(const Question& question, const Scene& scene) const {
  const std::optional<Answer> answer = Evaluate(question, scene, words_);
  return answer ? answer->text : std::string();
}

Entry SplitBuilder::MakeEntry(Family family, size_t serial, size_t picture, const Question& question,
                              size_t wording) const {
  const QuestionType& type = words_.type(question.type);
  const std::optional<Answer> answer = Evaluate(question, scene(picture), words_);
  assert(answer.has_value());
  Entry entry;
  entry.id = QuestionId(family, serial, wording);
  entry.picture = picture;
  entry.question = question;
  entry.answer = *answer;
  entry.wording =
      wording < type.wordings.size() ? type.wordings[wording] : type.heldout[wording - type.wordings.size()];
  entry.is_balanced = question.type != "describe";
  entry.equivalent = {entry.id};
  return entry;
}

Split MakeSplit(const std::string& name, int number, uint64_t seed, int scenes, const Vocabulary& words) {
  return SplitBuilder(name, number, seed, scenes, words).Build();
}

}  // namespace afterimage::world
