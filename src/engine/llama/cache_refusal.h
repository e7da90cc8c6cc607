// What kind of state a model keeps, and whether the adapter understands it.
#ifndef AFTERIMAGE_ENGINE_LLAMA_CACHE_REFUSAL_H_
#define AFTERIMAGE_ENGINE_LLAMA_CACHE_REFUSAL_H_

#include <llama.h>

#include <string>

namespace afterimage {

struct ModelTraits {
  bool recurrent = false;
  bool hybrid = false;
  bool diffusion = false;
  int sliding_window = 0;  // tokens; 0: full attention
  std::string k_type = "f16";
  std::string v_type = "f16";
  bool flash_attention = true;
  bool lora = false;
};

// The model's own part of the traits.
ModelTraits TraitsOf(const llama_model* model);

// Why a model of these traits is not cached, as a sentence; empty if it is.
std::string CacheRefusal(const ModelTraits& traits);

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_CACHE_REFUSAL_H_
