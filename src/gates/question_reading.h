// QuestionReading: a question as the text guard compares it.
//
// "Could you tell me what colour the two cups are?" reads as: a question of kind "what", and the units color, two, cup.
// Case, punctuation, spelling, contractions, politeness, framing, articles and auxiliary verbs are gone; what is left
// keeps its order.
#ifndef AFTERIMAGE_GATES_QUESTION_READING_H_
#define AFTERIMAGE_GATES_QUESTION_READING_H_

#include <string>
#include <string_view>
#include <vector>

#include "gates/lexicon.h"

namespace afterimage {

struct Unit {
  WordClass word_class = WordClass::kWord;
  std::vector<std::string> groups;  // any of which it may be: "riding" is of "rid" or of "ride"
  std::string written;              // as it stands in the text, in lower case
  bool plural = false;
  bool definite = false;  // after "the", "this", ...
  bool free = false;      // a property: it may stand before or after what it says something of
};

struct QuestionReading {
  std::string kind;  // of question: "what", "how many", "yes/no", "choice", "command", ...
  std::vector<Unit> units;
};

QuestionReading ReadQuestion(std::string_view text, const Lexicon& lexicon);

}  // namespace afterimage

#endif  // AFTERIMAGE_GATES_QUESTION_READING_H_
