#include "cache/judge.h"

#include <fmt/format.h>

#include "core/normalized_text.h"

namespace afterimage {

std::string Name(License license) {
  if (license.question) return license.picture ? "question and picture" : "question";
  return license.picture ? "picture" : "";
}

License Judge::LicenseOf(const Candidate& candidate, const Asked& asked, const Layer& layer) const {
  License license;
  license.question =
      candidate.record.text != asked.text && (layer.modality() != Modality::kImage || options_.license_whole);
  const bool with_picture =
      layer.modality() != Modality::kText || options_.license_whole || options_.image_gate == ImageGate::kOff;
  license.picture = candidate.pictures != asked.pictures && with_picture;
  return license;
}

std::string Judge::RefuseThreshold(const Candidate& candidate, const Layer& layer, CandidateReport& report) const {
  if (candidate.score < layer.threshold()) {
    return fmt::format("threshold: {:.3f} is under {:.3f}", candidate.score, layer.threshold());
  }
  if (layer.threshold() > 0) {
    report.passed.push_back(fmt::format("threshold: {:.3f}, at least {:.3f}", candidate.score, layer.threshold()));
  }
  return "";
}

std::string Judge::RefusePictures(const Candidate& candidate, const Asked& asked, const Layer& layer, License license,
                                  CandidateReport& report) const {
  if (candidate.pictures == asked.pictures) return "";
  if (!license.picture) return "image gate: another picture";
  if (candidate.pictures.size() != asked.pictures.size() || candidate.record.sizes.size() != asked.pictures.size()) {
    return "image gate: another number of pictures";
  }
  if (options_.oracle || options_.image_gate == ImageGate::kOff) return "";
  if (options_.image_gate == ImageGate::kExact) return "image gate: another picture";
  if (layer.modality() != Modality::kText && candidate.score < options_.near_score) {
    return fmt::format("image gate: a score of {:.3f} is under {:.3f}", candidate.score, options_.near_score);
  }
  double largest = 0;
  for (size_t i = 0; i < asked.pictures.size(); ++i) {
    if (candidate.pictures[i] == asked.pictures[i]) continue;
    const std::optional<double> difference = compare_(i, candidate.pictures[i]);
    if (!difference.has_value()) return "image gate: nothing is kept to compare the pictures with";
    largest = std::max(largest, *difference);
  }
  if (largest > options_.near_local) {
    return fmt::format("image gate: one place differs by {:.1f}, more than {:.1f}", largest, options_.near_local);
  }
  report.passed.push_back(
      fmt::format("image gate: no place differs by more than {:.1f}, at most {:.1f}", largest, options_.near_local));
  return "";
}

std::string Judge::RefuseQuestion(const Candidate& candidate, const Asked& asked, CandidateReport& report) const {
  if (guard_ == nullptr || options_.oracle || report.reuse_class == ReuseClass::kNormalized) return "";
  std::string why = guard_->Refuse(asked.question, candidate.record.donor.question);
  if (!why.empty()) return "text guard: " + why;
  report.passed.emplace_back("text guard");
  return "";
}

std::string Judge::Refuse(const Candidate& candidate, const Asked& asked, const Layer& layer,
                          CandidateReport& report) const {
  const License license = LicenseOf(candidate, asked, layer);
  if (!options_.oracle) {
    if (std::string why = RefuseThreshold(candidate, layer, report); !why.empty()) return why;
  }
  if (std::string why = RefusePictures(candidate, asked, layer, license, report); !why.empty()) return why;
  if (!license.question && !license.picture) {
    // Nothing is left to substitute: a picture layer found this very picture, or the question and the pictures are
    // equal and what stands before them differs.
    return layer.modality() == Modality::kImage ? "the same picture: nothing to substitute"
                                                : "another conversation before the question";
  }
  if (license.question) {
    if (std::string why = RefuseQuestion(candidate, asked, report); !why.empty()) return why;
  }
  if (report.reuse_class > options_.loosest) {
    return fmt::format("class {}, and --reuse allows {} at most", Name(report.reuse_class), Name(options_.loosest));
  }
  if (!options_.oracle || report.reuse_class == ReuseClass::kNormalized) return "";
  const std::optional<bool> right =
      options_.oracle(*asked.query, candidate.record.donor, license.question, license.picture);
  if (!right.has_value()) return "oracle: nothing is known about it";
  if (!*right) return "oracle: the labels say that they are not the same";
  report.passed.emplace_back("oracle");
  return "";
}

CandidateReport Judge::Report(const Candidate& candidate, const Asked& asked, const Layer& layer) const {
  CandidateReport report;
  report.donor = candidate.record.donor;
  report.score = candidate.score;
  report.substitution = Name(LicenseOf(candidate, asked, layer));
  if (layer.modality() != Modality::kImage || options_.license_whole) {
    const bool same_question = NormalizedText(candidate.record.text) == NormalizedText(asked.text);
    const bool same_pictures = candidate.pictures == asked.pictures;
    report.reuse_class = candidate.leaf == asked.leaf     ? ReuseClass::kExact
                         : same_question && same_pictures ? ReuseClass::kNormalized
                                                          : ReuseClass::kApproximate;
  }
  if (report.reuse_class != ReuseClass::kExact) report.refused = Refuse(candidate, asked, layer, report);
  return report;
}

}  // namespace afterimage
