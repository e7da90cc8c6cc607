// Sampler: picks the next token from logits.
#ifndef AFTERIMAGE_ENGINE_LLAMA_SAMPLER_H_
#define AFTERIMAGE_ENGINE_LLAMA_SAMPLER_H_

#include <llama-cpp.h>

#include <span>
#include <vector>

#include "afterimage/request.h"
#include "afterimage/result.h"

namespace afterimage {

class Sampler {
 public:
  // Errors: kInvalidArgument for settings out of range.
  static Result<Sampler> Make(const Sampling& sampling);

  // Greedy: the largest logit, of equal ones the first. Otherwise llama.cpp's top-k, top-p, temperature and seeded
  // draw, in that order: equal logits and seed give equal tokens, wherever the logits came from.
  llama_token Pick(std::span<const float> logits);

 private:
  Sampler() = default;

  llama_sampler_ptr chain_;  // null: greedy
  std::vector<llama_token_data> candidates_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_SAMPLER_H_
