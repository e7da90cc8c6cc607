// SplitBuilder: makes the streams of a split. Internal to split.cc, balanced.cc, frames.cc and mixed.cc.
#ifndef AFTERIMAGE_DATA_WORLD_SPLIT_BUILDER_H_
#define AFTERIMAGE_DATA_WORLD_SPLIT_BUILDER_H_

#include <map>
#include <string>
#include <vector>

#include "data/world/split.h"

namespace afterimage::world {

class SplitBuilder {
 public:
  SplitBuilder(std::string name, int number, uint64_t seed, int scenes, const Vocabulary& words);

  Split Build();

 private:
  // Ids: split, family, number in it, wording. A family is one numbering of pictures or questions.
  enum Family { kBase, kFlips, kClips, kTwins, kLookalikes, kTraffic };
  std::string PictureId(Family family, size_t index) const;
  std::string QuestionId(Family family, size_t serial, size_t wording) const;
  size_t AddPicture(Family family, Scene scene, Edit edit = {});
  // REQUIRES: the question can be asked about that picture.
  Entry MakeEntry(Family family, size_t serial, size_t picture, const Question& question, size_t wording) const;
  const Scene& scene(size_t picture) const { return split_.pictures[picture].scene; }
  size_t Wordings(const Question& question) const { return words_.type(question.type).wordings.size(); }
  bool CanAsk(const Question& question, const Scene& scene) const;
  // The answer in words; empty where the question cannot be asked.
  std::string AnswerOf(const Question& question, const Scene& scene) const;

  void MakeBalanced();
  void AskBalanced(size_t picture, Rng& rng);
  bool KeepsBalance(const std::string& type, const std::string& answer) const;
  void MakeParaphrases();
  void MakeHeldout();
  void MakeFlips();
  void MakeClips();
  void MakeClip(size_t clip, Rng& rng);
  void MakeTwins();
  void MakeLookalikes();
  void MakeTraffic();
  void MakeMixed();

  const int number_;
  const int scenes_;
  const Vocabulary& words_;
  Rng rng_;
  Split split_;
  std::map<Family, size_t> pictures_made_;
  // Of `balanced`: how often each answer of each type was asked.
  std::map<std::string, std::map<std::string, int>> asked_;
};

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_SPLIT_BUILDER_H_
