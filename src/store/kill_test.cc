// A process that writes a store is killed at random moments. Afterwards the store opens, what was reported committed is
// there, and nothing is served that was not put. AFTERIMAGE_KILLS sets how often (CMakeLists.txt has a longer run).

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "store/disk_store.h"
#include "testing/sample_chunk.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

constexpr uint32_t kSeeds = 200;

SampleChunk Chunk(uint32_t seed, uint8_t numerics) {
  return MakeSample(seed, {.rows_bytes = 100 + seed * 40, .numerics = numerics});
}

// What the child says through the pipe. Small enough to be written whole or not at all.
struct Report {
  enum Kind : uint32_t { kDoubtful, kCommitted };  // doubtful: about to be erased or replaced
  Kind kind;
  uint32_t seed;
  uint32_t numerics;
};

DiskStoreOptions OptionsOf(const std::string& folder, bool limited, bool power) {
  return {.folder = folder,
          .max_bytes = limited ? 100000u : 0u,
          .queue_bytes = 100000,
          .durability = power ? Durability::kPower : Durability::kProcess};
}

// Puts, erases, replaces and flushes until it is killed.
[[noreturn]] void WriteForever(const DiskStoreOptions& options, unsigned seed, int pipe) {
  const auto report = [&](const Report& said) {
    if (::write(pipe, &said, sizeof(said)) != sizeof(said)) ::_exit(3);
  };
  const auto store = DiskStore::Open(options, PosixFileSystem(), SteadyClock());
  if (!store.ok()) ::_exit(2);
  std::mt19937 random(seed);
  std::map<uint32_t, uint8_t> unflushed;
  while (true) {
    const auto chunk = static_cast<uint32_t>(random() % kSeeds);
    const auto numerics = static_cast<uint8_t>(1 + random() % 8 / 7);
    const std::optional<ChunkInfo> held = (*store)->Find(Chunk(chunk, numerics).id());
    if (random() % 8 == 0) {
      report({Report::kDoubtful, chunk, 0});
      unflushed.erase(chunk);
      (void)(*store)->Erase(Chunk(chunk, 1).id());
    } else if (!held.has_value() || held->numerics != Chunk(chunk, numerics).header.numerics) {
      report({Report::kDoubtful, chunk, 0});
      if (!PutSample(**store, Chunk(chunk, numerics)).ok()) ::_exit(4);
      unflushed[chunk] = numerics;
      RequestRow row;
      row.text_key = std::to_string(chunk);
      row.leaf = Chunk(chunk, numerics).id();
      (void)(*store)->PutRequest(row);
    }
    if (random() % 6 != 0) continue;
    if (!(*store)->Flush().ok()) ::_exit(5);
    for (const auto& [flushed, of] : unflushed) report({Report::kCommitted, flushed, of});
    unflushed.clear();
  }
}

class KillTest : public testing::Test {
 protected:
  // Starts a writer, kills it, and takes down what it reported. `early`: a little while after it started, which may be
  // while it opens. Otherwise a little while after some report, however slow the machine is.
  void WriteAndKill(const DiskStoreOptions& options, bool early, std::map<uint32_t, uint32_t>& committed) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const auto seed = static_cast<unsigned>(random_());
    uint64_t reports_left = early ? 0 : 1 + random_() % 60;
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(pipe[0]);
      WriteForever(options, seed, pipe[1]);
    }
    ::close(pipe[1]);
    const auto kill_soon = [&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % (early ? 30000 : 5000)));
      ::kill(child, SIGKILL);
    };
    if (early) kill_soon();
    Report report{};
    while (::read(pipe[0], &report, sizeof(report)) == sizeof(report)) {
      if (report.kind == Report::kCommitted) {
        committed[report.seed] = report.numerics;
        ++n_committed_;
      } else {
        committed.erase(report.seed);
      }
      if (reports_left == 1) kill_soon();
      if (reports_left > 0) --reports_left;
    }
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << WEXITSTATUS(status);
  }

  void Check(const DiskStoreOptions& options, const std::map<uint32_t, uint32_t>& committed) {
    const auto opened = DiskStore::Open(options, PosixFileSystem(), SteadyClock());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    DiskStore& store = **opened;
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      const std::optional<ChunkInfo> info = store.Find(Chunk(seed, 1).id());
      const auto promised = committed.find(seed);
      if (promised != committed.end() && options.max_bytes == 0) {
        ASSERT_TRUE(info.has_value()) << "lost: " << seed;
        ASSERT_EQ(info->numerics.bytes[0], promised->second);
      }
      if (!info.has_value()) continue;
      ASSERT_EQ(ReadBackOf(store, Chunk(seed, info->numerics.bytes[0])), ReadBack::kEqual);
    }
    EXPECT_EQ(store.stats().quarantined, 0u);
    uint64_t n_files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options.folder + "/kv_chunks")) {
      EXPECT_NE(entry.path().extension(), ".tmp");
      n_files += entry.is_regular_file() ? 1 : 0;
    }
    EXPECT_EQ(n_files, store.stats().chunks);
    const Result<std::vector<RequestRow>> requests = store.catalogue().LoadRequests();
    ASSERT_TRUE(requests.ok());
    for (const RequestRow& row : *requests) EXPECT_TRUE(store.Find(row.leaf).has_value());
  }

  std::mt19937 random_{7};
  uint64_t n_committed_ = 0;
};

int NumberOfKills() {
  const char* kills = std::getenv("AFTERIMAGE_KILLS");
  return kills != nullptr ? std::atoi(kills) : 25;
}

// Found by it: a catalogue killed in its first transaction has our mark in its first bytes, and no tables.
TEST_F(KillTest, AFirstStartMayBeKilledAtAnyMoment) {
  for (int round = 0; round < NumberOfKills(); ++round) {
    TemporaryFolder folder;
    const DiskStoreOptions options = OptionsOf(folder / "store", false, round % 2 == 0);
    std::map<uint32_t, uint32_t> committed;
    WriteAndKill(options, true, committed);
    Check(options, committed);
    if (HasFatalFailure()) FAIL() << "after kill " << round + 1;
  }
}

TEST_F(KillTest, NothingCommittedIsLostAndNothingElseIsServed) {
  const int n_kills = NumberOfKills();
  TemporaryFolder folder;
  std::map<uint32_t, uint32_t> committed;
  std::map<uint32_t, uint32_t> committed_limited;  // what is evicted is not lost; only the bytes are checked
  for (int round = 0; round < n_kills; ++round) {
    const bool limited = round % 4 == 3;
    const DiskStoreOptions options = OptionsOf(folder / (limited ? "limited" : "store"), limited, round % 2 == 0);
    std::map<uint32_t, uint32_t>& promised = limited ? committed_limited : committed;
    WriteAndKill(options, round % 5 == 4, promised);
    Check(options, promised);
    if (HasFatalFailure()) FAIL() << "after kill " << round + 1;
  }
  EXPECT_GT(n_committed_, static_cast<uint64_t>(n_kills)) << "killed before anything happened";
  RecordProperty("committed", std::to_string(n_committed_));
}

}  // namespace
}  // namespace afterimage
