// DamageTest: a folder with chunks and requests, as a killed process leaves it, to be damaged and opened again.
#ifndef AFTERIMAGE_TESTING_DAMAGE_FIXTURE_H_
#define AFTERIMAGE_TESTING_DAMAGE_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "store/disk_store.h"
#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"
#include "testing/temporary_folder.h"

namespace afterimage {

namespace fs = std::filesystem;

inline constexpr uint64_t kChunks = 8;

inline SampleChunk Chunk(uint64_t seed) {
  return MakeSample(seed, {.rows_bytes = 400 + 4 * seed, .n_logits = seed, .fusion = seed % 4 == 3});
}

inline RequestRow RequestOf(uint64_t seed) {
  RequestRow row;
  row.text_key = "key " + std::to_string(seed);
  row.leaf = Chunk(seed).id();
  row.payload = "payload " + std::to_string(seed);
  return row;
}

inline std::string ReadWhole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteWhole(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class DamageTest : public testing::Test {
 protected:
  // A folder as a process leaves it that was killed: a copy taken while the store is open, its WAL included.
  void SetUp() override {
    {
      const auto store = Open().value();
      for (uint64_t seed = 0; seed < kChunks / 2; ++seed) {
        ASSERT_TRUE(PutSample(*store, Chunk(seed)).ok());
        ASSERT_TRUE(store->PutRequest(RequestOf(seed)).ok());
      }
    }
    const auto store = Open().value();
    for (uint64_t seed = kChunks / 2; seed < kChunks; ++seed) {
      ASSERT_TRUE(PutSample(*store, Chunk(seed)).ok());
      ASSERT_TRUE(store->PutRequest(RequestOf(seed)).ok());
    }
    ASSERT_TRUE(store->Flush().ok());
    fs::copy(path_, sound_, fs::copy_options::recursive);
  }

  Result<std::unique_ptr<DiskStore>> Open(FileSystem& files = PosixFileSystem(), bool read_only = false) {
    return DiskStore::Open({.folder = path_, .durability = Durability::kProcess, .read_only = read_only}, files,
                           clock_);
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
    size_t requests = 0;
    uint64_t quarantined = 0;
  };
  // Opens, asks for everything, puts everything again, asks again.
  Outcome Try() {
    Outcome outcome;
    const Result<std::unique_ptr<DiskStore>> opened = Open();
    if (!opened.ok()) {
      // Nothing but what looks like the catalogue of others, or of a later version.
      EXPECT_TRUE(opened.error().code == Errc::kUnsupported || opened.error().code == Errc::kInvalidArgument)
          << opened.error().message;
      EXPECT_NE(opened.error().message.find(path_), std::string::npos) << opened.error().message;
      return outcome;
    }
    outcome.opened = true;
    DiskStore& store = **opened;
    for (uint64_t seed = 0; seed < kChunks; ++seed) {
      const ReadBack served = ReadBackOf(store, Chunk(seed));
      EXPECT_NE(served, ReadBack::kOther);
      EXPECT_NE(served, ReadBack::kError);
      outcome.equal += served == ReadBack::kEqual ? 1 : 0;
      const Result<std::vector<RequestRow>> requests = store.FindRequests("", Digest(), RequestOf(seed).text_key);
      EXPECT_TRUE(requests.ok()) << requests.error().message;
      for (size_t i = 0; requests.ok() && i < requests->size(); ++i) {
        EXPECT_EQ((*requests)[i].payload, RequestOf(seed).payload);
        EXPECT_EQ((*requests)[i].leaf, Chunk(seed).id());
        ++outcome.requests;
      }
    }
    outcome.quarantined = store.stats().quarantined;
    for (uint64_t seed = 0; seed < kChunks; ++seed) EXPECT_TRUE(PutSample(store, Chunk(seed)).ok());
    EXPECT_TRUE(store.Flush().ok());
    for (uint64_t seed = 0; seed < kChunks; ++seed) EXPECT_EQ(ReadBackOf(store, Chunk(seed)), ReadBack::kEqual);
    return outcome;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "store";
  const std::string sound_ = folder_ / "sound";
  ManualClock clock_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_DAMAGE_FIXTURE_H_
