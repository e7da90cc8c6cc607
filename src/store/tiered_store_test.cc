#include "store/tiered_store.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"

namespace afterimage {
namespace {

class TieredStoreTest : public testing::Test {
 protected:
  ManualClock clock_;
  MemoryStore fast_{{.max_bytes = 3000}, clock_};
  MemoryStore slow_{{}, clock_};
  TieredStore store_{fast_, slow_};
};

TEST_F(TieredStoreTest, WhatIsPutLiesInBothAndComesFromTheFastOne) {
  ASSERT_TRUE(PutSample(store_, MakeSample(1)).ok());
  EXPECT_EQ(ReadBackOf(store_, MakeSample(1)), ReadBack::kEqual);
  EXPECT_EQ(slow_.stats().chunks, 1u);
  EXPECT_EQ(slow_.stats().bytes_read, 0u);
  EXPECT_GT(store_.stats().bytes_read, 0u);
}

TEST_F(TieredStoreTest, WhatWasReadFromTheSlowOneIsInTheFastOneAfterwards) {
  ASSERT_TRUE(PutSample(slow_, MakeSample(1), 7).ok());
  auto found = store_.Get(MakeSample(1).id());
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_FALSE(fast_.Find(MakeSample(1).id()).has_value()) << "not before its bytes were checked";
  EXPECT_EQ(ReadSample(***found, MakeSample(1)), ReadBack::kEqual);
  ASSERT_TRUE(fast_.Find(MakeSample(1).id()).has_value());
  EXPECT_EQ(fast_.Find(MakeSample(1).id())->compute_ms, 7);
  EXPECT_EQ(ReadBackOf(fast_, MakeSample(1)), ReadBack::kEqual);
}

TEST_F(TieredStoreTest, AChunkTooLargeForTheFastOneIsServedFromTheSlowOne) {
  const SampleChunk large = MakeSample(1, {.rows_bytes = 5000});
  ASSERT_TRUE(PutSample(store_, large).ok());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ReadBackOf(store_, large), ReadBack::kEqual);
  EXPECT_EQ(fast_.stats().chunks, 0u);
}

TEST_F(TieredStoreTest, AnOldChunkInTheFastOneDoesNotHideItsReplacement) {
  const SampleChunk middle = MakeSample(1, {.n_logits = 0});
  const SampleChunk end = MakeSample(1, {.n_logits = 1000});  // too large for the fast one
  ASSERT_TRUE(PutSample(store_, middle).ok());
  ASSERT_TRUE(PutSample(store_, end).ok());
  EXPECT_EQ(ReadBackOf(store_, end), ReadBack::kEqual);
  EXPECT_EQ(store_.Find(end.id())->logits_bytes, 4000u);
}

TEST_F(TieredStoreTest, EraseForgetsInBoth) {
  ASSERT_TRUE(PutSample(store_, MakeSample(1)).ok());
  ASSERT_TRUE(store_.Erase(MakeSample(1).id()).ok());
  EXPECT_EQ(fast_.stats().chunks + slow_.stats().chunks, 0u);
}

}  // namespace
}  // namespace afterimage
