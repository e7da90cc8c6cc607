#include "data/world/vocabulary.h"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

namespace afterimage::world {

const QuestionType& Vocabulary::type(std::string_view id) const {
  const auto found = std::find_if(types.begin(), types.end(), [&](const QuestionType& type) { return type.id == id; });
  assert(found != types.end());
  return *found;
}

Result<Vocabulary> LoadVocabulary() {
  try {
    const nlohmann::json json = nlohmann::json::parse(kVocabularyJson);
    Vocabulary words;
    json.at("kinds").get_to(words.kinds);
    json.at("plurals").get_to(words.plurals);
    json.at("colors").get_to(words.colors);
    json.at("color_rgb").get_to(words.color_rgb);
    json.at("sizes").get_to(words.sizes);
    json.at("relations").get_to(words.relations);
    json.at("numbers").get_to(words.numbers);
    for (const nlohmann::json& entry : json.at("types")) {
      QuestionType type;
      entry.at("id").get_to(type.id);
      entry.at("structural").get_to(type.structural);
      entry.at("semantic").get_to(type.semantic);
      entry.at("detailed").get_to(type.detailed);
      entry.at("full").get_to(type.full);
      entry.at("wordings").get_to(type.wordings);
      entry.at("heldout").get_to(type.heldout);
      words.types.push_back(std::move(type));
    }
    return words;
  } catch (const std::exception& e) {
    return Error{Errc::kInternal, std::string("The vocabulary compiled in cannot be read: ") + e.what()};
  }
}

}  // namespace afterimage::world
