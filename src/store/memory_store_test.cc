#include "store/memory_store.h"

#include <gtest/gtest.h>

#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"

namespace afterimage {
namespace {

TEST(MemoryStoreTest, WhatWasNotUsedForLongGoesFirst) {
  ManualClock clock;
  const uint64_t bytes = FileBytes(MakeSample(1).header);
  MemoryStore store({.max_bytes = 3 * bytes + bytes / 2}, clock);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    ASSERT_TRUE(PutSample(store, MakeSample(seed)).ok());
    clock.AdvanceMs(1000);
  }
  EXPECT_EQ(ReadBackOf(store, MakeSample(1)), ReadBack::kEqual);
  ASSERT_TRUE(PutSample(store, MakeSample(4)).ok());
  EXPECT_FALSE(store.Find(MakeSample(2).id()).has_value());
  for (const uint64_t seed : {1, 3, 4}) EXPECT_TRUE(store.Find(MakeSample(seed).id()).has_value()) << seed;
}

TEST(MemoryStoreTest, AParentOutlivesItsChildren) {
  ManualClock clock;
  const SampleChunk parent = MakeSample(1);
  const SampleChunk child = MakeSample(2, {.parent = parent.id()});
  MemoryStore store({.max_bytes = 2 * FileBytes(parent.header) + 100}, clock);
  ASSERT_TRUE(PutSample(store, parent, 0).ok());
  ASSERT_TRUE(PutSample(store, child, 1000).ok());
  ASSERT_TRUE(PutSample(store, MakeSample(3), 1).ok());
  EXPECT_TRUE(store.Find(parent.id()).has_value());
  EXPECT_FALSE(store.Find(child.id()).has_value());
}

}  // namespace
}  // namespace afterimage
