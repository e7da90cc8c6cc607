#include "store/eviction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "store/digest_hash.h"

namespace afterimage {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

struct Node {
  size_t parent = kNone;
  size_t n_children = 0;
  double worth = 0;  // with all children's
};

double OwnWorth(const EvictionEntry& entry, int64_t newest_ns, int64_t half_life_ns) {
  const double age = static_cast<double>(newest_ns) - static_cast<double>(entry.used_ns);
  const double use = 1 + std::log2(1 + static_cast<double>(entry.hits));
  return (1 + std::max(0.0, entry.compute_ms)) * use * std::exp2(-age / static_cast<double>(half_life_ns));
}

// The nodes of the entries, in the same order. Children are summed into their parents from the leaves up; a circle has
// no leaf and is left as it is.
std::vector<Node> MakeTree(std::span<const EvictionEntry> entries, int64_t half_life_ns) {
  std::unordered_map<Digest, size_t, DigestHash> index_of;
  int64_t newest_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < entries.size(); ++i) {
    index_of.emplace(entries[i].id, i);
    newest_ns = std::max(newest_ns, entries[i].used_ns);
  }
  std::vector<Node> nodes(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    nodes[i].worth = OwnWorth(entries[i], newest_ns, half_life_ns);
    const auto parent = index_of.find(entries[i].parent);
    if (parent == index_of.end()) continue;
    nodes[i].parent = parent->second;
    ++nodes[parent->second].n_children;
  }
  std::vector<size_t> open(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) open[i] = nodes[i].n_children;
  std::vector<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (open[i] == 0) ready.push_back(i);
  }
  // In the order of ids, so that sums round alike whatever the order of the entries.
  const auto by_id = [&](size_t i) -> const Digest& { return entries[i].id; };
  while (!ready.empty()) {
    std::ranges::sort(ready, {}, by_id);
    std::vector<size_t> next;
    for (const size_t i : ready) {
      const size_t parent = nodes[i].parent;
      if (parent == kNone) continue;
      nodes[parent].worth += nodes[i].worth;
      if (--open[parent] == 0) next.push_back(parent);
    }
    ready = std::move(next);
  }
  return nodes;
}

// Takes leaves from a forest, those of least worth per byte first, until the limits hold.
class Chooser {
 public:
  Chooser(std::span<const EvictionEntry> entries, const EvictionLimits& limits, std::vector<Node> nodes)
      : entries_(entries), limits_(limits), nodes_(std::move(nodes)), gone_(entries.size(), false) {
    for (const EvictionEntry& entry : entries) {
      bytes_ += entry.bytes;
      blocks_ += entry.blocks;
    }
  }

  std::vector<Digest> Choose() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].n_children == 0) leaves_.push(i);
    }
    std::vector<size_t> aside;
    while (TooMany() && !leaves_.empty()) {
      const size_t leaf = leaves_.top();
      leaves_.pop();
      const bool helps = TooManyBytes() || entries_[leaf].blocks > 0;  // a chunk of tensors frees no blocks
      helps ? Evict(leaf) : aside.push_back(leaf);
    }
    // Still too many: there is more only above those set aside, and in circles.
    for (const size_t leaf : aside) leaves_.push(leaf);
    while (TooMany() && !leaves_.empty()) {
      const size_t leaf = leaves_.top();
      leaves_.pop();
      Evict(leaf);
    }
    std::vector<size_t> rest;
    for (size_t i = 0; i < nodes_.size() && TooMany(); ++i) {
      if (!gone_[i]) rest.push_back(i);
    }
    std::ranges::sort(rest, {}, [&](size_t i) { return Rank(i); });
    for (size_t i = 0; i < rest.size() && TooMany(); ++i) {
      if (!gone_[rest[i]]) Evict(rest[i]);
    }
    return std::move(victims_);
  }

 private:
  // Whether a goes after b.
  struct GoesLater {
    const Chooser& chooser;
    bool operator()(size_t a, size_t b) const { return chooser.Rank(a) > chooser.Rank(b); }
  };

  std::tuple<bool, double, int64_t, Digest> Rank(size_t i) const {
    const EvictionEntry& entry = entries_[i];
    return {entry.fresh, nodes_[i].worth / static_cast<double>(std::max<uint64_t>(entry.bytes, 1)), entry.used_ns,
            entry.id};
  }

  bool TooManyBytes() const { return limits_.max_bytes != 0 && bytes_ > limits_.max_bytes; }
  bool TooMany() const { return TooManyBytes() || TooManyBlocks(); }
  bool TooManyBlocks() const { return limits_.max_blocks != 0 && blocks_ > limits_.max_blocks; }

  void Evict(size_t i) {
    gone_[i] = true;
    victims_.push_back(entries_[i].id);
    bytes_ -= entries_[i].bytes;
    blocks_ -= entries_[i].blocks;
    const size_t parent = nodes_[i].parent;
    if (parent != kNone && --nodes_[parent].n_children == 0 && !gone_[parent]) leaves_.push(parent);
  }

  const std::span<const EvictionEntry> entries_;
  const EvictionLimits limits_;
  std::vector<Node> nodes_;
  std::vector<bool> gone_;
  std::vector<Digest> victims_;
  uint64_t bytes_ = 0;
  uint64_t blocks_ = 0;
  std::priority_queue<size_t, std::vector<size_t>, GoesLater> leaves_{GoesLater{*this}};
};

}  // namespace

std::vector<Digest> ChooseVictims(std::span<const EvictionEntry> entries, const EvictionLimits& limits,
                                  int64_t half_life_ns) {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  for (const EvictionEntry& entry : entries) {
    bytes += entry.bytes;
    blocks += entry.blocks;
  }
  const bool within =
      (limits.max_bytes == 0 || bytes <= limits.max_bytes) && (limits.max_blocks == 0 || blocks <= limits.max_blocks);
  if (within) return {};
  return Chooser(entries, limits, MakeTree(entries, half_life_ns)).Choose();
}

}  // namespace afterimage
