#include "core/file_digest.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

#include "core/sha256.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::nanoseconds;

constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kAbd = "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9";
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const std::string kForged(64, 'f');
constexpr nanoseconds kAnyAge{0};

class FileDigestTest : public testing::Test {
 protected:
  FileDigestTest() {
    std::string folder = testing::TempDir() + "file_digest_test.XXXXXX";
    folder_ = mkdtemp(folder.data());
    cache_ = folder_ / "cache" / "digests";
    file_ = folder_ / "weights";
    Write(file_, "abc");
  }
  ~FileDigestTest() override { fs::remove_all(folder_); }

  static void Write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  static std::string Read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static std::vector<std::string> Lines(const fs::path& path) {
    std::vector<std::string> lines;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  // The digest in hex, or the error's message.
  static std::string Of(FileDigests& digests, const fs::path& path) {
    const Result<Digest> digest = digests.Of(path);
    return digest.ok() ? digest->Hex() : digest.error().message;
  }

  // Replaces the one remembered digest, so that an answer from the cache can be told from a computed one.
  void Forge() const {
    std::string text = Read(cache_);
    const size_t digest = text.find('\n') + 1;
    ASSERT_GT(text.size(), digest + kForged.size()) << "nothing is remembered";
    Write(cache_, text.replace(digest, kForged.size(), kForged));
  }

  fs::path folder_;
  fs::path cache_;
  fs::path file_;
};

TEST_F(FileDigestTest, IsTheSumThatSha256sumPrints) {
  FileDigests digests("");
  EXPECT_EQ(Of(digests, file_), kAbc);
  Write(file_, "");
  EXPECT_EQ(Of(digests, file_), kEmpty);
}

TEST_F(FileDigestTest, AFileOfSeveralPiecesIsHashedWhole) {
  FileDigests digests("");
  for (const size_t size : {size_t{1} << 20, size_t{2} << 20, (size_t{5} << 19) + 1}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 >> 8);
    Write(file_, text);
    EXPECT_EQ(Of(digests, file_), Sha256().AddRaw(std::as_bytes(std::span(text))).Finish().Hex());
  }
}

TEST_F(FileDigestTest, TheSecondCallIsServedFromTheCache) {
  FileDigests digests(cache_, kAnyAge);
  EXPECT_EQ(Of(digests, file_), kAbc);
  Forge();
  EXPECT_EQ(Of(digests, file_), kForged);
  FileDigests another(cache_, kAnyAge);
  EXPECT_EQ(Of(another, file_), kForged);
  FileDigests without("");
  EXPECT_EQ(Of(without, file_), kAbc);
}

TEST_F(FileDigestTest, AChangedSizeOrMtimeIsHashedAgain) {
  FileDigests digests(cache_, kAnyAge);
  Of(digests, file_);
  Forge();
  Write(file_, "");
  EXPECT_EQ(Of(digests, file_), kEmpty);
  Forge();
  fs::last_write_time(file_, fs::last_write_time(file_) - hours(1));
  EXPECT_EQ(Of(digests, file_), kEmpty);
  EXPECT_EQ(Lines(cache_).size(), 2u) << "the old entry of the same file should be gone";
}

TEST_F(FileDigestTest, ContentChangedBehindItsMtimeIsHashedAgain) {
  FileDigests digests(cache_, kAnyAge);
  const fs::file_time_type mtime = fs::last_write_time(file_);
  EXPECT_EQ(Of(digests, file_), kAbc);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // more than a tick of the file system's clock
  Write(file_, "abd");
  fs::last_write_time(file_, mtime);
  EXPECT_EQ(Of(digests, file_), kAbd);
}

TEST_F(FileDigestTest, AFilePutInAnothersPlaceIsHashedAgain) {
  FileDigests digests(cache_, kAnyAge);
  Of(digests, file_);
  Forge();
  Write(folder_ / "other", "abd");
  fs::last_write_time(folder_ / "other", fs::last_write_time(file_));
  fs::rename(folder_ / "other", file_);
  EXPECT_EQ(Of(digests, file_), kAbd);
}

