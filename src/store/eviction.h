// Eviction: which chunks to forget when there are too many. Pure: no store, no clock, no files.
//
// Chunks form trees: a chunk is of use only with its parent, the segment before. So only a chunk without children may
// go (leaf-first), and what is worth least per byte goes first. Worth is the time it would take to compute the chunk
// again, times how often it was used, and halves with every half-life since it was last used:
//
//   worth = (1 + compute_ms) * (1 + log2(1 + hits)) * 2^(-age / half_life), plus the worth of its children
//
// A chunk whose last child goes stands for that child's worth still: the next request of that kind begins with it.
// Hits count by their logarithm, so that what was popular long ago fades within hours. Ages are taken against the
// chunk used last, since a factor common to all changes no order.
//
// Cost: O(n log n) in all entries, about 1 us each; so a store should free a little more than it must (FreeTo).
// Rejected: LRU (an encoder's picture costs a hundred times the question behind it, and both look alike to LRU).
#ifndef AFTERIMAGE_STORE_EVICTION_H_
#define AFTERIMAGE_STORE_EVICTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "afterimage/digest.h"

namespace afterimage {

struct EvictionEntry {
  Digest id;
  Digest parent;  // zeros, or one that is not among the entries: the chunk is a root
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  double compute_ms = 0;
  uint64_t hits = 0;
  int64_t used_ns = 0;
  bool fresh = false;  // just put: goes only when nothing else is left, or it could never earn its first hit
};

// 0: no limit.
struct EvictionLimits {
  uint64_t max_bytes = 0;
  uint64_t max_blocks = 0;
};

inline constexpr int64_t kDefaultHalfLifeNs = int64_t{3600} * 1'000'000'000;

// The chunks to forget so that the rest is within the limits, children before parents; none if it already is. At most
// one more than needed. The same entries give the same answer, in whatever order they come. Parents in a circle, which
// only damage can make, are taken last. REQUIRES: no id twice.
std::vector<Digest> ChooseVictims(std::span<const EvictionEntry> entries, const EvictionLimits& limits,
                                  int64_t half_life_ns = kDefaultHalfLifeNs);

// The limit to free down to when `limit` is exceeded: a little less, so that not every Put has to choose.
constexpr uint64_t FreeTo(uint64_t limit) { return limit - limit / 64; }

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_EVICTION_H_
