#include "afterimage/report.h"

namespace afterimage {

std::string_view Name(ReuseClass reuse_class) {
  switch (reuse_class) {
    case ReuseClass::kExact:
      return "exact";
    case ReuseClass::kNormalized:
      return "normalized";
    case ReuseClass::kApproximate:
      return "approximate";
    case ReuseClass::kEncoder:
      return "encoder";
    case ReuseClass::kCold:
      return "cold";
  }
  return "?";
}

std::string_view Name(LayerStatus status) {
  switch (status) {
    case LayerStatus::kHit:
      return "hit";
    case LayerStatus::kMiss:
      return "miss";
    case LayerStatus::kSkip:
      return "skip";
    case LayerStatus::kRefused:
      return "refused";
  }
  return "?";
}

const LayerReport* Report::layer(std::string_view key) const {
  for (const LayerReport& layer : layers) {
    if (layer.key == key) return &layer;
  }
  return nullptr;
}

}  // namespace afterimage
