#include "cache/plan.h"

#include <algorithm>
#include <optional>

namespace afterimage {
namespace {

Prediction LoadTime(const ChunkInfo& chunk, const Rates& rates) {
  return rates.Predict("load." + chunk.tier, static_cast<double>(chunk.file_bytes));
}

// The best way to serve an option with its first `n` segments put back; nullopt if a picture is missing that cannot be
// encoded.
std::optional<Plan> PlanWith(std::span<const Option> options, size_t index, size_t n, const Rates& rates,
                             const PlanPolicy& policy) {
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
        if (load.ms < picture.ms || options[index].other_picture) {
          picture = load;
          plan.fusion.push_back(i);
        }
      }
      if (options[index].other_picture && (plan.fusion.empty() || plan.fusion.back() != i)) return std::nullopt;
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
  int tokens = 0;
  bool image = false;
  for (size_t i = 0; i < n; ++i) {
    tokens += segments[i].n_tokens;
    image = image || segments[i].kind == Segment::Kind::kImage;
  }
  if (image && option.other_picture) return true;
  return policy.prefix_layer && (image || tokens >= policy.min_prefix_tokens);
}

bool Faster(const Plan& a, const Plan& b) { return a.predicted.ms < b.predicted.ms; }

// From the strictest on.
int Looseness(const Option& option) {
  switch (option.reuse_class) {
    case ReuseClass::kExact:
      return 0;
    case ReuseClass::kNormalized:
      return 1;
    default:
      return 1 + option.n_substituted;
  }
}

// A request that comes from nobody is not found at all.
bool BetterFound(const Option& a, const Option& b) {
  const bool found_b = b.equal_donor || b.n_substituted > 0;
  if (!found_b || a.score != b.score) return !found_b || a.score > b.score;
  return a.rank < b.rank;
}

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
    std::optional<Plan> most;  // puts back as many segments as may be
    std::optional<Plan> fastest;
    for (size_t n = AllowedSegments(options[i], policy) + 1; n-- > 0;) {
      if (!MayPutBack(options[i], n, policy)) continue;
      const std::optional<Plan> plan = PlanWith(options, i, n, rates, policy);
      if (!plan.has_value()) continue;
      if (!most.has_value()) most = plan;
      if (!fastest.has_value() || Faster(*plan, *fastest)) fastest = plan;
    }
    // A substitute that would be computed from its first token on saves nothing and risks all.
    if (i > 0 && (!fastest.has_value() || !fastest->puts_back())) continue;
    if (fastest->n_segments != most->n_segments) passed_over.push_back(*most);
    plans.push_back(std::move(*fastest));
  }
  const Plan exact = plans.front();
  const double gain_ms = exact.predicted.ms * policy.min_gain + policy.min_gain_ms;
  const auto by_looseness_then_time = [&](const Plan& a, const Plan& b) {
    const int loose_a = Looseness(options[a.option]);
    const int loose_b = Looseness(options[b.option]);
    return loose_a != loose_b ? loose_a < loose_b : Faster(a, b);
  };
  std::ranges::sort(plans.begin() + 1, plans.end(), by_looseness_then_time);
  size_t best = 0;
  for (size_t i = 1; i < plans.size() && policy.greedy; ++i) {
    if (BetterFound(options[plans[i].option], options[plans[best].option])) best = i;
  }
  for (size_t i = 1; i < plans.size() && !policy.greedy; ++i) {
    const bool looser = Looseness(options[plans[i].option]) > Looseness(options[plans[best].option]);
    if (looser && plans[i].predicted.ms <= plans[best].predicted.ms - gain_ms) best = i;
  }
  std::rotate(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(best),
              plans.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  plans.insert(plans.end(), passed_over.begin(), passed_over.end());
  if (exact.puts_back()) {
    PlanPolicy nothing = policy;
    nothing.fusion_layer = false;
    plans.push_back(*PlanWith(options, 0, 0, rates, nothing));
  }
  return plans;
}

}  // namespace afterimage
