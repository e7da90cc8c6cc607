#include "store/disk_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/fault_file_system.h"
#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class DiskStoreTest : public testing::Test {
 protected:
  std::unique_ptr<DiskStore> Open(DiskStoreOptions options = {}) {
    Result<std::unique_ptr<DiskStore>> store = TryOpen(std::move(options));
    EXPECT_TRUE(store.ok()) << store.error().message;
    return store.ok() ? std::move(*store) : nullptr;
  }
  Result<std::unique_ptr<DiskStore>> TryOpen(DiskStoreOptions options = {}) {
    options.folder = path_;
    return DiskStore::Open(options, files_, clock_);
  }
  static RequestRow Request(const std::string& key, const Digest& leaf, const std::string& payload = "{}") {
    RequestRow row;
    row.tenant = "t";
    row.text_key = key;
    row.leaf = leaf;
    row.payload = payload;
    return row;
  }
  size_t FilesIn(const std::string& folder) const {
    size_t n = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_ + "/" + folder)) {
      n += entry.is_regular_file() ? 1 : 0;
    }
    return n;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a/store";
  FaultFileSystem files_{PosixFileSystem()};
  ManualClock clock_;
};

TEST_F(DiskStoreTest, WhatWasPutIsThereAfterReopening) {
  const SampleChunk kv = MakeSample(1);
  const SampleChunk tensors = MakeSample(2, {.rows_bytes = 400, .fusion = true});
  {
    const auto store = Open();
    ASSERT_TRUE(PutSample(*store, kv, 33).ok());
    ASSERT_TRUE(PutSample(*store, tensors).ok());
  }  // closing writes what is queued
  EXPECT_TRUE(
      std::filesystem::exists(path_ + "/kv_chunks/" + kv.id().Hex().substr(0, 2) + "/" + kv.id().Hex() + ".kv"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/fusion_chunks/" + tensors.id().Hex().substr(0, 2) + "/" +
                                      tensors.id().Hex() + ".fusion"));
  const auto store = Open();
  EXPECT_EQ(ReadBackOf(*store, kv), ReadBack::kEqual);
  EXPECT_EQ(ReadBackOf(*store, tensors), ReadBack::kEqual);
  EXPECT_EQ(store->Find(kv.id())->compute_ms, 33);
  EXPECT_EQ(store->Find(kv.id())->tier, "disk");
  EXPECT_EQ(store->stats().chunks, 2u);
}

TEST_F(DiskStoreTest, FusionChunksMayLieElsewhere) {
  const SampleChunk tensors = MakeSample(2, {.rows_bytes = 400, .fusion = true});
  const DiskStoreOptions options = {.fusion_folder = folder_ / "elsewhere"};
  ASSERT_TRUE(PutSample(*Open(options), tensors).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ / ("elsewhere/" + tensors.id().Hex().substr(0, 2))));
  EXPECT_EQ(ReadBackOf(*Open(options), tensors), ReadBack::kEqual);
}

TEST_F(DiskStoreTest, ASecondWriterIsToldWhoTheFirstIs) {
  const auto store = Open();
  const auto second = TryOpen();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::kBusy);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
}

TEST_F(DiskStoreTest, AReaderBesideAWriterServesWhatIsCommittedAndChangesNothing) {
  EXPECT_EQ(TryOpen({.read_only = true}).error().code, Errc::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path_));
  const auto writer = Open();
  ASSERT_TRUE(PutSample(*writer, MakeSample(1)).ok());
  ASSERT_TRUE(PutSample(*writer, MakeSample(2)).ok());
  ASSERT_TRUE(writer->Flush().ok());
  const auto reader = Open({.read_only = true});
  EXPECT_EQ(ReadBackOf(*reader, MakeSample(1)), ReadBack::kEqual);
  EXPECT_EQ(PutSample(*reader, MakeSample(3)).error().code, Errc::kUnsupported);
  EXPECT_EQ(reader->Erase(MakeSample(1).id()).error().code, Errc::kUnsupported);
  EXPECT_EQ(reader->PutRequest({}).error().code, Errc::kUnsupported);
  EXPECT_TRUE(reader->Flush().ok());
  ASSERT_TRUE(writer->Erase(MakeSample(2).id()).ok());
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(ReadBackOf(*reader, MakeSample(2)), ReadBack::kMiss);
  EXPECT_EQ(reader->stats().quarantined, 0u) << "what a writer evicts is not damage";
  EXPECT_EQ(ReadBackOf(*writer, MakeSample(1)), ReadBack::kEqual);
}

