// Wording: a question in words, and as a program.
#ifndef AFTERIMAGE_DATA_WORLD_WORDING_H_
#define AFTERIMAGE_DATA_WORLD_WORDING_H_

#include <map>
#include <string>
#include <vector>

#include "data/world/question.h"

namespace afterimage::world {

// A text with its slots filled, and at which word (counted from 0) each slot begins.
struct Text {
  std::string text;
  std::map<std::string, int> word_of;  // by slot: "o", "p", "x"
};

// Fills one of the type's wordings. REQUIRES: the wording's slots have values.
Text Fill(const std::string& wording, const Slots& slots, const Answer& answer, const Vocabulary& words);

// The answer as a sentence.
Text FullAnswer(const QuestionType& type, const Slots& slots, const Answer& answer, const Vocabulary& words);

// GQA's functional programs: "select: car (id)->verify color: red [0]".
struct Step {
  std::string operation;
  std::vector<int> dependencies;
  std::string argument;
};
// `object_id` names an object of the scene by its index; -1 is "-".
std::vector<Step> Program(const Question& question, const Answer& answer, const Vocabulary& words,
                          const std::vector<std::string>& object_ids);
std::string ProgramText(const std::vector<Step>& program);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_WORDING_H_
