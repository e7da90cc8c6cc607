// PlainRun: a prompt as llama.cpp runs it by itself, each text run in one batch, nothing captured: the baseline that
// canonical steps and hits are measured against.
#ifndef AFTERIMAGE_ENGINE_LLAMA_PLAIN_RUN_H_
#define AFTERIMAGE_ENGINE_LLAMA_PLAIN_RUN_H_

#include <vector>

#include "afterimage/clock.h"
#include "afterimage/prompt.h"
#include "afterimage/result.h"

namespace afterimage {

struct PlainRun {
  std::vector<float> logits;
  double encode_ms = 0;  // pixels to encoder output
  double prefill_ms = 0;
};

// Pictures are encoded unless the prompt holds their encoder output. Errors: kInvalidArgument if the prompt is not of a
// llama engine, kBusy, kInternal.
Result<PlainRun> RunPlain(Prompt& prompt, const Clock& clock = SteadyClock());

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_PLAIN_RUN_H_
