#include "engine/llama/cache_refusal.h"

#include <fmt/format.h>

namespace afterimage {
namespace {

bool IsPlainType(const std::string& type) { return type == "f16" || type == "bf16" || type == "f32"; }

}  // namespace

ModelTraits TraitsOf(const llama_model* model) {
  ModelTraits traits;
  traits.recurrent = llama_model_is_recurrent(model);
  traits.hybrid = llama_model_is_hybrid(model);
  traits.diffusion = llama_model_is_diffusion(model);
  traits.sliding_window = llama_model_n_swa(model);
  return traits;
}

std::string CacheRefusal(const ModelTraits& traits) {
  if (traits.recurrent) return "the model is recurrent: its state cannot be cut into segments";
  if (traits.hybrid) return "the model mixes attention with recurrent layers, whose state cannot be cut into segments";
  if (traits.diffusion) return "a diffusion model rewrites its prompt state";
  if (traits.sliding_window > 0) {
    return fmt::format("the model attends through a sliding window of {} tokens: older rows are missing from its state",
                       traits.sliding_window);
  }
  if (traits.lora) return "a LoRA adapter is active: its weights are not part of the identity yet";
  for (const std::string& type : {traits.k_type, traits.v_type}) {
    if (!IsPlainType(type)) {
      return fmt::format("K/V type {}: quantised rows are stored rotated, in a way their bytes do not tell", type);
    }
  }
  if (!traits.flash_attention) return "without flash attention V is stored transposed, not in rows";
  return "";
}

}  // namespace afterimage
