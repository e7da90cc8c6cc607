#include "page/gallery.h"

#include <algorithm>
#include <utility>

#include "core/json_text.h"
#include "page/experiments.h"
#include "page/requests.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

const Json& At(const Json& json, const char* key) {
  static const Json none;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? none : *found;
}

// Of the layer that the hit is put down to where it named the donor used, else of any layer that did. Null: none did.
const Json& UsedCandidate(const Json& sample) {
  static const Json none;
  const Json* used = &none;
  for (const Json& candidate : At(sample, "candidates")) {
    if (!At(candidate, "refused").is_null() || At(candidate, "substitution") != At(sample, "substitution") ||
        At(At(candidate, "donor"), "id") != At(At(sample, "donor"), "id")) {
      continue;
    }
    if (At(candidate, "score") == At(sample, "score")) return candidate;
    if (used->is_null()) used = &candidate;
  }
  return *used;
}

class GalleryMaker {
 public:
  // False where it is one too many.
  bool Add(const WrongAnswers& from, const Json& sample) {
    Json shown = Case(sample);
    const auto [place, is_new] = numbers_.try_emplace(JsonText(shown), cases_.size());
    const Json seen = {{"experiment", from.experiment}, {"passed", At(UsedCandidate(sample), "passed")}};
    if (!is_new) {
      Json& all = cases_[place->second]["seen"];
      if (std::ranges::find(all, seen) == all.end()) all.push_back(seen);
      return true;
    }
    if (cases_.size() == kMaxCases) {
      numbers_.erase(place);
      return false;
    }
    shown["picture"] = Picture(from, At(sample, "image_path"));
    shown["donor_picture"] = Picture(from, At(At(sample, "donor"), "image_path"));
    shown["seen"] = Json::array({seen});
    cases_.push_back(std::move(shown));
    return true;
  }

  Json Finish(size_t wrong, size_t left_out) {
    return {{"cases", std::move(cases_)}, {"pictures", pictures_.json()}, {"wrong", wrong}, {"left_out", left_out}};
  }

 private:
  // All that makes one case differ from another: the same may pass by other gates elsewhere.
  static Json Case(const Json& sample) {
    const Json& donor = At(sample, "donor");
    Json json = Json::object();
    for (const char* key : {"question", "response", "baseline_response", "reference", "hit_source", "class", "score",
                            "substitution", "image_path"}) {
      json[key] = At(sample, key);
    }
    json["donor_question"] = At(donor, "question");
    json["donor_image_path"] = At(donor, "image_path");
    json["layer"] = At(UsedCandidate(sample), "layer");
    json["false_hit"] = IsFalseHit(sample);
    json["wrong_donor"] = IsWrongDonor(sample);
    return json;
  }

  Json Picture(const WrongAnswers& from, const Json& path) {
    if (!path.is_string() || path.get_ref<const std::string&>().empty()) return {};
    return pictures_.Add(FindBeside(path.get<std::string>(), from.samples_file));
  }

  Json cases_ = Json::array();
  std::map<std::string, size_t> numbers_;  // of cases
  PictureBook pictures_;
};

}  // namespace

Json MakeGallery(const std::vector<WrongAnswers>& experiments) {
  GalleryMaker maker;
  size_t wrong = 0;
  size_t shown = 0;
  for (const WrongAnswers& experiment : experiments) wrong += experiment.total;
  for (size_t turn = 0; turn < kMaxWrongShown; ++turn) {
    for (const WrongAnswers& experiment : experiments) {
      if (turn < experiment.samples.size() && maker.Add(experiment, experiment.samples[turn])) ++shown;
    }
  }
  return maker.Finish(wrong, wrong - shown);
}

}  // namespace afterimage
