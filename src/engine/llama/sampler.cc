#include "engine/llama/sampler.h"

#include <algorithm>
#include <cmath>

namespace afterimage {

Result<Sampler> Sampler::Make(const Sampling& sampling) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature)) {
    return Error{Errc::kInvalidArgument, "temperature must be 0 (greedy) or more"};
  }
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    return Error{Errc::kInvalidArgument, "top-p must be over 0, up to 1"};
  if (sampling.top_k < 0) return Error{Errc::kInvalidArgument, "top-k must be 0 (all) or more"};
  if (sampling.max_tokens < 1) return Error{Errc::kInvalidArgument, "max-tokens must be at least 1"};
  Sampler sampler;
  if (sampling.temperature > 0) {
    sampler.chain_.reset(llama_sampler_chain_init(llama_sampler_chain_default_params()));
    const auto add = [&](llama_sampler* step) { llama_sampler_chain_add(sampler.chain_.get(), step); };
    if (sampling.top_k > 0) add(llama_sampler_init_top_k(sampling.top_k));
    add(llama_sampler_init_top_p(sampling.top_p, 1));
    add(llama_sampler_init_temp(sampling.temperature));
    add(llama_sampler_init_dist(sampling.seed));
  }
  return sampler;
}

llama_token Sampler::Pick(std::span<const float> logits) {
  if (chain_ == nullptr) return static_cast<llama_token>(std::ranges::max_element(logits) - logits.begin());
  candidates_.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) candidates_[i] = {static_cast<llama_token>(i), logits[i], 0.0f};
  llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
  llama_sampler_apply(chain_.get(), &array);
  return array.data[array.selected].id;
}

}  // namespace afterimage