TEST_F(DiskStoreTest, AFolderOfSomethingElseIsRefusedAndLeftAlone) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/thesis.txt") << "years of work";
  for (const bool read_only : {false, true}) {
    const auto store = TryOpen({.read_only = read_only});
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().code, Errc::kInvalidArgument);
    EXPECT_NE(store.error().message.find("not empty"), std::string::npos) << store.error().message;
  }
  EXPECT_EQ(PurgeFolder(files_, DiskLayout(path_)).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(FilesIn(""), 1u);
}

TEST_F(DiskStoreTest, PurgeRemovesWhatIsOursAndOnlyThat) {
  {
    const auto store = Open();
    ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
    ASSERT_TRUE(store->Flush().ok());
    EXPECT_EQ(PurgeFolder(files_, DiskLayout(path_)).error().code, Errc::kBusy);
  }
  std::ofstream(path_ + "/kv_chunks/notes.txt") << "mine";
  ASSERT_TRUE(PurgeFolder(files_, DiskLayout(path_)).ok());
  EXPECT_TRUE(std::filesystem::exists(path_ + "/kv_chunks/notes.txt"));
  EXPECT_EQ(FilesIn(""), 2u) << "with the lock";
  std::filesystem::remove_all(path_ + "/kv_chunks");
  EXPECT_EQ(Open()->stats().chunks, 0u);
}

TEST_F(DiskStoreTest, QueuedChunksAreServedFromTheQueueAndThenFromDisk) {
  std::atomic<bool> go = false;
  files_.Set({.on_bytes = [&](uint64_t) {
    while (!go) std::this_thread::yield();
  }});
  const auto store = Open();
  ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
  ASSERT_TRUE(PutSample(*store, MakeSample(2)).ok());
  EXPECT_EQ(store->Find(MakeSample(1).id())->tier, "queue");
  EXPECT_EQ(ReadBackOf(*store, MakeSample(2)), ReadBack::kEqual);
  ASSERT_TRUE(store->PutRequest(Request("k", MakeSample(1).id(), "queued")).ok());
  EXPECT_EQ(store->FindRequests("t", Digest(), "k").value().size(), 1u);
  EXPECT_TRUE(store->catalogue().LoadRequests().value().empty());
  go = true;
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(store->Find(MakeSample(1).id())->tier, "disk");
  EXPECT_EQ(store->FindRequests("t", Digest(), "k").value().size(), 1u);
}

