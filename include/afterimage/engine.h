// Engine: runs a vision-language model, and lets its state be taken out and put back.
//
//   auto prompt = engine->Prepare(request);          // template, tokens, segments
//   auto sequence = engine->Start(**prompt);         // a place in the model's context
//   (*sequence)->Inject(chunks, logits);             // optional: stored state of the first segments
//   (*sequence)->Prefill();                          // computes what is left
//   auto answer = (*sequence)->Generate(sampling, on_text);
//   auto rows = (*sequence)->Capture(0, n);          // for storage
//
// An engine decides nothing about reuse and knows no store: it moves bytes in one canonical form (kv.h, fusion.h) and
// promises that what follows an injection equals, to the bit, what would have followed a computation.
//
// Thread safety: an Engine may be used from any thread; calls into the model take turns. A Sequence and its Prompt
// belong to one thread at a time.
#ifndef AFTERIMAGE_ENGINE_H_
#define AFTERIMAGE_ENGINE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/fusion.h"
#include "afterimage/identity.h"
#include "afterimage/kv.h"
#include "afterimage/prompt.h"
#include "afterimage/request.h"
#include "afterimage/result.h"

namespace afterimage {

struct EngineInfo {
  std::string name;   // "llama.cpp 0.5.0 (832db0699007)"
  std::string model;  // what the model calls itself
  Identity identity;
  KvLayout kv;
  int vocab_size = 0;
  int context_tokens = 0;  // per sequence
  int max_sequences = 0;
  bool vision = false;
  int encoder_dim = 0;  // values the vision encoder makes for one token of a picture; 0: no vision
  // Why state of this model is not captured or injected; empty when it is. Answers are given either way.
  std::string cache_refusal;
};

// What one sequence did so far.
struct SequenceStats {
  // One canonical step.
  struct Step {
    size_t segment = 0;
    double encode_ms = 0;
    double prefill_ms = 0;
  };

  int tokens_reused = 0;
  int tokens_computed = 0;  // of the prompt
  int tokens_generated = 0;
  int images_encoded = 0;
  int images_put_back = 0;  // prefilled from encoder output put back, encoder not run
  double encode_ms = 0;
  double prefill_ms = 0;  // without encode_ms
  double load_ms = 0;     // sources read into place
  double inject_ms = 0;   // the rest of Inject
  double decode_ms = 0;
  std::vector<Step> steps;  // the computed segments, in order
};

struct Answer {
  enum class Finish { kStop, kMaxTokens, kContextFull, kCancelled };
  std::string text;
  std::vector<int32_t> tokens;  // without the stop token
  Finish finish = Finish::kStop;
};

// Called with each piece of text as it is generated; pieces are whole UTF-8 characters. False stops the generation.
using TextCallback = std::function<bool(std::string_view piece)>;

class Sequence {
 public:
  virtual ~Sequence() = default;  // gives the place in the context back

  // Puts back stored rows of the first chunks.size() segments of the prompt. Covering the whole prompt needs its last
  // logits as well, since nothing will be computed that yields them. REQUIRES: nothing injected or computed yet.
  // Everything is read and checked before the model's state is touched: after an error the sequence is empty and can
  // be prefilled or injected again.
  // Errors: kInvalidArgument, kCorrupt (sizes that do not fit the prompt), kUnsupported (EngineInfo::cache_refusal),
  // whatever a source reports.
  virtual Status Inject(std::span<KvSource* const> chunks, std::span<const float> logits) = 0;

  // Computes the segments not injected, one canonical step each. Pictures are encoded unless the prompt holds their
  // encoder output. After an error the sequence is empty. Errors: kInternal, also for logits that are not finite.
  virtual Status Prefill() = 0;

  // The logits after the prompt's last token. [vocab_size]. REQUIRES: Prefill done, Generate not called.
  virtual std::span<const float> logits() const = 0;

  // REQUIRES: Prefill done. Called once.
  virtual Result<Answer> Generate(const Sampling& sampling, const TextCallback& on_text) = 0;

  // The rows of `count` segments from `first` on, each in canonical form. REQUIRES: Prefill done. Generated tokens
  // are never part of it: their bits come from decoding, not prefill. Errors: kUnsupported, kInternal.
  virtual Result<std::vector<std::vector<std::byte>>> Capture(size_t first, size_t count) = 0;

  virtual const SequenceStats& stats() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const EngineInfo& info() const = 0;

  // REQUIRES: the engine outlives the prompt. Errors: kInvalidArgument (a picture for a text model, an unknown chat
  // template, sampling out of range), kTooLarge (does not fit the context with one token to spare).
  virtual Result<std::unique_ptr<Prompt>> Prepare(const Request& request) = 0;

  // A place in the context for this prompt. REQUIRES: the prompt is this engine's, and both outlive the sequence.
  // Errors: kBusy when all places are taken.
  virtual Result<std::unique_ptr<Sequence>> Start(Prompt& prompt) = 0;

  virtual FusionProvider& fusion() = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_H_
