#include "cache/plan.h"

#include <algorithm>

namespace afterimage {
namespace {

Prediction LoadTime(const ChunkInfo& chunk, const Rates& rates) {
  return rates.Predict("load." + chunk.tier, static_cast<double>(chunk.file_bytes));
}

// The best way to serve an option with its first `n` segments put back.
Plan PlanWith(std::span<const Option> options, size_t index, size_t n, const Rates& rates, const PlanPolicy& policy) {
  const std::vector<SegmentState>& segments = options[index].state.segments;
  Plan plan;
  plan.option = index;
  plan.n_segments = n;
  int tokens = 0;
  for (size_t i = 0; i < n; ++i) {
    tokens += segments[i].n_tokens;
    plan.predicted += LoadTime(*segments[i].kv, rates);
  }
  if (n > 0) plan.predicted += rates.Predict("inject", tokens);
  for (size_t i = n; i < segments.size(); ++i) {
    const bool image = segments[i].kind == Segment::Kind::kImage;
    if (image) {
      Prediction picture = rates.Predict("encode", segments[i].n_tokens);
      if (policy.fusion_layer && segments[i].fusion.has_value()) {
        const Prediction load = LoadTime(*segments[i].fusion, rates);
        if (load.ms < picture.ms) {
          picture = load;
          plan.fusion.push_back(i);
        }
      }
      plan.predicted += picture;
    }
    plan.predicted += rates.Predict(image ? "prefill.image" : "prefill.text", segments[i].n_tokens);
  }
  const bool substituted = options[index].reuse_class != ReuseClass::kExact;
  plan.reuse_class = n > 0 || substituted   ? options[index].reuse_class
                     : !plan.fusion.empty() ? ReuseClass::kEncoder
                                            : ReuseClass::kCold;
  return plan;
}

// Whether the layers allow the first `n` segments to be put back.
bool MayPutBack(const Option& option, size_t n, const PlanPolicy& policy) {
  const std::vector<SegmentState>& segments = option.state.segments;
  if (n == 0) return true;
  if (option.equal_donor && n + 1 >= segments.size()) return true;
  if (!policy.prefix_layer) return false;
  int tokens = 0;
  bool image = false;
  for (size_t i = 0; i < n; ++i) {
    tokens += segments[i].n_tokens;
    image = image || segments[i].kind == Segment::Kind::kImage;
  }
  return image || tokens >= policy.min_prefix_tokens;
}

bool Faster(const Plan& a, const Plan& b) { return a.predicted.ms < b.predicted.ms; }

}  // namespace

size_t AllowedSegments(const Option& option, const PlanPolicy& policy) {
  size_t n = option.state.held();
  while (!MayPutBack(option, n, policy)) --n;
  return n;
}

std::vector<Plan> Decide(std::span<const Option> options, const Rates& rates, const PlanPolicy& policy) {
  std::vector<Plan> plans;  // the fastest of each option; the exact one first
  std::vector<Plan> passed_over;
  for (size_t i = 0; i < options.size(); ++i) {
    const size_t allowed = AllowedSegments(options[i], policy);
    const Plan most = PlanWith(options, i, allowed, rates, policy);
    Plan fastest = most;
    for (size_t n = allowed; n-- > 0;) {
      if (!MayPutBack(options[i], n, policy)) continue;
      Plan plan = PlanWith(options, i, n, rates, policy);
      if (Faster(plan, fastest)) fastest = std::move(plan);
    }
    // A substitute that would be computed from its first token on saves nothing and risks all.
    if (i > 0 && fastest.n_segments == 0) continue;
    if (fastest.n_segments != allowed) passed_over.push_back(most);
    plans.push_back(std::move(fastest));
  }
  const Plan exact = plans.front();
  const double needed_ms = exact.predicted.ms * (1 - policy.min_gain);
  std::ranges::sort(plans.begin() + 1, plans.end(), Faster);
  if (plans.size() > 1 && plans[1].predicted.ms <= needed_ms) std::swap(plans[0], plans[1]);
  plans.insert(plans.end(), passed_over.begin(), passed_over.end());
  if (exact.puts_back()) {
    PlanPolicy nothing = policy;
    nothing.fusion_layer = false;
    plans.push_back(PlanWith(options, 0, 0, rates, nothing));
  }
  return plans;
}

}  // namespace afterimage