TEST_F(DiskStoreTest, AFullQueueMakesPutWaitAndALargerChunkIsRejected) {
  const uint64_t bytes = FileBytes(MakeSample(1).header);
  std::atomic<bool> go = false;
  files_.Set({.on_bytes = [&](uint64_t) {
    while (!go) std::this_thread::yield();
  }});
  const auto store = Open({.queue_bytes = 2 * bytes});
  EXPECT_EQ(PutSample(*store, MakeSample(9, {.rows_bytes = 3000})).error().code, Errc::kTooLarge);
  EXPECT_EQ(store->stats().rejected, 1u);
  ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
  ASSERT_TRUE(PutSample(*store, MakeSample(2)).ok());
  std::atomic<bool> third = false;
  std::thread thread([&] {
    EXPECT_TRUE(PutSample(*store, MakeSample(3)).ok());
    third = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(third);
  go = true;
  thread.join();
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(store->stats().chunks, 3u);
}

TEST_F(DiskStoreTest, UsesAreKeptAcrossRuns) {
  const SampleChunk chunk = MakeSample(1);
  {
    const auto store = Open();
    ASSERT_TRUE(PutSample(*store, chunk).ok());
    ASSERT_TRUE(store->Flush().ok());
    clock_.AdvanceMs(5);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ReadBackOf(*store, chunk), ReadBack::kEqual);
  }
  const ChunkRow row = Open()->catalogue().LoadChunks().value().at(0);
  EXPECT_EQ(row.hits, 3u);
  EXPECT_EQ(row.created_ns, 0);
  EXPECT_EQ(row.used_ns, 5'000'000);
}

TEST_F(DiskStoreTest, AClockThatStartsAgainIsContinued) {
  clock_.AdvanceMs(1000);
  ASSERT_TRUE(PutSample(*Open(), MakeSample(1)).ok());
  const ManualClock after_boot;
  const auto store = DiskStore::Open({.folder = path_}, files_, after_boot).value();
  ASSERT_TRUE(PutSample(*store, MakeSample(2)).ok());
  ASSERT_TRUE(store->Flush().ok());
  for (const ChunkRow& row : store->catalogue().LoadChunks().value()) EXPECT_EQ(row.created_ns, 1'000'000'000);
}

TEST_F(DiskStoreTest, RequestsAreCommittedWithTheirLeafAndGoWithIt) {
  const auto store = Open();
  const Digest leaf = MakeSample(1).id();
  ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
  ASSERT_TRUE(store->PutRequest(Request("k", leaf, "first")).ok());
  ASSERT_TRUE(store->PutRequest(Request("k", leaf, "second")).ok());
  ASSERT_TRUE(store->PutRequest(Request("k", MakeSample(7).id(), "of a leaf that was never put")).ok());
  ASSERT_TRUE(store->PutRate({.key = "prefill", .n = 3, .xy = 4}).ok());
  ASSERT_TRUE(store->Flush().ok());
  const std::vector<RequestRow> rows = store->FindRequests("t", Digest(), "k").value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].payload, "second");
  EXPECT_EQ(rows[1].payload, "first");
  EXPECT_EQ(store->catalogue().FindRate("prefill").value()->xy, 4);
  ASSERT_TRUE(store->Erase(leaf).ok());
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_TRUE(store->FindRequests("t", Digest(), "k").value().empty());
}

TEST_F(DiskStoreTest, ALargeChunkIsReadAndCheckedToItsLastByte) {
  const SampleChunk large = MakeSample(1, {.rows_bytes = 5'000'001, .n_logits = 100});
  {
    const auto store = Open();
    ASSERT_TRUE(PutSample(*store, large).ok());
    ASSERT_TRUE(store->Flush().ok());
    EXPECT_EQ(ReadBackOf(*store, large), ReadBack::kEqual);
    files_.Set({.unreadable = true});
    EXPECT_EQ(ReadBackOf(*store, large), ReadBack::kError);
    files_.Set({});
    EXPECT_EQ(ReadBackOf(*store, large), ReadBack::kEqual);
  }
  const uint64_t bytes = FileBytes(large.header);
  for (const uint64_t flip :
       {uint64_t{1000}, uint64_t{2'500'000}, bytes - 500, bytes - kChecksumBytes - 1, bytes - 1}) {
    const auto store = Open();
    files_.Set({.flip = flip});
    EXPECT_EQ(ReadBackOf(*store, large), ReadBack::kCorrupt) << flip;
    EXPECT_EQ(store->stats().quarantined, 1u) << flip;
    files_.Set({});
    ASSERT_TRUE(PutSample(*store, large).ok());
  }
}

TEST_F(DiskStoreTest, RequestsWithTheSamePicturesComeFirstAndTheLimitHolds) {
  const auto store = Open();
  ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
  const std::vector<Digest> mine = {MakeSample(8).id(), MakeSample(9).id()};
  const auto put = [&](const std::string& payload, const std::vector<Digest>& pictures) {
    RequestRow row = Request("k", MakeSample(1).id(), payload);
    row.pictures = pictures;
    ASSERT_TRUE(store->PutRequest(row).ok());
  };
  const auto find = [&](size_t limit) {
    std::string found;
    for (const RequestRow& row : store->FindRequests("t", Digest(), "k", mine, limit).value()) found += row.payload;
    return found;
  };
  put("a", mine);
  put("b", {mine[0]});
  put("c", mine);
  put("d", {});
  EXPECT_EQ(find(9), "cadb") << "whether queued or committed";
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(find(9), "cadb");
  EXPECT_EQ(find(3), "cad");
  EXPECT_EQ(find(1), "c");
}

