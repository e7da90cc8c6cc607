#include "data/world/scene.h"

#include <nlohmann/json.hpp>

namespace afterimage::world {
namespace {

int Third(int place) { return (place >= 76 * kSubpixels ? 1 : 0) + (place >= 148 * kSubpixels ? 1 : 0); }

bool CanBeDrawn(const Scene& scene) {
  if (scene.period < 1 || scene.objects.size() > kMaxObjects) return false;
  for (const Object& object : scene.objects) {
    if (object.r < 1 || object.kind < 0 || object.kind >= 12 || object.color < 0 || object.color >= 8) return false;
    if (object.size < 0 || object.size > 1) return false;
  }
  return true;
}

}  // namespace

int Object::column() const { return Third(x); }
int Object::row() const { return Third(y); }

nlohmann::ordered_json ToJson(const Scene& scene) {
  nlohmann::ordered_json json = {{"seed", scene.seed},
                                 {"pattern", static_cast<int>(scene.pattern)},
                                 {"period", scene.period},
                                 {"strength", scene.strength},
                                 {"noise", scene.noise},
                                 {"gain", scene.gain},
                                 {"top", scene.top},
                                 {"bottom", scene.bottom},
                                 {"objects", nlohmann::ordered_json::array()}};
  for (const Object& o : scene.objects) {
    json["objects"].push_back({{"kind", o.kind},
                               {"color", o.color},
                               {"size", o.size},
                               {"x", o.x},
                               {"y", o.y},
                               {"r", o.r},
                               {"tilt", o.tilt},
                               {"tint", o.tint}});
  }
  return json;
}

Result<Scene> SceneFromJson(const nlohmann::json& json) {
  Scene scene;
  try {
    json.at("seed").get_to(scene.seed);
    const int pattern = json.at("pattern").get<int>();
    if (pattern < 0 || pattern > 4) return Error{Errc::kInvalidArgument, "A scene's pattern is 0 to 4."};
    scene.pattern = static_cast<Scene::Pattern>(pattern);
    json.at("period").get_to(scene.period);
    json.at("strength").get_to(scene.strength);
    json.at("noise").get_to(scene.noise);
    json.at("gain").get_to(scene.gain);
    json.at("top").get_to(scene.top);
    json.at("bottom").get_to(scene.bottom);
    for (const nlohmann::json& entry : json.at("objects")) {
      Object object;
      entry.at("kind").get_to(object.kind);
      entry.at("color").get_to(object.color);
      entry.at("size").get_to(object.size);
      entry.at("x").get_to(object.x);
      entry.at("y").get_to(object.y);
      entry.at("r").get_to(object.r);
      entry.at("tilt").get_to(object.tilt);
      entry.at("tint").get_to(object.tint);
      scene.objects.push_back(object);
    }
  } catch (const std::exception& e) {
    return Error{Errc::kInvalidArgument, std::string("Not a scene record: ") + e.what()};
  }
  if (!CanBeDrawn(scene)) return Error{Errc::kInvalidArgument, "A scene record with values out of range."};
  return scene;
}

}  // namespace afterimage::world
