// The promises of chunk_store.h as tests, run over every store.
//
// Include in one test file per store and instantiate:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(StoreCase{...}), StoreCaseName);
#ifndef AFTERIMAGE_TESTING_STORE_CONTRACT_H_
#define AFTERIMAGE_TESTING_STORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "store/chunk_store.h"
#include "testing/sample_chunk.h"

namespace afterimage {

struct StoreCase {
  std::string name;
  // A new, empty store with these limits (0: none), and whatever it needs to live.
  std::function<std::shared_ptr<ChunkStore>(uint64_t max_bytes, uint64_t max_blocks)> make;
};

inline std::string StoreCaseName(const testing::TestParamInfo<StoreCase>& info) { return info.param.name; }
inline std::ostream& operator<<(std::ostream& out, const StoreCase& store) { return out << store.name; }

class StoreContract : public testing::TestWithParam<StoreCase> {
 protected:
  std::shared_ptr<ChunkStore> Make(uint64_t max_bytes = 0, uint64_t max_blocks = 0) const {
    return GetParam().make(max_bytes, max_blocks);
  }
};

TEST_P(StoreContract, GetOfAbsentKeyIsAMissNotAnError) {
  const auto store = Make();
  const auto found = store->Get(MakeSample(1).id());
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
  EXPECT_FALSE(store->Find(MakeSample(1).id()).has_value());
}

TEST_P(StoreContract, WhatWasPutIsSeenAtOnceAndComesBackEqual) {
  const auto store = Make();
  const SampleChunk chunk = MakeSample(1);
  const SampleChunk no_logits = MakeSample(2, {.rows_bytes = 1, .n_logits = 0});
  const SampleChunk tensors = MakeSample(3, {.rows_bytes = 4000, .fusion = true});
  const SampleChunk large = MakeSample(4, {.rows_bytes = 3000001, .n_logits = 5000});
  for (const SampleChunk* sample : {&chunk, &no_logits, &tensors, &large}) {
    ASSERT_TRUE(PutSample(*store, *sample, 12.5).ok());
    EXPECT_EQ(ReadBackOf(*store, *sample), ReadBack::kEqual) << "before it is flushed";
  }
  ASSERT_TRUE(store->Flush().ok());
  for (const SampleChunk* sample : {&chunk, &no_logits, &tensors, &large}) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(ReadBackOf(*store, *sample), ReadBack::kEqual);
    const std::optional<ChunkInfo> info = store->Find(sample->id());
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->kind, sample->header.kind);
    EXPECT_EQ(info->numerics, sample->header.numerics);
    EXPECT_EQ(info->n_tokens, sample->header.n_tokens);
    EXPECT_EQ(info->file_bytes, FileBytes(sample->header));
    EXPECT_EQ(info->logits_bytes, sample->header.logits_bytes);
    EXPECT_EQ(info->compute_ms, 12.5);
    EXPECT_NE(info->tier, "");
  }
}

TEST_P(StoreContract, LogitsMayBeDropped) {
  const auto store = Make();
  const SampleChunk chunk = MakeSample(1);
  ASSERT_TRUE(PutSample(*store, chunk).ok());
  for (int i = 0; i < 2; ++i) {
    auto found = store->Get(chunk.id());
    ASSERT_TRUE(found.ok() && found->has_value());
    std::vector<std::byte> rows(chunk.rows.size());
    const std::vector<std::span<std::byte>> parts = {rows};
    ASSERT_TRUE((**found)->Read(parts, nullptr).ok());
    EXPECT_EQ(rows, chunk.rows);
    ASSERT_TRUE(store->Flush().ok());
  }
  EXPECT_EQ(ReadBackOf(*store, chunk), ReadBack::kEqual) << "dropped by the reader, not by the store";
}

TEST_P(StoreContract, AChunkWithLogitsIsReplacedOnlyIfItsNumericsDiffer) {
  const auto store = Make();
  const SampleChunk first = MakeSample(1);
  SampleChunk same_numerics = first;
  same_numerics.rows[0] ^= std::byte{1};
  const SampleChunk other = MakeSample(1, {.numerics = 2});
  ASSERT_EQ(other.id(), first.id());
  for (const bool flush : {false, true}) {
    ASSERT_TRUE(PutSample(*store, first).ok());
    if (flush) {
      ASSERT_TRUE(store->Flush().ok());
    }
    ASSERT_TRUE(PutSample(*store, same_numerics).ok());
    EXPECT_EQ(ReadBackOf(*store, first), ReadBack::kEqual);
    ASSERT_TRUE(PutSample(*store, other).ok());
    EXPECT_EQ(ReadBackOf(*store, other), ReadBack::kEqual);
    if (flush) {
      ASSERT_TRUE(store->Flush().ok());
    }
    EXPECT_EQ(ReadBackOf(*store, other), ReadBack::kEqual);
    EXPECT_EQ(store->Find(first.id())->numerics, other.header.numerics);
    EXPECT_EQ(store->stats().chunks, 1u);
    ASSERT_TRUE(store->Erase(first.id()).ok());
  }
}

