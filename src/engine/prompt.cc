#include "afterimage/prompt.h"

#include <cassert>

namespace afterimage {

int Prompt::n_tokens() const { return n_tokens_before(segments_.size()); }

int Prompt::n_positions() const {
  return segments_.empty() ? 0 : segments_.back().first_position + segments_.back().n_positions;
}

int Prompt::n_tokens_before(size_t n_segments) const {
  assert(n_segments <= segments_.size());
  int n = 0;
  for (size_t i = 0; i < n_segments; ++i) n += segments_[i].n_tokens;
  return n;
}

}  // namespace afterimage
