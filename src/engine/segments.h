// CutIntoSegments: from what a tokenizer made of a prompt to the segments that are computed and stored (prompt.h).
#ifndef AFTERIMAGE_ENGINE_SEGMENTS_H_
#define AFTERIMAGE_ENGINE_SEGMENTS_H_

#include <span>
#include <vector>

#include "afterimage/prompt.h"
#include "afterimage/result.h"

namespace afterimage {

// A run of text tokens, or a picture (tile) of n_tokens rows that moves the position on by n_positions.
struct PromptPiece {
  std::vector<int32_t> tokens;  // empty: a picture
  int n_tokens = 0;
  int n_positions = 0;
  int image = -1;
  int tile = 0;
  Digest content;  // of the picture
};

// Errors: kInvalidArgument if the prompt is empty or does not end in text, so that no last token yields logits.
Result<std::vector<Segment>> CutIntoSegments(std::span<const PromptPiece> pieces);

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_SEGMENTS_H_