TEST_F(DiskStoreTest, EvictionRemovesRowsAndFilesAndLowerLimitsHoldFromTheStart) {
  const uint64_t bytes = FileBytes(MakeSample(1).header);
  {
    const auto store = Open({.max_bytes = 10 * bytes + bytes / 2});
    for (uint64_t seed = 0; seed < 30; ++seed) ASSERT_TRUE(PutSample(*store, MakeSample(seed)).ok());
    ASSERT_TRUE(store->Flush().ok());
    EXPECT_EQ(store->stats().chunks, 10u);
    EXPECT_EQ(store->stats().evicted, 20u);
    EXPECT_EQ(FilesIn("kv_chunks"), 10u);
    EXPECT_EQ(store->catalogue().LoadChunks().value().size(), 10u);
  }
  const auto store = Open({.max_blocks = 7});
  EXPECT_LE(store->stats().blocks, 7u);
  EXPECT_EQ(FilesIn("kv_chunks"), store->stats().chunks);
}

TEST_F(DiskStoreTest, WhatTheDiskDoesNotTakeIsDroppedCountedAndReportedOnce) {
  const auto store = Open();
  ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
  ASSERT_TRUE(store->Flush().ok());
  for (const Faults& faults : {Faults{.no_space = true}, Faults{.failing_fsync = true}}) {
    files_.Set(faults);
    ASSERT_TRUE(PutSample(*store, MakeSample(2)).ok()) << "nobody knows yet";
    const Status status = store->Flush();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Errc::kIo);
    EXPECT_TRUE(store->Flush().ok());
    EXPECT_EQ(ReadBackOf(*store, MakeSample(2)), ReadBack::kMiss);
    EXPECT_EQ(ReadBackOf(*store, MakeSample(1)), ReadBack::kEqual);
    EXPECT_EQ(FilesIn("kv_chunks"), 1u);
  }
  EXPECT_EQ(store->stats().write_errors, 2u);
  files_.Set({});
  ASSERT_TRUE(PutSample(*store, MakeSample(2)).ok());
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(ReadBackOf(*store, MakeSample(2)), ReadBack::kEqual);
}

TEST_F(DiskStoreTest, ReadErrorsAreErrorsAndNotDamage) {
  const auto store = Open();
  ASSERT_TRUE(PutSample(*store, MakeSample(1)).ok());
  ASSERT_TRUE(store->Flush().ok());
  files_.Set({.unreadable = true});
  EXPECT_EQ(ReadBackOf(*store, MakeSample(1)), ReadBack::kError);
  files_.Set({});
  EXPECT_EQ(ReadBackOf(*store, MakeSample(1)), ReadBack::kEqual);
  EXPECT_EQ(store->stats().quarantined, 0u);
}

// Whether a flipped bit lies in the header, the rows, the logits or the checksum: it is found, and only once.
TEST_F(DiskStoreTest, EveryFlippedBitIsFoundAndTheFileQuarantined) {
  const auto store = Open({.durability = Durability::kProcess});
  const SampleChunk chunk = MakeSample(1, {.rows_bytes = 100});
  const uint64_t bytes = FileBytes(chunk.header);
  uint64_t quarantined = 0;
  for (uint64_t at = 0; at < bytes; at += at < 400 ? 1 : 7) {
    ASSERT_TRUE(PutSample(*store, chunk).ok());
    ASSERT_TRUE(store->Flush().ok());
    files_.Set({.flip = at});
    const ReadBack served = ReadBackOf(*store, chunk);
    EXPECT_TRUE(served == ReadBack::kMiss || served == ReadBack::kCorrupt) << at;
    EXPECT_EQ(ReadBackOf(*store, chunk), ReadBack::kMiss) << at;
    files_.Set({});
    EXPECT_EQ(store->stats().quarantined, ++quarantined);
  }
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(FilesIn("quarantine"), 1u) << "the same name again and again";
  EXPECT_EQ(FilesIn("kv_chunks"), 0u);
}

