#include "store/file_system.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "testing/fault_file_system.h"
#include "testing/manual_clock.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Bytes = std::vector<std::byte>;

Bytes Noise(size_t n) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  return bytes;
}

Status Write(FileSystem& files, const std::string& path, const Bytes& bytes, bool sync = false) {
  const std::array parts = {std::span<const std::byte>(bytes)};
  return files.WriteFile(path, parts, sync);
}

Bytes ReadWhole(FileSystem& files, const std::string& path) {
  const Result<std::unique_ptr<ReadableFile>> file = files.OpenForReading(path);
  if (!file.ok()) return {};
  Bytes bytes(file.value()->size());
  const std::array parts = {std::span(bytes)};
  const Result<uint64_t> n = file.value()->ReadAt(0, parts);
  bytes.resize(n.ok() ? *n : 0);
  return bytes;
}

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class FileSystemTest : public testing::Test {
 protected:
  FileSystem& files_ = PosixFileSystem();
  TemporaryFolder folder_;
};

TEST_F(FileSystemTest, ReadsIntoManyPartsWhatWasWrittenFromMany) {
  const Bytes bytes = Noise(5000);
  std::vector<std::span<const std::byte>> pieces;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    pieces.push_back(std::span(bytes).subspan(at, std::min<size_t>(7, bytes.size() - at)));
    pieces.push_back({});  // empty ones are fine
  }
  ASSERT_TRUE(files_.WriteFile(folder_ / "a", pieces, true).ok());
  EXPECT_EQ(ReadWhole(files_, folder_ / "a"), bytes);

  const std::unique_ptr<ReadableFile> file = files_.OpenForReading(folder_ / "a").value();
  EXPECT_EQ(file->size(), bytes.size());
  Bytes read(3000);
  std::vector<std::span<std::byte>> parts = {{}};
  for (size_t at = 0; at < read.size(); at += 3) parts.push_back(std::span(read).subspan(at, 3));
  EXPECT_EQ(file->ReadAt(1000, parts).value(), 3000u);
  EXPECT_TRUE(std::ranges::equal(read, std::span(bytes).subspan(1000, 3000)));
  EXPECT_EQ(file->ReadAt(4999, parts).value(), 1u) << "at the end there is less";
  EXPECT_EQ(file->ReadAt(9999, parts).value(), 0u);
}

TEST_F(FileSystemTest, WritingReplacesWholeAndLeavesNoTemporaryName) {
  ASSERT_TRUE(Write(files_, folder_ / "a", Noise(10)).ok());
  const std::unique_ptr<ReadableFile> old = files_.OpenForReading(folder_ / "a").value();
  ASSERT_TRUE(Write(files_, folder_ / "a", Noise(4)).ok());
  EXPECT_EQ(ReadWhole(files_, folder_ / "a"), Noise(4));
  Bytes read(10);
  const std::array parts = {std::span(read)};
  EXPECT_EQ(old->ReadAt(0, parts).value(), 10u) << "what is open stays as it was";
  EXPECT_EQ(read, Noise(10));
  EXPECT_EQ(files_.List(folder_.path()).value().size(), 1u);
}

TEST_F(FileSystemTest, AbsentThingsHaveTheirCodes) {
  EXPECT_EQ(files_.OpenForReading(folder_ / "x").error().code, Errc::kNotFound);
  EXPECT_EQ(files_.List(folder_ / "x").error().code, Errc::kNotFound);
  EXPECT_EQ(files_.Rename(folder_ / "x", folder_ / "y").error().code, Errc::kNotFound);
  EXPECT_EQ(Write(files_, folder_ / "x/y", Noise(1)).error().code, Errc::kIo);
  EXPECT_EQ(files_.OpenForReading(folder_.path()).error().code, Errc::kIo) << "a folder is no file";
  EXPECT_TRUE(files_.Remove(folder_ / "x").ok());
}

TEST_F(FileSystemTest, FoldersAreMadeListedAndRemoved) {
  ASSERT_TRUE(files_.MakeFolders(folder_ / "b/c").ok());
  ASSERT_TRUE(files_.MakeFolders(folder_ / "b/c").ok());
  ASSERT_TRUE(Write(files_, folder_ / "a", Noise(1)).ok());
  const std::vector<FolderEntry> entries = files_.List(folder_.path()).value();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_FALSE(entries[0].is_folder);
  EXPECT_EQ(entries[1].name, "b");
  EXPECT_TRUE(entries[1].is_folder);
  EXPECT_TRUE(files_.SyncFolder(folder_ / "b").ok());
  EXPECT_FALSE(files_.Remove(folder_ / "b").ok()) << "not empty";
  EXPECT_TRUE(files_.Remove(folder_ / "b/c").ok());
  EXPECT_TRUE(files_.Remove(folder_ / "b").ok());
}

