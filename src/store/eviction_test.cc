#include "store/eviction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

namespace afterimage {
namespace {

constexpr int64_t kHour = kDefaultHalfLifeNs;

Digest Id(uint32_t n) {
  Digest id;
  for (size_t i = 0; i < 4; ++i) id.bytes[i] = static_cast<uint8_t>(n >> (24 - 8 * i));
  return id;
}

struct Case {
  std::string about;
  std::vector<EvictionEntry> entries;
  EvictionLimits limits;
  std::vector<Digest> victims;
};

EvictionEntry Entry(uint32_t id, uint32_t parent, uint64_t bytes, double compute_ms, uint64_t hits = 0,
                    int64_t used_ns = 0) {
  return {.id = Id(id),
          .parent = Id(parent),
          .bytes = bytes,
          .blocks = 1,
          .compute_ms = compute_ms,
          .hits = hits,
          .used_ns = used_ns};
}

EvictionEntry Fresh(EvictionEntry entry) {
  entry.fresh = true;
  return entry;
}

EvictionEntry Tensors(EvictionEntry entry) {
  entry.blocks = 0;
  return entry;
}

std::vector<Case> Cases() {
  return {
      {"nothing to do", {Entry(1, 0, 10, 1)}, {.max_bytes = 10}, {}},
      {"no limits", {Entry(1, 0, 1000, 1)}, {}, {}},
      {"no entries", {}, {.max_bytes = 1}, {}},
      {"the cheapest to compute", {Entry(1, 0, 10, 9), Entry(2, 0, 10, 5)}, {.max_bytes = 10}, {Id(2)}},
      {"per byte", {Entry(1, 0, 100, 9), Entry(2, 0, 10, 5)}, {.max_bytes = 105}, {Id(1)}},
      {"the less used", {Entry(1, 0, 10, 5, 3), Entry(2, 0, 10, 5, 2)}, {.max_bytes = 10}, {Id(2)}},
      {"the older", {Entry(1, 0, 10, 5, 0, 1), Entry(2, 0, 10, 5, 0, 2)}, {.max_bytes = 10}, {Id(1)}},
      {"use fades", {Entry(1, 0, 10, 5, 1000, 0), Entry(2, 0, 10, 5, 0, 5 * kHour)}, {.max_bytes = 10}, {Id(1)}},
      {"but not at once", {Entry(1, 0, 10, 5, 1000, 0), Entry(2, 0, 10, 5, 0, 2 * kHour)}, {.max_bytes = 10}, {Id(2)}},
      {"older than numbers can tell",
       {Entry(1, 0, 10, 5, 0, 1), Entry(2, 0, 10, 5, 0, 0), Entry(3, 0, 10, 5, 0, INT64_MAX)},
       {.max_bytes = 20},
       {Id(2)}},
      {"equal ones by their ids", {Entry(2, 0, 10, 5), Entry(1, 0, 10, 5)}, {.max_bytes = 10}, {Id(1)}},
      {"a leaf before its cheaper parent", {Entry(1, 0, 10, 0), Entry(2, 1, 10, 100)}, {.max_bytes = 10}, {Id(2)}},
      {"a whole chain, leaf first",
       {Entry(1, 0, 10, 0), Entry(2, 1, 10, 0), Entry(3, 2, 10, 0)},
       {.max_bytes = 5},
       {Id(3), Id(2), Id(1)}},
      {"a parent stands for the child that just went",
       {Entry(1, 0, 10, 1), Entry(2, 1, 10, 50), Entry(3, 0, 10, 60)},
       {.max_bytes = 10},
       {Id(2), Id(1)}},
      {"and outlives what is worth less than both",
       {Entry(1, 0, 10, 1), Entry(2, 1, 10, 50), Entry(3, 0, 10, 51)},
       {.max_bytes = 10},
       {Id(2), Id(3)}},
      {"a parent that is not there", {Entry(1, 77, 10, 5), Entry(2, 0, 10, 6)}, {.max_bytes = 10}, {Id(1)}},
      {"what was just put goes last",
       {Fresh(Entry(1, 0, 10, 1)), Entry(2, 0, 10, 500, 100)},
       {.max_bytes = 10},
       {Id(2)}},
      {"and keeps its parent",
       {Fresh(Entry(1, 3, 10, 1)), Entry(2, 0, 10, 500, 100), Entry(3, 0, 10, 1)},
       {.max_bytes = 20},
       {Id(2)}},
      {"but goes if need be", {Fresh(Entry(1, 0, 10, 1))}, {.max_bytes = 5}, {Id(1)}},
      {"blocks", {Entry(1, 0, 10, 9), Entry(2, 0, 10, 5)}, {.max_bytes = 100, .max_blocks = 1}, {Id(2)}},
      {"tensors free no blocks",
       {Tensors(Entry(1, 0, 10, 1)), Entry(2, 0, 10, 5), Entry(3, 0, 10, 6)},
       {.max_blocks = 1},
       {Id(2)}},
      {"unless they lie above some",
       {Tensors(Entry(1, 2, 10, 1)), Entry(2, 0, 10, 5), Entry(3, 1, 10, 0)},
       {.max_blocks = 1},
       {Id(3)}},
      {"a circle is taken last",
       {Entry(1, 2, 10, 0), Entry(2, 1, 10, 0), Entry(3, 0, 10, 100)},
       {.max_bytes = 10},
       {Id(3), Id(1)}},
      {"its own parent", {Entry(1, 1, 10, 0), Entry(3, 0, 10, 100)}, {.max_bytes = 5}, {Id(3), Id(1)}},
  };
}

TEST(EvictionTest, ChoosesByTheTable) {
  for (const Case& c : Cases()) EXPECT_EQ(ChooseVictims(c.entries, c.limits), c.victims) << c.about;
}

std::vector<EvictionEntry> RandomForest(std::mt19937& random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  std::vector<EvictionEntry> entries;
  const uint32_t n = 1 + below(60);
  for (uint32_t i = 1; i <= n; ++i) {
    EvictionEntry entry = Entry(i, below(i), 1 + below(100), below(100), below(5), below(10) * kHour);
    entry.blocks = 1 + below(5);
    entry.fresh = below(8) == 0;
    entries.push_back(entry);
  }
  return entries;
}

// Three promises at once, over forests of every shape.
TEST(EvictionTest, LeavesNoOrphansReachesTheLimitsAndTakesAtMostOneMoreThanNeeded) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<EvictionEntry> entries = RandomForest(random);
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    std::map<Digest, EvictionEntry> by_id;
    for (const EvictionEntry& entry : entries) {
      bytes += entry.bytes;
      blocks += entry.blocks;
      by_id[entry.id] = entry;
    }
    const EvictionLimits limits = {.max_bytes = random() % 3 == 0 ? 0 : 1 + random() % bytes,
                                   .max_blocks = random() % 3 == 0 ? 0 : 1 + random() % blocks};
    const auto within = [&] {
      return (limits.max_bytes == 0 || bytes <= limits.max_bytes) &&
             (limits.max_blocks == 0 || blocks <= limits.max_blocks);
    };
    const std::vector<Digest> victims = ChooseVictims(entries, limits);
    for (const Digest& victim : victims) {
      EXPECT_FALSE(within()) << "one more than needed";
      ASSERT_EQ(by_id.count(victim), 1u) << "twice, or not an entry";
      for (const auto& [id, entry] : by_id) ASSERT_NE(entry.parent, victim) << "it still had a child";
      bytes -= by_id[victim].bytes;
      blocks -= by_id[victim].blocks;
      by_id.erase(victim);
    }
    EXPECT_TRUE(within());

    std::ranges::shuffle(entries, random);
    EXPECT_EQ(ChooseVictims(entries, limits), victims) << "the order of the entries does not matter";
    for (EvictionEntry& entry : entries) entry.used_ns += 100 * kHour;
    EXPECT_EQ(ChooseVictims(entries, limits), victims) << "nor how long ago all of it was";
  }
}

}  // namespace
}  // namespace afterimage
