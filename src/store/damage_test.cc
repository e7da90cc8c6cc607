// Damage to any file of a folder: the store opens or says why not, serves only right bytes, quarantines and counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "store/disk_store.h"
#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kChunks = 8;

SampleChunk Chunk(uint64_t seed) {
  return MakeSample(seed, {.rows_bytes = 400 + 4 * seed, .n_logits = seed, .fusion = seed % 4 == 3});
}

std::string ReadWhole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteWhole(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class DamageTest : public testing::Test {
 protected:
  // A folder as a process leaves it that was killed: a copy taken while the store is open, its WAL included.
  void SetUp() override {
    {
      const auto store = Open().value();
      for (uint64_t seed = 0; seed < kChunks / 2; ++seed) ASSERT_TRUE(PutSample(*store, Chunk(seed)).ok());
    }
    const auto store = Open().value();
    for (uint64_t seed = kChunks / 2; seed < kChunks; ++seed) ASSERT_TRUE(PutSample(*store, Chunk(seed)).ok());
    ASSERT_TRUE(store->Flush().ok());
    fs::copy(path_, sound_, fs::copy_options::recursive);
  }

  Result<std::unique_ptr<DiskStore>> Open() {
    return DiskStore::Open({.folder = path_, .durability = Durability::kProcess}, PosixFileSystem(), clock_);
  }
  void Restore() const {
    fs::remove_all(path_);
    fs::copy(sound_, path_, fs::copy_options::recursive);
  }
  std::vector<fs::path> Files(const std::string& ending) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file() && entry.path().string().ends_with(ending)) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
  }
  fs::path PathOf(uint64_t seed) const { return DiskLayout(path_).PathOf(Chunk(seed).header.kind, Chunk(seed).id()); }

  struct Outcome {
    bool opened = false;
    size_t equal = 0;
    uint64_t quarantined = 0;
  };
  // Opens, asks for everything, puts everything again, asks again.
  Outcome Try() {
    Outcome outcome;
    const Result<std::unique_ptr<DiskStore>> opened = Open();
    if (!opened.ok()) {
      EXPECT_TRUE(opened.error().code == Errc::kCorrupt || opened.error().code == Errc::kInvalidArgument)
          << opened.error().message;
      EXPECT_NE(opened.error().message.find(path_), std::string::npos) << opened.error().message;
      return outcome;
    }
    outcome.opened = true;
    DiskStore& store = **opened;
    for (uint64_t seed = 0; seed < kChunks; ++seed) {
      const Served served = ServedFor(store, Chunk(seed));
      EXPECT_NE(served, Served::kOther);
      EXPECT_NE(served, Served::kError);
      outcome.equal += served == Served::kEqual ? 1 : 0;
    }
    outcome.quarantined = store.stats().quarantined;
    for (uint64_t seed = 0; seed < kChunks; ++seed) EXPECT_TRUE(PutSample(store, Chunk(seed)).ok());
    const bool flushed = store.Flush().ok();  // not onto a damaged catalogue
    for (uint64_t seed = 0; seed < kChunks && flushed; ++seed) {
      EXPECT_EQ(ServedFor(store, Chunk(seed)), Served::kEqual);
    }
    return outcome;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "store";
  const std::string sound_ = folder_ / "sound";
  ManualClock clock_;
};

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
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
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
  EXPECT_EQ(ServedFor(*store, Chunk(1)), Served::kMiss);
  EXPECT_EQ(store->stats().quarantined, 1u);
  EXPECT_EQ(ServedFor(*store, Chunk(2)), Served::kEqual);
}

TEST_F(DamageTest, AFileTruncatedWhileItIsHeldIsCorruptAndNoSignal) {
  Restore();
  const auto store = Open().value();
  auto held = store->Get(Chunk(1).id());
  ASSERT_TRUE(held.ok() && held->has_value());
  fs::resize_file(PathOf(1), 350);
  EXPECT_EQ(ReadSample(***held, Chunk(1)), Served::kCorrupt);
  EXPECT_EQ(ServedFor(*store, Chunk(1)), Served::kMiss);
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

// SQLite sums the frames of its WAL: a flipped bit ends it there.
TEST_F(DamageTest, AFlippedBitInTheCatalogueOrItsWalNeverChangesWhatIsServed) {
  std::mt19937 random(2);
  int refused = 0;
  for (const char* name : {"catalog.db", "catalog.db-wal"}) {
    for (int round = 0; round < 30; ++round) {
      Restore();
      std::string bytes = ReadWhole(fs::path(path_) / name);
      for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
      WriteWhole(fs::path(path_) / name, bytes);
      refused += Try().opened ? 0 : 1;
    }
  }
  EXPECT_LT(refused, 60);
}

TEST_F(DamageTest, ACatalogueThatIsCutGoneOrForeignIsAClearError) {
  Restore();
  const std::string bytes = ReadWhole(path_ + "/catalog.db");
  for (const std::string& damaged : {std::string(), bytes.substr(0, 50), bytes.substr(0, bytes.size() / 2),
                                     std::string(8192, 'x'), std::string(4096, '\0')}) {
    Restore();
    fs::remove(path_ + "/catalog.db-wal");
    WriteWhole(path_ + "/catalog.db", damaged);
    const Outcome outcome = Try();
    EXPECT_FALSE(outcome.opened && outcome.equal > 0) << damaged.size();
  }
  Restore();
  fs::remove(path_ + "/catalog.db");
  const Result<std::unique_ptr<DiskStore>> opened = Open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(fs::exists(PathOf(0))) << "nothing is removed from a folder that may not be ours";
}

}  // namespace
}  // namespace afterimage
