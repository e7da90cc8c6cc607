// FakeEngine: an Engine without a model, for unit tests.
//
// It keeps every promise of engine.h and is deterministic. A row depends on all rows before it, the token (or the
// picture's encoder output) and the position; logits depend on all rows. So a state put back wrongly gives another
// answer, as in a real model. Times are what the test says they are: every operation moves the ManualClock.
#ifndef AFTERIMAGE_ENGINE_FAKE_FAKE_ENGINE_H_
#define AFTERIMAGE_ENGINE_FAKE_FAKE_ENGINE_H_

#include <memory>
#include <string>

#include "afterimage/engine.h"
#include "testing/manual_clock.h"

namespace afterimage {

struct FakeCosts {
  double encode_ms_per_image = 100;
  double prefill_ms_per_token = 1;
  double inject_ms_per_token = 0.01;
  double decode_ms_per_token = 5;
};

struct FakeOptions {
  std::string weights = "fake";  // stands for the content of a model file: another string is another model
  std::string build = "fake";    // stands for what shapes the last bits: another string has other numerics
  int context_tokens = 1024;
  int max_sequences = 1;
  int image_tokens = 4;
  FakeCosts costs;
};

// The tokens of text are its bytes; the template is "<role>:<content>\n" for each message, then "assistant:".
// REQUIRES: the clock outlives the engine.
std::unique_ptr<Engine> NewFakeEngine(const FakeOptions& options, ManualClock& clock);

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_FAKE_FAKE_ENGINE_H_