TEST_F(FileDigestTest, AYoungFileIsNotRemembered) {
  FileDigests digests(cache_);
  EXPECT_EQ(Of(digests, file_), kAbc);
  EXPECT_FALSE(fs::exists(cache_));
  // Only the mtime can be set back; the ctime still tells the age.
  fs::last_write_time(file_, fs::last_write_time(file_) - hours(1));
  EXPECT_EQ(Of(digests, file_), kAbc);
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(FileDigestTest, AFileFromTheFutureIsNotRemembered) {
  fs::last_write_time(file_, fs::last_write_time(file_) + hours(1));
  FileDigests digests(cache_, kAnyAge);
  EXPECT_EQ(Of(digests, file_), kAbc);
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(FileDigestTest, AFileOlderThanTheAgeIsRemembered) {
  FileDigests digests(cache_, std::chrono::milliseconds(50));
  EXPECT_EQ(Of(digests, file_), kAbc);
  EXPECT_FALSE(fs::exists(cache_));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(Of(digests, file_), kAbc);
  EXPECT_TRUE(fs::exists(cache_));
}

TEST_F(FileDigestTest, AGarbageCacheFileCountsAsEmptyAndIsReplaced) {
  FileDigests digests(cache_, kAnyAge);
  EXPECT_EQ(Of(digests, file_), kAbc);
  const std::string good = Read(cache_);
  Forge();
  const std::string forged = Read(cache_);
  const std::string entry = forged.substr(forged.find('\n') + 1);
  const std::vector<std::string> garbage = {
      "",
      "garbage",
      std::string(1000, '\0'),
      "afterimage file digests 2\n" + entry,
      forged + "x\n",
      forged + entry.substr(0, entry.size() / 2),
      forged.substr(0, forged.size() - 1),
      forged.substr(0, forged.size() - 1) + " 1\n",
      forged + std::string(64, 'f') + " 1 2 3 4\n",
      forged + std::string(64, 'f') + " 1 2 3 4 99999999999999999999\n",
      forged + std::string(64, 'f') + " 1  2 3 4 5\n",
      forged + std::string(1 << 20, '\n'),
  };
  for (const std::string& text : garbage) {
    Write(cache_, text);
    EXPECT_EQ(Of(digests, file_), kAbc) << text.substr(0, 300);
    EXPECT_EQ(Read(cache_), good) << text.substr(0, 300);
  }
}

TEST_F(FileDigestTest, EntriesOfOtherProcessesAreKept) {
  const std::string other = std::string(64, 'a') + " 1 2 3 -4 5";
  fs::create_directories(cache_.parent_path());
  Write(cache_, "afterimage file digests 1\n" + other + "\n");
  FileDigests digests(cache_, kAnyAge);
  EXPECT_EQ(Of(digests, file_), kAbc);
  const std::vector<std::string> lines = Lines(cache_);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], other);
  EXPECT_TRUE(lines[2].starts_with(kAbc));
}

TEST_F(FileDigestTest, TheOldestEntriesAreDroppedWhenThereAreTooMany) {
  std::ostringstream text;
  text << "afterimage file digests 1\n";
  for (int i = 0; i < 256; ++i) text << std::string(64, 'a') << " 999999 " << i << " 1 2 3\n";
  fs::create_directories(cache_.parent_path());
  Write(cache_, text.str());
  FileDigests digests(cache_, kAnyAge);
  EXPECT_EQ(Of(digests, file_), kAbc);
  const std::vector<std::string> lines = Lines(cache_);
  ASSERT_EQ(lines.size(), 257u);
  EXPECT_EQ(lines[1], std::string(64, 'a') + " 999999 1 1 2 3");
  EXPECT_TRUE(lines.back().starts_with(kAbc));
}

TEST_F(FileDigestTest, AnUnwritableCacheIsNoError) {
  for (const fs::path& cache : {file_ / "digests", folder_, fs::path("/proc/no/such/folder")}) {
    FileDigests digests(cache, kAnyAge);
    EXPECT_EQ(Of(digests, file_), kAbc) << cache;
    EXPECT_EQ(Of(digests, file_), kAbc) << cache;
  }
  EXPECT_EQ(Read(file_), "abc");
}

TEST_F(FileDigestTest, NoTemporaryFileStays) {
  FileDigests digests(cache_, kAnyAge);
  Of(digests, file_);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache_.parent_path()), {}), 1);
  fs::create_directory(folder_ / "in the way");
  FileDigests failing(folder_ / "in the way", kAnyAge);
  Of(failing, file_);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);  // the cache, the file, the folder in the way
}

TEST_F(FileDigestTest, ThreadsMayShareOne) {
  FileDigests digests(cache_, kAnyAge);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, &digests, i] {
      const fs::path file = folder_ / std::to_string(i);
      Write(file, "abc");
      for (int round = 0; round < 20; ++round) EXPECT_EQ(Of(digests, file), kAbc);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = Lines(cache_);
  EXPECT_EQ(lines.at(0), "afterimage file digests 1");
  EXPECT_TRUE(std::all_of(lines.begin() + 1, lines.end(), [](const auto& line) { return line.starts_with(kAbc); }));
}

TEST_F(FileDigestTest, WhatCannotBeReadIsNamed) {
  FileDigests digests(cache_, kAnyAge);
  const Result<Digest> absent = digests.Of(folder_ / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, Errc::kNotFound);
  EXPECT_NE(absent.error().message.find((folder_ / "absent").string()), std::string::npos);
  const Result<Digest> folder = digests.Of(folder_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, Errc::kIo);
  EXPECT_NE(folder.error().message.find(folder_.string()), std::string::npos);
}

}  // namespace
}  // namespace afterimage
