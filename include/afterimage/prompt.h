// Prompt: a request as the engine will compute it, cut into segments.
//
// A segment is a run of prompt tokens with one content identity: one picture (or one tile of it), or text. Text is
// cut at pictures, every 128 tokens, and before the prompt's last token, which is a segment of its own.
//
// Segments are also the *canonical steps* of prefill: an engine computes a prompt one segment at a time, always.
// So whatever is put back from storage, the rest is computed by exactly the operations of a cold run on exactly the
// same values, and the result is the same to the bit. That the last token stands alone gives every full hit the same
// cheap last step, and keeps a run that ends a prompt (computed without its last token) apart from one that does not.
// The cost: one more step for every prompt and for every 128 tokens of text (README, measured by `bench reuse`).
#ifndef AFTERIMAGE_PROMPT_H_
#define AFTERIMAGE_PROMPT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "afterimage/digest.h"

namespace afterimage {

inline constexpr int kMaxTextSegmentTokens = 128;

struct Segment {
  enum class Kind { kText, kImage };

  Kind kind = Kind::kText;
  std::vector<int32_t> tokens;  // the token ids of text; empty for a picture
  int n_tokens = 0;             // KV rows
  int first_position = 0;       // position of the first token
  int n_positions = 0;          // what the next segment's position moves on by; differs from n_tokens under M-RoPE
  int image = -1;               // which picture of the request, in order
  int tile = 0;                 // which tile of that picture
  Digest content;               // token ids; or pixels, size, preprocessing and tile
};

// Made by Engine::Prepare, for that engine only. Holds the encoder output of its pictures once they are encoded or
// put back (fusion.h), so one prompt is used by one thread at a time.
class Prompt {
 public:
  virtual ~Prompt() = default;

  std::span<const Segment> segments() const { return segments_; }
  int n_tokens() const;
  int n_positions() const;
  // Tokens of the first `n_segments` segments.
  int n_tokens_before(size_t n_segments) const;

 protected:
  explicit Prompt(std::vector<Segment> segments) : segments_(std::move(segments)) {}

 private:
  std::vector<Segment> segments_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_PROMPT_H_