TEST_P(StoreContract, AChunkWithoutLogitsGivesWayToOneThatHasThem) {
  const auto store = Make();
  const SampleChunk middle = MakeSample(1, {.n_logits = 0});
  const SampleChunk end = MakeSample(1, {.n_logits = 8});
  ASSERT_EQ(middle.id(), end.id());
  for (const bool flush : {false, true}) {
    const auto settle = [&] { return !flush || store->Flush().ok(); };
    ASSERT_TRUE(PutSample(*store, middle).ok());
    ASSERT_TRUE(settle());
    EXPECT_EQ(ReadBackOf(*store, middle), ReadBack::kEqual);
    ASSERT_TRUE(PutSample(*store, end, 77).ok());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(ReadBackOf(*store, end), ReadBack::kEqual);
      EXPECT_EQ(store->Find(end.id())->logits_bytes, 32u);
      EXPECT_EQ(store->Find(end.id())->compute_ms, 77);
      ASSERT_TRUE(settle());
    }
    ASSERT_TRUE(PutSample(*store, middle).ok()) << "and not back";
    ASSERT_TRUE(settle());
    EXPECT_EQ(ReadBackOf(*store, end), ReadBack::kEqual);
    EXPECT_EQ(store->stats().chunks, 1u);
    EXPECT_EQ(store->stats().logits_bytes, 32u);
    ASSERT_TRUE(store->Erase(end.id()).ok());
  }
}

TEST_P(StoreContract, WhatIsErasedIsAMissAndMayBePutAgain) {
  const auto store = Make();
  const SampleChunk chunk = MakeSample(1);
  EXPECT_TRUE(store->Erase(chunk.id()).ok()) << "not held is fine";
  for (const bool flush : {false, true, false}) {
    ASSERT_TRUE(PutSample(*store, chunk).ok());
    if (flush) {
      ASSERT_TRUE(store->Flush().ok());
    }
    ASSERT_TRUE(store->Erase(chunk.id()).ok());
    EXPECT_EQ(ReadBackOf(*store, chunk), ReadBack::kMiss);
    EXPECT_FALSE(store->Find(chunk.id()).has_value());
    EXPECT_EQ(store->stats().chunks, 0u);
    if (flush) {
      ASSERT_TRUE(store->Flush().ok());
    }
  }
  ASSERT_TRUE(PutSample(*store, chunk).ok());
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(ReadBackOf(*store, chunk), ReadBack::kEqual);
}

TEST_P(StoreContract, StatsAddUp) {
  const auto store = Make();
  const std::vector<SampleChunk> samples = {MakeSample(1, {.rows_bytes = 100, .n_logits = 10, .n_tokens = 16}),
                                            MakeSample(2, {.rows_bytes = 200, .n_logits = 0, .n_tokens = 17}),
                                            MakeSample(3, {.rows_bytes = 400, .n_tokens = 99, .fusion = true})};
  uint64_t file_bytes = 0;
  for (const SampleChunk& sample : samples) {
    ASSERT_TRUE(PutSample(*store, sample).ok());
    ASSERT_TRUE(PutSample(*store, sample).ok()) << "the second is no second chunk";
    file_bytes += FileBytes(sample.header);
  }
  ASSERT_TRUE(store->Flush().ok());
  StoreStats stats = store->stats();
  EXPECT_EQ(stats.chunks, 3u);
  EXPECT_EQ(stats.kv_bytes, 300u);
  EXPECT_EQ(stats.fusion_bytes, 400u);
  EXPECT_EQ(stats.logits_bytes, 40u);
  EXPECT_EQ(stats.file_bytes, file_bytes);
  EXPECT_EQ(stats.kv_bytes + stats.fusion_bytes + stats.logits_bytes + stats.overhead_bytes, file_bytes);
  EXPECT_EQ(stats.blocks, 3u) << "16 tokens are one block, 17 are two, tensors none";
  EXPECT_EQ(stats.bytes_written, file_bytes);
  EXPECT_EQ(stats.bytes_read, 0u);
  EXPECT_EQ(ReadBackOf(*store, samples[0]), ReadBack::kEqual);
  EXPECT_GE(store->stats().bytes_read, 140u);
  for (const SampleChunk& sample : samples) ASSERT_TRUE(store->Erase(sample.id()).ok());
  stats = store->stats();
  EXPECT_EQ(stats.chunks + stats.file_bytes + stats.kv_bytes + stats.fusion_bytes + stats.logits_bytes +
                stats.overhead_bytes + stats.blocks,
            0u);
  EXPECT_EQ(stats.evicted + stats.quarantined + stats.rejected + stats.write_errors, 0u);
}

