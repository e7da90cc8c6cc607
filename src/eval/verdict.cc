#include "eval/verdict.h"

#include <algorithm>

namespace afterimage {
namespace {

// A candidate is not yet a substitution. A text layer would put in the donor's question; if the donor's picture is
// another, that too. An embedding layer may look at text, pictures or both, and the report does not say which: it would
// have been right if either the whole donor or its picture alone would have been.
bool WouldBeRight(const Labels& labels, const LabelQuery& asked, const LayerReport& layer,
                  const CandidateReport& candidate) {
  if (candidate.reuse_class == ReuseClass::kExact) return false;  // the request itself is no substitute
  if (candidate.reuse_class == ReuseClass::kNormalized) return true;
  const std::vector<std::string>& paths = candidate.donor.image_paths;
  const bool other_picture = (paths.empty() ? "" : paths.front()) != asked.image_path;
  const auto same = [&](bool question) {
    return labels.Same(asked, candidate.donor, question, other_picture).value_or(false);
  };
  return same(true) || (other_picture && layer.key.starts_with("embedding:") && same(false));
}

bool AnyWouldBeRight(const Labels& labels, const LabelQuery& asked, const Report& report) {
  return std::ranges::any_of(report.layers, [&](const LayerReport& layer) {
    return std::ranges::any_of(layer.candidates, [&](const CandidateReport& candidate) {
      return WouldBeRight(labels, asked, layer, candidate);
    });
  });
}

}  // namespace

Verdict JudgeReport(const Labels& labels, const LabelQuery& asked, const Report& report) {
  Verdict verdict;
  verdict.labelled = labels.Knows(asked.id);
  if (report.substitution.empty() || !report.donor.has_value()) {
    verdict.missed = report.stats.tokens_computed > 0 && AnyWouldBeRight(labels, asked, report);
  } else if (report.reuse_class == ReuseClass::kNormalized) {
    verdict.same = true;
  } else {
    const bool question = report.substitution.starts_with("question");
    const bool picture = report.substitution.ends_with("picture");
    verdict.same = labels.Same(asked, *report.donor, question, picture);
  }
  return verdict;
}

}  // namespace afterimage
