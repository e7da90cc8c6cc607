// Damage to any file of a folder but the catalogue (catalogue_damage_test.cc): the store opens, serves only right
// bytes, quarantines and counts.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "testing/damage_fixture.h"
#include "testing/flip_bit.h"

namespace afterimage {
namespace {

TEST_F(DamageTest, WithoutDamageEverythingIsThere) {
  Restore();
  ASSERT_EQ(Files(".db-wal").size(), 1u) << "or the tests below have no WAL to damage";
  const Outcome outcome = Try();
  EXPECT_TRUE(outcome.opened);
  EXPECT_EQ(outcome.equal, kChunks);
  EXPECT_EQ(outcome.quarantined, 0u);
}

TEST_F(DamageTest, AFlippedBitInAChunkFileCostsThatChunkAlone) {
  std::mt19937 random(1);
  for (uint64_t seed = 0; seed < kChunks; ++seed) {
    for (int round = 0; round < 4; ++round) {
      Restore();
      std::string bytes = ReadWhole(PathOf(seed));
      FlipBit(bytes, random() % bytes.size(), random());
      WriteWhole(PathOf(seed), bytes);
      const Outcome outcome = Try();
      EXPECT_EQ(outcome.equal, kChunks - 1);
      EXPECT_EQ(outcome.quarantined, 1u);
      EXPECT_TRUE(fs::exists(fs::path(path_) / "quarantine" / PathOf(seed).filename()));
    }
  }
}

TEST_F(DamageTest, ATruncatedOrLengthenedChunkFileCostsThatChunkAlone) {
  const std::string bytes = ReadWhole(PathOf(1));
  for (const size_t length : {size_t{0}, size_t{10}, size_t{300}, bytes.size() - 1, bytes.size() + 1}) {
    Restore();
    WriteWhole(PathOf(1), (bytes + "x").substr(0, length));
    const Outcome outcome = Try();
    EXPECT_EQ(outcome.equal, kChunks - 1);
    EXPECT_EQ(outcome.quarantined, 1u);
  }
}

TEST_F(DamageTest, AMissingChunkFileIsAMiss) {
  Restore();
  fs::remove(PathOf(1));
  EXPECT_EQ(Try().equal, kChunks - 1);

  Restore();
  const auto store = Open().value();
  fs::remove(PathOf(1));  // while the store is open
  EXPECT_EQ(ReadBackOf(*store, Chunk(1)), ReadBack::kMiss);
  EXPECT_EQ(store->stats().quarantined, 1u);
  EXPECT_EQ(ReadBackOf(*store, Chunk(2)), ReadBack::kEqual);
}

TEST_F(DamageTest, AFileTruncatedWhileItIsHeldIsCorruptAndNoSignal) {
  Restore();
  const auto store = Open().value();
  auto held = store->Get(Chunk(1).id());
  ASSERT_TRUE(held.ok() && held->has_value());
  fs::resize_file(PathOf(1), 350);
  EXPECT_EQ(ReadSample(***held, Chunk(1)), ReadBack::kCorrupt);
  EXPECT_EQ(ReadBackOf(*store, Chunk(1)), ReadBack::kMiss);
}

TEST_F(DamageTest, SwappedChunkFilesAreBothRefused) {
  Restore();
  const std::string a = ReadWhole(PathOf(0));
  WriteWhole(PathOf(0), ReadWhole(PathOf(1)));
  WriteWhole(PathOf(1), a);
  const Outcome outcome = Try();
  EXPECT_EQ(outcome.equal, kChunks - 2);
  EXPECT_EQ(outcome.quarantined, 2u);
}

TEST_F(DamageTest, AChunkOfOtherNumericsInItsPlaceIsRefused) {
  Restore();
  const SampleChunk other = MakeSample(0, {.rows_bytes = 400, .n_logits = 0, .numerics = 2});
  ASSERT_EQ(other.id(), Chunk(0).id());
  const std::vector<std::byte> file = BuildChunk(other.header, other.rows, other.logits);
  WriteWhole(PathOf(0), std::string(reinterpret_cast<const char*>(file.data()), file.size()));
  const Outcome outcome = Try();
  EXPECT_EQ(outcome.equal, kChunks - 1);
  EXPECT_EQ(outcome.quarantined, 1u);
}

TEST_F(DamageTest, LeftoversAreRemovedAndStrangersLeftAlone) {
  Restore();
  const fs::path folder = PathOf(0).parent_path();
  WriteWhole(PathOf(0).string() + ".tmp", "half");
  WriteWhole(folder / (std::string(64, 'a') + ".kv"), "a chunk nobody knows, in a folder not its own");
  WriteWhole(folder / "README", "a stranger");
  EXPECT_EQ(Try().equal, kChunks);
  EXPECT_EQ(Files(".tmp").size(), 0u);
  EXPECT_EQ(Files(std::string(64, 'a') + ".kv").size(), 0u);
  EXPECT_EQ(Files("README").size(), 1u);
}

TEST_F(DamageTest, TheLockAndTheSharedMemoryFileMayHoldAnything) {
  for (const char* name : {"lock", "catalog.db-shm"}) {
    for (const std::string& bytes : {std::string(), std::string(100, 'x'), std::string(40000, '\xff')}) {
      Restore();
      WriteWhole(fs::path(path_) / name, bytes);
      EXPECT_EQ(Try().equal, kChunks) << name << " " << bytes.size();
    }
    Restore();
    fs::remove(fs::path(path_) / name);
    EXPECT_EQ(Try().equal, kChunks) << name;
  }
}

TEST_F(DamageTest, AWalThatIsLostOrCutCostsOnlyWhatItHeld) {
  Restore();
  const size_t length = ReadWhole(path_ + "/catalog.db-wal").size();
  ASSERT_GT(length, 0u);
  for (size_t left = 0; left < length; left += length / 16 + 1) {
    Restore();
    fs::resize_file(path_ + "/catalog.db-wal", left);
    const Outcome outcome = Try();
    EXPECT_TRUE(outcome.opened);
    EXPECT_GE(outcome.equal, kChunks / 2);
  }
  Restore();
  fs::remove(path_ + "/catalog.db-wal");
  EXPECT_EQ(Try().equal, kChunks / 2);
}

}  // namespace
}  // namespace afterimage