TEST_F(DiskStoreTest, QuarantineDoesNotGrowWithoutEnd) {
  const auto store = Open({.durability = Durability::kProcess});
  for (uint64_t seed = 0; seed < 80; ++seed) ASSERT_TRUE(PutSample(*store, MakeSample(seed)).ok());
  ASSERT_TRUE(store->Flush().ok());
  files_.Set({.flip = 500});
  for (uint64_t seed = 0; seed < 80; ++seed) EXPECT_EQ(ReadBackOf(*store, MakeSample(seed)), ReadBack::kCorrupt);
  files_.Set({});
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(store->stats().quarantined, 80u);
  EXPECT_EQ(FilesIn("quarantine"), 64u);
  EXPECT_EQ(FilesIn("kv_chunks"), 0u);
}

TEST_F(DiskStoreTest, APowerCutTakesNothingThatWasFlushed) {
  for (const Durability durability : {Durability::kPower, Durability::kProcess}) {
    {
      const auto store = Open({.durability = durability});
      for (uint64_t seed = 0; seed < 10; ++seed) ASSERT_TRUE(PutSample(*store, MakeSample(seed)).ok());
      ASSERT_TRUE(store->Flush().ok());
    }
    files_.LosePower();
    const auto store = Open();
    for (uint64_t seed = 0; seed < 10; ++seed) {
      const ReadBack expected = durability == Durability::kPower ? ReadBack::kEqual : ReadBack::kMiss;
      EXPECT_EQ(ReadBackOf(*store, MakeSample(seed)), expected);
    }
    EXPECT_EQ(store->stats().quarantined, 0u);
    for (uint64_t seed = 0; seed < 10; ++seed) ASSERT_TRUE(store->Erase(MakeSample(seed).id()).ok());
  }
}

// Stops the machine's files at every operation in turn, in a run with evictions and replacements.
TEST_F(DiskStoreTest, AStopAtAnyOperationLosesNothingFlushedAndLeavesNoTrace) {
  const uint64_t bytes = FileBytes(MakeSample(1).header);
  bool finished = false;
  for (uint64_t stop = 0; !finished; ++stop) {
    std::filesystem::remove_all(path_);
    std::vector<uint64_t> flushed;
    {
      const auto store = Open({.max_bytes = 6 * bytes, .durability = Durability::kProcess});
      files_.Set({.crash_at = stop});
      for (uint64_t seed = 0; seed < 12; ++seed) {
        clock_.AdvanceMs(1000);  // the oldest are evicted, not those just flushed
        ASSERT_TRUE(PutSample(*store, MakeSample(seed)).ok());
        if (seed % 2 == 0) continue;
        if (!store->Flush().ok()) break;
        flushed = {seed - 1, seed};
        finished = seed == 11;
      }
    }
    files_.Set({});
    for (const ChunkRow& row :
         Catalogue::Open(path_ + "/catalog.db", {.read_only = true}).value()->LoadChunks().value()) {
      EXPECT_TRUE(std::filesystem::exists(DiskLayout(path_).PathOf(row.header.kind, row.id))) << "a row without a file";
    }
    const auto store = Open();
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const ReadBack served = ReadBackOf(*store, MakeSample(seed));
      EXPECT_TRUE(served == ReadBack::kEqual || served == ReadBack::kMiss);
    }
    for (const uint64_t seed : flushed) EXPECT_TRUE(store->Find(MakeSample(seed).id()).has_value()) << stop;
    EXPECT_EQ(FilesIn("kv_chunks"), store->stats().chunks) << stop;
    EXPECT_EQ(store->stats().quarantined, 0u) << stop;
    ASSERT_LT(stop, 200u) << "so many operations there are not";
  }
}

}  // namespace
}  // namespace afterimage
