// The world in GQA's own formats: question objects with all their fields, and scene graphs.
#ifndef AFTERIMAGE_DATA_WORLD_GQA_FORMAT_H_
#define AFTERIMAGE_DATA_WORLD_GQA_FORMAT_H_

#include <nlohmann/json_fwd.hpp>

#include "data/world/split.h"

namespace afterimage::world {

// imageId question answer fullAnswer isBalanced groups entailed equivalent types annotations semantic semanticStr, and
// metadata for frames of a clip.
nlohmann::ordered_json QuestionJson(const Entry& entry, const Picture& picture, const Vocabulary& words);

// width height objects{id: name x y w h attributes relations}, in the pixels of the file that is written.
nlohmann::ordered_json SceneGraphJson(const Picture& picture, const Vocabulary& words);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_GQA_FORMAT_H_
