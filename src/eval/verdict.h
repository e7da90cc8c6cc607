// Verdict: what the labels of a data set say of how one of its samples was served.
#ifndef AFTERIMAGE_EVAL_VERDICT_H_
#define AFTERIMAGE_EVAL_VERDICT_H_

#include <optional>

#include "afterimage/report.h"
#include "eval/labels.h"

namespace afterimage {

struct Verdict {
  bool labelled = false;  // there are labels for the sample
  // Of a substitution: whether it was right (Labels::Same). One of class `normalized` is: the question is the same,
  // whatever the labels know of it. nullopt: nothing was substituted, or the labels do not say.
  std::optional<bool> same;
  // Nothing was substituted and something was computed, though a layer named a candidate that would have been right,
  // refused or not. A request whose own state was all there missed nothing.
  bool missed = false;
};

Verdict JudgeReport(const Labels& labels, const LabelQuery& asked, const Report& report);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_VERDICT_H_
