// What the report says of plans and layers.
#include <fmt/format.h>

#include <algorithm>

#include "cache/cache_impl.h"

namespace afterimage {
namespace {

std::string Ms(const Prediction& prediction) {
  return fmt::format("{:.1f} ms{}", prediction.ms, prediction.measured ? "" : " (a guess)");
}

bool CoversPicture(const StoredState& state, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (state.segments[i].kind == Segment::Kind::kImage) return true;
  }
  return false;
}

// Whether the plan puts back all a request needs, up to its last token.
bool Whole(const Plan& plan, const StoredState& state) { return plan.n_segments + 1 >= state.segments.size(); }

PlanReport Describe(const Plan& plan, const Option& option, const std::string& substitution) {
  PlanReport report;
  report.reuse_class = plan.reuse_class;
  report.substitution = substitution;
  report.segments_reused = static_cast<int>(plan.n_segments);
  for (size_t i = 0; i < option.state.segments.size(); ++i) {
    const SegmentState& segment = option.state.segments[i];
    if (i < plan.n_segments) {
      report.tokens_reused += segment.n_tokens;
      report.bytes += segment.kv->file_bytes;
    } else {
      report.tokens_computed += segment.n_tokens;
      report.images_encoded += segment.kind == Segment::Kind::kImage ? 1 : 0;
    }
  }
  for (const size_t i : plan.fusion) {
    --report.images_encoded;
    ++report.images_put_back;
    report.bytes += option.state.segments[i].fusion->file_bytes;
  }
  if (plan.predicted.measured) report.predicted_ms = plan.predicted.ms;
  return report;
}

// Why the plan taken does not put back what is stored.
std::string Declined(const Plan& taken, std::span<const Plan> plans, size_t option) {
  for (const Plan& plan : plans) {
    if (plan.option == option && plan.n_segments > taken.n_segments) {
      return fmt::format("planner: loading takes {}, computing {}", Ms(plan.predicted), Ms(taken.predicted));
    }
  }
  return fmt::format("planner: the plan taken is predicted to take {}", Ms(taken.predicted));
}

}  // namespace

void CacheImpl::ReportPlans(const Resolved& resolved, std::span<const Plan> plans, const Status& status,
                            Report& report) const {
  for (size_t i = 0; i < (status.ok() ? plans.size() : 1); ++i) {
    const Plan& plan = plans[i];
    PlanReport described = Describe(plan, resolved.options[plan.option], resolved.choices[plan.option].substitution);
    if (i == 0) {
      described.outcome = !status.ok() ? "failed: " + status.error().message : live() ? "used" : "not done: a dry run";
    } else if (plan.predicted.ms >= plans[0].predicted.ms) {
      described.outcome = fmt::format("slower: {} against {}", Ms(plan.predicted), Ms(plans[0].predicted));
    } else {
      described.outcome = "gains too little for a substitution";
    }
    report.plans.push_back(std::move(described));
  }
}

void CacheImpl::ExplainSlot(size_t slot, const Resolved& resolved, std::span<const Plan> plans, bool by_donor,
                            Report& report) const {
  const Plan& plan = plans.front();
  const Choice& choice = resolved.choices[plan.option];
  LayerReport& layer = report.layers[slot];
  const auto is_source = [&](const Source& source) { return source.slot == slot; };
  if (by_donor && std::ranges::any_of(choice.sources, is_source)) {
    layer.status = LayerStatus::kHit;
    return;
  }
  const auto found = [&](const CandidateReport& candidate) { return candidate.score >= layer.threshold; };
  const auto first = std::ranges::find_if(layer.candidates, found);
  if (first == layer.candidates.end()) return;  // as it was: a miss, or not asked
  layer.status = LayerStatus::kRefused;
  const auto admitted = [&](const CandidateReport& candidate) { return candidate.refused.empty(); };
  const bool any = std::ranges::any_of(layer.candidates, admitted);
  layer.reason = any ? Declined(plan, plans, 0) : first->refused;
}

void CacheImpl::Explain(const Resolved& resolved, std::span<const Plan> plans, Report& report) const {
  const Plan& plan = plans.front();
  const Option& option = resolved.options[plan.option];
  const Choice& choice = resolved.choices[plan.option];
  LayerReport& prefix = report.layers[slots_.size()];
  LayerReport& fusion = report.layers[slots_.size() + 1];
  LayerReport& kv_cache = report.layers[slots_.size() + 2];

  const bool whole = option.equal_donor && Whole(plan, option.state);
  const bool by_donor = !choice.sources.empty() && (plan.option != 0 ? plan.puts_back() : plan.n_segments > 0 && whole);
  for (size_t i = 0; i < slots_.size(); ++i) ExplainSlot(i, resolved, plans, by_donor, report);
  if (by_donor) {
    const Source& source = *std::ranges::min_element(choice.sources, {}, &Source::slot);
    report.provenance = slots_[source.slot].layer->provenance();
    // Where the question is another's, that one is answered; the picture may have come from somebody else.
    const bool other_question = choice.substitution.starts_with("question");
    report.donor = other_question ? choice.record.donor : source.candidate.donor;
    report.score = source.candidate.score;
    report.substitution = choice.substitution;
  }

  if (!options_.prefix_layer) {
    prefix.reason = "switched off";
  } else if (by_donor && (whole || plan.n_segments == 0)) {
    prefix.reason = "not needed";
  } else if (plan.n_segments > 0) {
    prefix.status = LayerStatus::kHit;
    if (!by_donor) report.provenance = CoversPicture(option.state, plan.n_segments) ? "prefix:image" : "prefix:text";
  } else if (AllowedSegments(option, {.min_prefix_tokens = options_.min_prefix_tokens}) > 0) {
    prefix.status = LayerStatus::kRefused;
    prefix.reason = Declined(plan, plans, plan.option);
  } else {
    prefix.status = LayerStatus::kMiss;
  }

  size_t n_left = 0;  // pictures the plan computes over
  size_t n_held = 0;
  for (size_t i = plan.n_segments; i < option.state.segments.size(); ++i) {
    n_left += option.state.segments[i].kind == Segment::Kind::kImage ? 1 : 0;
    n_held += option.state.segments[i].fusion.has_value() ? 1 : 0;
  }
  if (!options_.fusion_layer) {
    fusion.reason = "switched off";
  } else if (n_left == 0) {
    fusion.reason = "not needed";
  } else if (!plan.fusion.empty()) {
    fusion.status = LayerStatus::kHit;
    if (plan.n_segments == 0 && !by_donor) report.provenance = "fusion";
  } else {
    fusion.status = n_held > 0 ? LayerStatus::kRefused : LayerStatus::kMiss;
    if (n_held > 0) fusion.reason = "planner: encoding is predicted to be faster than loading";
  }

  kv_cache.status = plan.n_segments > 0 ? LayerStatus::kHit : LayerStatus::kMiss;
  if (!live()) {
    kv_cache = {.key = kv_cache.key, .status = LayerStatus::kSkip, .reason = "a dry run"};
    report.provenance.clear();
    report.substitution.clear();
  }
}

}  // namespace afterimage
