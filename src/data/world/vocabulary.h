// Vocabulary: what the world is made of and how it is asked about.
//
// Compiled in from models/training/world.json, which the training code reads too: the wordings the models learnt are
// the wordings the data set asks.
#ifndef AFTERIMAGE_DATA_WORLD_VOCABULARY_H_
#define AFTERIMAGE_DATA_WORLD_VOCABULARY_H_

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/result.h"

namespace afterimage::world {

inline constexpr int kPictureSide = 224;  // pixels

struct QuestionType {
  std::string id;          // "vcolor"
  std::string structural;  // GQA's types: verify, query, choose, logical, compare
  std::string semantic;    // obj, attr, rel, global
  std::string detailed;
  std::map<std::string, std::string> full;  // sentence by answer; "*" is any other
  std::vector<std::string> wordings;        // with slots: "Is the {o} {c}?"
  std::vector<std::string> heldout;         // never trained
};

struct Vocabulary {
  std::vector<std::string> kinds;
  std::vector<std::string> plurals;
  std::vector<std::string> colors;
  std::vector<std::array<int, 3>> color_rgb;
  std::vector<std::string> sizes;
  std::vector<std::string> relations;  // left right above below larger smaller bigger
  std::vector<std::string> numbers;    // zero .. five
  std::vector<QuestionType> types;

  // REQUIRES: there is such a type.
  const QuestionType& type(std::string_view id) const;
};

// Parses what is compiled in. Errors: kInternal, when the file the program was built from is not such a vocabulary.
Result<Vocabulary> LoadVocabulary();

extern const char* const kVocabularyJson;

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_VOCABULARY_H_