TEST_F(FileSystemTest, ASecondLockIsBusyAndNamesTheOwner) {
  Result<std::unique_ptr<FileLock>> first = files_.Lock(folder_ / "lock");
  ASSERT_TRUE(first.ok());
  const Result<std::unique_ptr<FileLock>> second = files_.Lock(folder_ / "lock");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::kBusy);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid()) + ":"), std::string::npos)
      << second.error().message;
  first->reset();
  EXPECT_TRUE(files_.Lock(folder_ / "lock").ok());
}

TEST_F(FileSystemTest, TheLockOfADeadProcessIsFree) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<std::unique_ptr<FileLock>> lock = files_.Lock(folder_ / "lock");
    ::_exit(lock.ok() ? 0 : 1);  // without unlocking
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(TextOf(folder_ / "lock"), std::to_string(child) + "\n");
  EXPECT_TRUE(files_.Lock(folder_ / "lock").ok());
}

TEST_F(FileSystemTest, AFullDiskFailsTheWriteAndLeavesNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  std::filesystem::create_symlink("/dev/full", folder_ / "a.tmp");
  const Status status = Write(files_, folder_ / "a", Noise(100));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::kIo);
  EXPECT_NE(status.error().message.find("No space left"), std::string::npos) << status.error().message;
  EXPECT_TRUE(files_.List(folder_.path()).value().empty());
}

class FaultFileSystemTest : public FileSystemTest {
 protected:
  FaultFileSystem faulty_{PosixFileSystem()};
};

TEST_F(FaultFileSystemTest, WithoutFaultsItIsTheOther) {
  ASSERT_TRUE(Write(faulty_, folder_ / "a", Noise(100), true).ok());
  EXPECT_EQ(ReadWhole(faulty_, folder_ / "a"), Noise(100));
  EXPECT_EQ(faulty_.List(folder_.path()).value().size(), 1u);
}

TEST_F(FaultFileSystemTest, InjectsWhatItIsTold) {
  ASSERT_TRUE(Write(faulty_, folder_ / "a", Noise(100)).ok());
  faulty_.Set({.no_space = true});
  EXPECT_EQ(Write(faulty_, folder_ / "b", Noise(100)).error().code, Errc::kIo);
  faulty_.Set({.failing_fsync = true});
  EXPECT_FALSE(Write(faulty_, folder_ / "b", Noise(100), true).ok());
  EXPECT_FALSE(faulty_.SyncFolder(folder_.path()).ok());
  EXPECT_EQ(files_.List(folder_.path()).value().size(), 1u);
  faulty_.Set({.unreadable = true});
  EXPECT_TRUE(ReadWhole(faulty_, folder_ / "a").empty());
  faulty_.Set({.flip = 17});
  Bytes flipped = Noise(100);
  flipped[17] ^= std::byte{1};
  EXPECT_EQ(ReadWhole(faulty_, folder_ / "a"), flipped);
  faulty_.Set({});
  EXPECT_EQ(ReadWhole(faulty_, folder_ / "a"), Noise(100));
}

TEST_F(FaultFileSystemTest, AfterACrashNothingWorksAndHalfAFileIsLeft) {
  faulty_.Set({.crash_at = 1});
  ASSERT_TRUE(Write(faulty_, folder_ / "a", Noise(100)).ok());
  EXPECT_FALSE(Write(faulty_, folder_ / "b", Noise(100)).ok());
  EXPECT_FALSE(Write(faulty_, folder_ / "c", Noise(100)).ok());
  EXPECT_TRUE(ReadWhole(faulty_, folder_ / "a").empty());
  EXPECT_EQ(faulty_.operations(), 4u);
  const std::vector<FolderEntry> left = files_.List(folder_.path()).value();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[1].name, "b.tmp");
  EXPECT_EQ(ReadWhole(files_, folder_ / "b.tmp").size(), 50u);
}

TEST_F(FaultFileSystemTest, APowerCutTakesWhatWasNotSynced) {
  ASSERT_TRUE(files_.MakeFolders(folder_ / "f").ok());
  ASSERT_TRUE(Write(faulty_, folder_ / "f/bytes_and_name", Noise(1), true).ok());
  ASSERT_TRUE(Write(faulty_, folder_ / "f/name_alone", Noise(1), false).ok());
  ASSERT_TRUE(faulty_.SyncFolder(folder_ / "f").ok());
  ASSERT_TRUE(Write(faulty_, folder_ / "f/bytes_alone", Noise(1), true).ok());
  faulty_.LosePower();
  const std::vector<FolderEntry> left = files_.List(folder_ / "f").value();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].name, "bytes_and_name");
}

TEST_F(FaultFileSystemTest, ASlowDiskAdvancesTheClock) {
  ManualClock clock;
  faulty_.Set({.on_bytes = [&](uint64_t n) { clock.AdvanceMs(static_cast<double>(n) * 0.5); }});
  ASSERT_TRUE(Write(faulty_, folder_ / "a", Noise(100)).ok());
  EXPECT_EQ(Milliseconds(clock.Now()), 50);
  EXPECT_EQ(ReadWhole(faulty_, folder_ / "a").size(), 100u);
  EXPECT_EQ(Milliseconds(clock.Now()), 100);
}

}  // namespace
}  // namespace afterimage
