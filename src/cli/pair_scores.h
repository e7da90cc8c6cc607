// Labelled pairs, scored by the layers of a cache the way the cache would score them, and judged by its gates.
//
// A layer can judge a pair that differs in nothing but what it looks at: a layer of texts, other questions about the
// same picture; a layer of pictures, the same question about another picture; one of both, either. The image gate's
// local difference (gates/picture_signature.h) is scored beside the layers, as `local`.
#ifndef AFTERIMAGE_CLI_PAIR_SCORES_H_
#define AFTERIMAGE_CLI_PAIR_SCORES_H_

#include <span>
#include <vector>

#include "afterimage/cache.h"
#include "data/labelled_pairs.h"
#include "eval/calibrate.h"
#include "eval/prompt_text.h"

namespace afterimage {

// One input a layer, in the order of the cache's layers, then `local`. A pair that has nothing for a layer (no picture)
// is not among its pairs. Errors: a picture's, an encoder's, the hook's, the lexicon's.
Result<std::vector<CalibrationInput>> ScorePairs(std::span<const LabelledPair> pairs, const CacheOptions& options,
                                                 ChunkSource chunk_source);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_PAIR_SCORES_H_
