// Damage to the catalogue, at any place and at any time: it costs requests, never chunks, and never a wrong byte.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "testing/damage_fixture.h"
#include "testing/fault_file_system.h"
#include "testing/flip_bit.h"

namespace afterimage {
namespace {

class CatalogueDamageTest : public DamageTest {
 protected:
  // The WAL goes into the file: from here on all of it lies in catalog.db.
  void Settle() {
    Restore();
    ASSERT_TRUE(Open().ok());
    fs::remove_all(sound_);
    fs::copy(path_, sound_, fs::copy_options::recursive);
    ASSERT_EQ(Files("-wal").size(), 0u);
  }
  void Sql(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(db_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  static constexpr size_t kUserVersionAt = 60;

  const std::string db_ = path_ + "/catalog.db";
};

// Only a version that looks newer is refused: it may be a newer one.
TEST_F(CatalogueDamageTest, FlippedBitsAnywhereCostNoChunk) {
  for (const bool with_wal : {true, false}) {
    if (!with_wal) Settle();
    std::mt19937 random(2);
    int rebuilt = 0;
    int untouched = 0;
    for (int round = 0; round < 40; ++round) {
      Restore();
      std::string bytes = ReadWhole(db_);
      bool version = false;
      for (size_t flips = 1 + random() % 3; flips > 0; --flips) {
        // As often in the first page, where the schema is, as in all others together.
        const size_t at = random() % (random() % 2 == 0 ? 4096 : bytes.size());
        FlipBit(bytes, at, random());
        version = version || (at >= kUserVersionAt && at < kUserVersionAt + 4);
      }
      WriteWhole(db_, bytes);
      const Outcome outcome = Try();
      if (!outcome.opened) {
        EXPECT_TRUE(version);
        continue;
      }
      EXPECT_EQ(outcome.equal, kChunks) << "round " << round;
      rebuilt += outcome.quarantined > 0 ? 1 : 0;
      untouched += outcome.requests == kChunks ? 1 : 0;
    }
    EXPECT_GT(rebuilt, 4) << "or nothing was damaged";
    EXPECT_GT(untouched, 4) << "or everything was thrown away";
  }
}

// SQLite sums the frames of its WAL: a flipped bit ends it there, and what was committed behind it is lost.
TEST_F(CatalogueDamageTest, AFlippedBitInTheWalNeverChangesWhatIsServed) {
  std::mt19937 random(4);
  for (int round = 0; round < 15; ++round) {
    Restore();
    std::string bytes = ReadWhole(db_ + "-wal");
    FlipBit(bytes, random() % bytes.size(), random());
    WriteWhole(db_ + "-wal", bytes);
    const Outcome outcome = Try();
    EXPECT_TRUE(outcome.opened);
    EXPECT_GE(outcome.equal, kChunks / 2);
  }
}

TEST_F(CatalogueDamageTest, ZeroedPagesCostNoChunk) {
  Settle();
  const size_t length = ReadWhole(db_).size();
  for (size_t page = 0; page < length; page += 4096) {
    Restore();
    WriteWhole(db_, ReadWhole(db_).replace(page, 4096, 4096, '\0'));
    const Outcome outcome = Try();
    EXPECT_TRUE(outcome.opened) << page;
    EXPECT_EQ(outcome.equal, kChunks) << page;
    EXPECT_GT(outcome.quarantined, 0u) << page;
    EXPECT_TRUE(fs::exists(path_ + "/quarantine/catalog.db")) << page;
  }
}

TEST_F(CatalogueDamageTest, OneThatIsCutGoneOrGarbageIsMadeAnewFromTheChunks) {
  for (const bool with_wal : {true, false}) {
    if (!with_wal) Settle();
    const std::string bytes = ReadWhole(sound_ + "/catalog.db");
    std::vector<std::string> damages = {"", std::string(8192, 'x'), std::string(4096, '\0')};
    for (size_t length = 50; length < bytes.size(); length += bytes.size() / 9)
      damages.push_back(bytes.substr(0, length));
    for (const std::string& damage : damages) {
      Restore();
      WriteWhole(db_, damage);
      const Outcome outcome = Try();
      EXPECT_EQ(outcome.equal, kChunks) << damage.size();
      EXPECT_EQ(outcome.quarantined, 1u) << damage.size();
    }
    Restore();
    fs::remove(db_);
    EXPECT_EQ(Try().equal, kChunks);
  }
}

TEST_F(CatalogueDamageTest, TheNewOneIsAsGoodAsTheOldOne) {
  Restore();
  WriteWhole(db_, "garbage");
  const StoreStats before = [&] {
    const auto store = Open().value();
    EXPECT_EQ(store->catalogue().LoadChunks().value().size(), kChunks);
    EXPECT_FALSE(store->catalogue().incomplete().value());
    return store->stats();
  }();
  EXPECT_TRUE(ReadWhole(path_ + "/quarantine/catalog.db").starts_with("garbage"));
  const Outcome again = Try();
  EXPECT_EQ(again.equal, kChunks);
  EXPECT_EQ(again.quarantined, 0u) << "once is enough";
  Restore();
  const StoreStats sound = Open().value()->stats();
  EXPECT_EQ(before.file_bytes, sound.file_bytes);
  EXPECT_EQ(before.logits_bytes, sound.logits_bytes);
  EXPECT_EQ(before.blocks, sound.blocks);
}

TEST_F(CatalogueDamageTest, OthersAndLaterOnesAreRefusedAndLeftAlone) {
  for (const char* sql : {"PRAGMA user_version=3", "PRAGMA application_id=7; DROP TABLE chunks"}) {
    Settle();
    Sql(sql);
    const std::string bytes = ReadWhole(db_);
    for (const bool read_only : {true, false}) {
      const auto opened = Open(PosixFileSystem(), read_only);
      ASSERT_FALSE(opened.ok()) << sql;
      EXPECT_NE(opened.error().code, Errc::kCorrupt) << sql;
      EXPECT_NE(opened.error().message.find(db_), std::string::npos) << opened.error().message;
    }
    EXPECT_EQ(ReadWhole(db_), bytes);
    for (uint64_t seed = 0; seed < kChunks; ++seed) EXPECT_TRUE(fs::exists(PathOf(seed)));
  }
}

TEST_F(CatalogueDamageTest, ADamagedFolderCanBePurgedAndOneWithTheDatabaseOfOthersCannot) {
  Settle();
  Sql("PRAGMA application_id=7; DROP TABLE chunks");
  EXPECT_EQ(PurgeFolder(PosixFileSystem(), DiskLayout(path_)).error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(fs::exists(db_));
  EXPECT_TRUE(fs::exists(PathOf(0)));
  WriteWhole(db_, "garbage");
  EXPECT_EQ(PurgeFolder(PosixFileSystem(), DiskLayout(path_)).value().files, kChunks + 1);
  EXPECT_EQ(Files("").size(), 1u) << "the lock";
}

TEST_F(CatalogueDamageTest, AFolderWithoutOurMarksIsNotTakenForOurs) {
  Restore();
  WriteWhole(db_, "garbage");
  fs::remove(path_ + "/lock");
  const auto opened = Open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(ReadWhole(db_), "garbage");
  EXPECT_TRUE(fs::exists(PathOf(0)));
}

TEST_F(CatalogueDamageTest, AReaderSaysSoAndChangesNothing) {
  for (const std::string& damage : {std::string(5000, 'x'), std::string()}) {
    Restore();
    WriteWhole(db_, damage);
    const auto opened = Open(PosixFileSystem(), true);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, Errc::kCorrupt) << opened.error().message;
    EXPECT_EQ(ReadWhole(db_), damage);
  }
  fs::remove(db_);
  EXPECT_EQ(Open(PosixFileSystem(), true).error().code, Errc::kCorrupt);
  EXPECT_EQ(fs::exists(path_ + "/quarantine/catalog.db"), false);
}

TEST_F(CatalogueDamageTest, AChunkFileWithADamagedHeaderIsNotTakenIn) {
  Restore();
  WriteWhole(db_, "garbage");
  std::string header = ReadWhole(PathOf(1));
  header[100] ^= 1;
  WriteWhole(PathOf(1), header);
  WriteWhole(PathOf(2), ReadWhole(PathOf(0)));  // sound, but another one
  std::string body = ReadWhole(PathOf(3));
  body[body.size() - 20] ^= 1;
  WriteWhole(PathOf(3), body);  // found when it is read
  const Outcome outcome = Try();
  EXPECT_EQ(outcome.equal, kChunks - 3);
  EXPECT_EQ(outcome.quarantined, 4u) << "with the catalogue";
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_TRUE(fs::exists(fs::path(path_) / "quarantine" / PathOf(seed).filename())) << seed;
  }
}

TEST_F(CatalogueDamageTest, ADamagedRowIsReadAgainFromItsFile) {
  Settle();
  Sql("UPDATE chunks SET numerics=zeroblob(32) WHERE rowid IN (2, 5)");
  const Outcome outcome = Try();
  EXPECT_EQ(outcome.equal, kChunks);
  EXPECT_EQ(outcome.quarantined, 2u);
  EXPECT_EQ(outcome.requests, kChunks) << "all others are sound";
}

// The new catalogue knows that it is not complete before it is, so that the next start does not take chunks for
// orphans.
TEST_F(CatalogueDamageTest, AStopWhileItIsMadeAnewLosesNothing) {
  FaultFileSystem files(PosixFileSystem());
  bool finished = false;
  for (uint64_t stop = 0; !finished; ++stop) {
    Restore();
    WriteWhole(db_, "garbage");
    files.Set({.crash_at = stop});
    finished = Open(files).ok();
    files.Set({});
    EXPECT_EQ(Try().equal, kChunks) << stop;
    ASSERT_LT(stop, 200u);
  }
}

// A file that cannot be read now is neither taken in nor given up.
TEST_F(CatalogueDamageTest, FilesThatCannotBeReadWaitForTheNextStart) {
  Restore();
  WriteWhole(db_, "garbage");
  FaultFileSystem files(PosixFileSystem());
  files.Set({.unreadable = true});
  EXPECT_EQ(Open(files).value()->stats().chunks, 0u);
  EXPECT_EQ(Try().equal, kChunks);
}

// Larger than SQLite's page cache, so that damage done beneath an open store is met.
TEST_F(CatalogueDamageTest, DamageMetWhileTheStoreRunsCostsNoChunk) {
  {
    const auto store = Open().value();
    for (uint64_t i = 0; i < 500; ++i) {
      RequestRow row = RequestOf(i % kChunks);
      row.payload.resize(10000, ' ');
      row.text_key = "large";
      ASSERT_TRUE(store->PutRequest(std::move(row)).ok());
    }
  }
  fs::remove_all(sound_);
  fs::copy(path_, sound_, fs::copy_options::recursive);
  const size_t length = ReadWhole(db_).size();
  ASSERT_GT(length, 4'000'000u);
  std::mt19937 random(5);
  uint64_t by_commit = 0;
  uint64_t by_lookup = 0;
  for (int round = 0; round < 8; ++round) {
    Restore();
    auto store = Open().value();
    {
      std::fstream file(db_, std::ios::in | std::ios::out | std::ios::binary);
      // All of it but the first page, or a stretch somewhere.
      const size_t from = round % 2 == 0 ? 4096 : 4096 * (1 + random() % 900);
      const size_t n = round % 2 == 0 ? length - from : size_t{4096} * 100;
      file.seekp(static_cast<std::streamoff>(from)) << std::string(std::min(n, length - from), '\0');
    }
    uint64_t& found_by = round % 4 < 2 ? by_commit : by_lookup;
    if (round % 4 >= 2) {
      const auto rows = store->FindRequests("", Digest(), "large");
      EXPECT_TRUE(rows.ok()) << rows.error().message;
    }
    for (uint64_t seed = 100; seed < 110; ++seed) {
      ASSERT_TRUE(PutSample(*store, MakeSample(seed)).ok());
      ASSERT_TRUE(store->Erase(Chunk(7).id()).ok());
      RequestRow row = RequestOf(0);
      row.leaf = MakeSample(seed).id();
      ASSERT_TRUE(store->PutRequest(row).ok());
      const Status flushed = store->Flush();
      EXPECT_TRUE(flushed.ok()) << flushed.error().message;
    }
    found_by += store->stats().quarantined;
    EXPECT_LE(store->stats().quarantined, 1u) << "mended once, and then it holds";
    const auto check = [&] {
      for (uint64_t seed = 0; seed < kChunks - 1; ++seed) EXPECT_EQ(ReadBackOf(*store, Chunk(seed)), ReadBack::kEqual);
      EXPECT_EQ(ReadBackOf(*store, Chunk(7)), ReadBack::kMiss);
      for (uint64_t seed = 100; seed < 110; ++seed) EXPECT_EQ(ReadBackOf(*store, MakeSample(seed)), ReadBack::kEqual);
    };
    check();
    store.reset();
    store = Open().value();
    check();
    EXPECT_EQ(store->stats().quarantined, 0u);
  }
  EXPECT_GT(by_commit, 0u);
  EXPECT_GT(by_lookup, 0u);
}

}  // namespace
}  // namespace afterimage
