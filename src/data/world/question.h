// Question: what can be asked about a scene, and the truth.
//
// A question is a type and the values of its slots; how it is worded is another matter (wording.h). Its answer is a
// function of the scene's record, so the same question can be put to every frame of a clip.
#ifndef AFTERIMAGE_DATA_WORLD_QUESTION_H_
#define AFTERIMAGE_DATA_WORLD_QUESTION_H_

#include <optional>
#include <string>
#include <vector>

#include "data/world/rng.h"
#include "data/world/scene.h"
#include "data/world/vocabulary.h"

namespace afterimage::world {

// Indices into the vocabulary; -1: the type has no such slot.
struct Slots {
  int o = -1;  // kinds
  int p = -1;
  int c = -1;  // colours
  int d = -1;
  int r = -1;  // relation word
  int s = -1;  // size
  int n = -1;  // number word

  bool operator==(const Slots&) const = default;
};

struct Question {
  std::string type;
  Slots slots;

  bool operator==(const Question&) const = default;
};

struct Answer {
  std::string text;   // "yes", "red", "3"
  std::string truth;  // what is the case, where the answer does not say it: the colour behind a "no"
  int o = -1;         // which objects of the scene the question and the answer speak of; -1: none, or not one
  int p = -1;
  int answer = -1;
};

// The answer, or nullopt where the question cannot be asked: it takes for granted what is not so ("the car" where
// there are two, or none), or objects stand neither left nor right of each other.
std::optional<Answer> Evaluate(const Question& question, const Scene& scene, const Vocabulary& words);

// Questions of every type that this scene allows, right and wrong ones about equally often, in a random order.
std::vector<Question> Propose(const Scene& scene, const Vocabulary& words, Rng& rng);

// At most one of each type, every type equally likely to come first: some types allow many more questions than others.
std::vector<Question> Mix(std::vector<Question> questions, Rng& rng);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_QUESTION_H_