TEST_P(StoreContract, LimitsAreKept) {
  for (const bool by_bytes : {true, false}) {
    const auto store = by_bytes ? Make(20000, 0) : Make(0, 20);
    std::vector<SampleChunk> samples;
    std::mt19937 random(1);
    for (uint64_t i = 0; i < 100; ++i) {
      const Digest parent = i % 10 == 0 ? Digest() : samples[samples.size() - 1 - random() % (i % 10)].id();
      samples.push_back(MakeSample(i, {.rows_bytes = 500 + random() % 500, .parent = parent}));
      ASSERT_TRUE(PutSample(*store, samples.back(), 1 + static_cast<double>(random() % 10)).ok());
      if (i % 5 == 0) {
        ASSERT_TRUE(store->Flush().ok());
      }
    }
    ASSERT_TRUE(store->Flush().ok());
    const StoreStats stats = store->stats();
    EXPECT_GT(stats.evicted, 0u);
    EXPECT_GT(stats.chunks, 5u) << "no more than needed";
    EXPECT_EQ(stats.chunks + stats.evicted, 100u);
    if (by_bytes) {
      EXPECT_LE(stats.file_bytes, 20000u);
    } else {
      EXPECT_LE(stats.blocks, 20u);
    }
    // No tier may give other bytes, whatever was evicted where.
    for (const SampleChunk& sample : samples) {
      const ReadBack served = ReadBackOf(*store, sample);
      EXPECT_TRUE(served == ReadBack::kEqual || served == ReadBack::kMiss);
    }
  }
}

TEST_P(StoreContract, AChunkLargerThanTheLimitIsRejected) {
  const auto store = Make(2000, 0);
  const Status status = PutSample(*store, MakeSample(1, {.rows_bytes = 3000}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::kTooLarge);
  EXPECT_EQ(store->stats().rejected, 1u);
  EXPECT_EQ(Make(0, 2)
                ->Put(MakeSample(1, {.n_tokens = 33}).header, MakeSample(1).rows, MakeSample(1).logits, {})
                .error()
                .code,
            Errc::kTooLarge);
}

TEST_P(StoreContract, AHeldChunkStaysReadableWhenItIsForgotten) {
  const auto store = Make(10000, 0);
  for (const bool flush : {false, true}) {
    for (const bool erase : {true, false}) {
      const SampleChunk chunk = MakeSample(flush ? 1 : 2);
      ASSERT_TRUE(PutSample(*store, chunk, 0).ok());
      if (flush) {
        ASSERT_TRUE(store->Flush().ok());
      }
      auto held = store->Get(chunk.id());
      ASSERT_TRUE(held.ok() && held->has_value());
      if (erase) {
        ASSERT_TRUE(store->Erase(chunk.id()).ok());
      } else {
        for (uint64_t i = 100; i < 200; ++i) ASSERT_TRUE(PutSample(*store, MakeSample(i), 1000).ok());
      }
      ASSERT_TRUE(store->Flush().ok());
      EXPECT_EQ(ReadBackOf(*store, chunk), ReadBack::kMiss);
      for (int i = 0; i < 2; ++i) EXPECT_EQ(ReadSample(***held, chunk), ReadBack::kEqual);
    }
  }
}

TEST_P(StoreContract, ManyThreadsSeeOnlyRightBytes) {
  const auto store = Make(30000, 0);
  constexpr uint64_t kChunks = 60;
  std::vector<SampleChunk> samples;
  for (uint64_t i = 0; i < kChunks; ++i) {
    samples.push_back(MakeSample(i, {.rows_bytes = 100 + i * 13, .n_tokens = static_cast<int32_t>(1 + i)}));
  }
  std::atomic<int> equal = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 400; ++i) {
        const SampleChunk& sample = samples[random() % kChunks];
        switch (random() % 8) {
          case 0:
            if (!store->Erase(sample.id()).ok()) ++wrong;
            break;
          case 1:
            (void)store->Find(sample.id());
            (void)store->stats();
            if (random() % 8 == 0 && !store->Flush().ok()) ++wrong;
            break;
          case 2:
          case 3:
          case 4:
            if (!PutSample(*store, sample).ok()) ++wrong;
            break;
          default:
            const ReadBack served = ReadBackOf(*store, sample);
            if (served == ReadBack::kEqual) ++equal;
            if (served != ReadBack::kEqual && served != ReadBack::kMiss) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(equal, 0);
  ASSERT_TRUE(store->Flush().ok());
  const StoreStats stats = store->stats();
  EXPECT_LE(stats.file_bytes, 30000u);
  EXPECT_EQ(stats.quarantined + stats.write_errors, 0u);
}

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_STORE_CONTRACT_H_
