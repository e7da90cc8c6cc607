#include "store/listing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "store/disk_store.h"
#include "store/export.h"
#include "store/garbage.h"
#include "store/verify.h"
#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

// A picture, two questions behind it, a turn behind the second, and tensors.
class StoreToolsTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = Open();
    for (const SampleChunk* chunk : {&picture_, &first_, &second_, &turn_, &tensors_}) {
      clock_.AdvanceMs(1);
      ASSERT_TRUE(PutSample(*store, *chunk).ok());
    }
    for (const auto& [key, leaf] :
         {std::pair("k", &first_), std::pair("j", &turn_), std::pair("k", &second_), std::pair("k", &first_)}) {
      RequestRow row;
      row.text_key = key;
      row.leaf = leaf->id();
      row.payload = R"({"question":"what?"})";
      ASSERT_TRUE(store->PutRequest(row).ok());
    }
    ASSERT_TRUE(store->PutRate({.key = "load", .n = 1, .x = 2, .y = 3, .xx = 4, .xy = 5}).ok());
  }
  std::unique_ptr<DiskStore> Open(const std::string& fusion_folder = "") {
    const DiskStoreOptions options = {
        .folder = path_, .fusion_folder = fusion_folder, .durability = Durability::kProcess};
    return DiskStore::Open(options, PosixFileSystem(), clock_).value();
  }
  StoreListing List() const { return ReadListing(PosixFileSystem(), layout_).value(); }
  VerifyReport Verify() const { return VerifyFolder(PosixFileSystem(), layout_, nullptr).value(); }
  GarbageReport Collect(DiskStoreOptions options = {}) {
    options.folder = path_;
    return CollectGarbage(options, PosixFileSystem(), clock_).value();
  }
  std::string PathOf(const SampleChunk& chunk) const { return layout_.PathOf(chunk.header.kind, chunk.id()); }
  void Damage(const std::string& path, std::streamoff at) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(at).put(byte);
  }
  std::set<std::string> AllFiles() const {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) files.insert(entry.path().string());
    return files;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a ?#% store";
  const DiskLayout layout_{path_};
  ManualClock clock_;
  const SampleChunk picture_ = MakeSample(1, {.rows_bytes = 4000, .n_logits = 0, .n_tokens = 64});
  const SampleChunk first_ = MakeSample(2, {.parent = picture_.id()});
  const SampleChunk second_ = MakeSample(3, {.parent = picture_.id()});
  const SampleChunk turn_ = MakeSample(4, {.parent = second_.id()});
  const SampleChunk tensors_ = MakeSample(5, {.rows_bytes = 400, .fusion = true});
};

TEST_F(StoreToolsTest, AListingHasAllThereIsAndLeavesNoTrace) {
  const std::set<std::string> before = AllFiles();
  const StoreListing listing = List();
  EXPECT_EQ(AllFiles(), before);
  EXPECT_EQ(listing.chunks.size(), 5u);
  EXPECT_EQ(listing.requests.size(), 4u);
  EXPECT_EQ(listing.rates.size(), 1u);
  EXPECT_EQ(listing.totals.kv_bytes, 7000u);
  EXPECT_EQ(listing.totals.fusion_bytes, 400u);
  EXPECT_EQ(listing.totals.logits_bytes, 96u);
  EXPECT_EQ(listing.catalogue_bytes, fs::file_size(layout_.catalogue()));
  const auto store = Open();
  EXPECT_EQ(listing.totals.overhead_bytes, store->stats().overhead_bytes);
  ASSERT_TRUE(PutSample(*store, MakeSample(9)).ok());
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(List().chunks.size(), 6u) << "beside a writer";
}

TEST_F(StoreToolsTest, AFolderWithoutACacheIsAnErrorThatSaysSo) {
  EXPECT_EQ(ReadListing(PosixFileSystem(), DiskLayout(folder_ / "absent")).error().code, Errc::kNotFound);
  EXPECT_EQ(VerifyFolder(PosixFileSystem(), DiskLayout(folder_ / "absent"), nullptr).error().code, Errc::kNotFound);
  EXPECT_EQ(CollectGarbage({.folder = folder_ / "absent"}, PosixFileSystem(), clock_).error().code, Errc::kNotFound);
  EXPECT_FALSE(fs::exists(folder_ / "absent"));
  EXPECT_EQ(ReadListing(PosixFileSystem(), DiskLayout(folder_.path())).error().code, Errc::kInvalidArgument);
}

TEST_F(StoreToolsTest, ChildrenStandUnderTheirParents) {
  const std::vector<ChunkRow> chunks = List().chunks;
  std::vector<std::pair<Digest, size_t>> seen;
  for (const TreeEntry& entry : TreeOrder(chunks)) seen.emplace_back(chunks[entry.index].id, entry.depth);
  const std::vector<std::pair<Digest, size_t>> expected = {
      {picture_.id(), 0}, {first_.id(), 1}, {second_.id(), 1}, {turn_.id(), 2}, {tensors_.id(), 0}};
  EXPECT_EQ(seen, expected);
}

TEST_F(StoreToolsTest, ParentsInACircleAreListedAllTheSame) {
  std::vector<ChunkRow> chunks(3);
  for (uint8_t i = 0; i < 3; ++i) {
    chunks[i].id.bytes[0] = i + 1;
    chunks[i].header.parent.bytes[0] = static_cast<uint8_t>((i + 1) % 3 + 1);
  }
  EXPECT_EQ(TreeOrder(chunks).size(), 3u);
}

TEST_F(StoreToolsTest, AChunkIsFoundByAPrefixOfItsOwn) {
  const std::vector<ChunkRow> chunks = List().chunks;
  for (const ChunkRow& row : chunks) {
    EXPECT_EQ(FindByPrefix(chunks, row.id.Hex()).value()->id, row.id);
    EXPECT_EQ(FindByPrefix(chunks, row.id.Hex().substr(0, 12)).value()->id, row.id);
  }
  std::vector<ChunkRow> twins = {chunks[0], chunks[0]};
  twins[1].id.bytes[31] ^= 1;
  EXPECT_EQ(FindByPrefix(twins, chunks[0].id.Hex().substr(0, 12)).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(FindByPrefix(chunks, "").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(FindByPrefix(chunks, "../..").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(FindByPrefix({}, "ab").error().code, Errc::kNotFound);
}

TEST_F(StoreToolsTest, TheCatalogueRemembersWhereFusionChunksLie) {
  EXPECT_EQ(FindLayout(path_).chunks(ChunkHeader::Kind::kFusion), layout_.chunks(ChunkHeader::Kind::kFusion));
  Open(folder_ / "elsewhere");
  EXPECT_EQ(FindLayout(path_).chunks(ChunkHeader::Kind::kFusion), folder_ / "elsewhere");
  Open();
  EXPECT_EQ(FindLayout(path_).chunks(ChunkHeader::Kind::kFusion), layout_.chunks(ChunkHeader::Kind::kFusion));
}

TEST_F(StoreToolsTest, ASoundFolderVerifiesAndIsLeftAsItWas) {
  const std::set<std::string> before = AllFiles();
  uint64_t calls = 0;
  const VerifyReport report = VerifyFolder(PosixFileSystem(), layout_, [&](uint64_t done, uint64_t all) {
                                EXPECT_EQ(done, ++calls);
                                EXPECT_EQ(all, 5u);
                              }).value();
  EXPECT_EQ(calls, 5u);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.rows, 5u);
  EXPECT_EQ(report.requests, 4u);
  EXPECT_EQ(report.files, 5u);
  EXPECT_EQ(report.bytes, List().totals.file_bytes);
  EXPECT_EQ(AllFiles(), before);
}

TEST_F(StoreToolsTest, EveryDamagedFileIsNamed) {
  Damage(PathOf(first_), 20);  // in the header
  Damage(PathOf(turn_), 500);  // in the body
  fs::resize_file(PathOf(tensors_), 100);
  const std::set<std::string> before = AllFiles();
  const VerifyReport report = Verify();
  EXPECT_EQ(AllFiles(), before);
  std::set<std::string> named;
  for (const Finding& finding : report.findings) {
    EXPECT_FALSE(finding.leftover);
    EXPECT_NE(finding.reason, "");
    EXPECT_EQ(finding.reason.find(path_), std::string::npos) << "the path is said once";
    named.insert(finding.path);
  }
  EXPECT_EQ(named, (std::set<std::string>{PathOf(first_), PathOf(turn_), PathOf(tensors_)}));
}

TEST_F(StoreToolsTest, MissingSwappedAndUnknownFilesAreTold) {
  fs::remove(PathOf(first_));
  fs::copy_file(PathOf(picture_), PathOf(second_), fs::copy_options::overwrite_existing);
  const SampleChunk unknown = MakeSample(77);
  fs::create_directories(fs::path(PathOf(unknown)).parent_path());
  const std::vector<std::byte> bytes = BuildChunk(unknown.header, unknown.rows, unknown.logits);
  std::ofstream(PathOf(unknown), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::ofstream(PathOf(turn_) + ".tmp") << "half";
  const VerifyReport report = Verify();
  ASSERT_EQ(report.bad(), 2u);
  ASSERT_EQ(report.leftovers(), 2u);
  std::map<std::string, bool> named;
  for (const Finding& finding : report.findings) named[finding.path] = finding.leftover;
  const std::map<std::string, bool> expected = {
      {PathOf(first_), false}, {PathOf(second_), false}, {PathOf(unknown), true}, {PathOf(turn_) + ".tmp", true}};
  EXPECT_EQ(named, expected);
}

TEST_F(StoreToolsTest, ChunksAndRequestsThatLeadNowhereAreLeftovers) {
  ASSERT_TRUE(Open()->Erase(second_.id()).ok());
  {
    const auto catalogue = Catalogue::Open(layout_.catalogue(), {}).value();
    RequestRow row;
    row.leaf = second_.id();
    ASSERT_TRUE(catalogue->Commit({.requests = {row}}).ok());
  }
  const VerifyReport report = Verify();
  EXPECT_EQ(report.bad(), 0u);
  ASSERT_EQ(report.leftovers(), 2u);
  EXPECT_NE(report.findings[0].reason.find("request:"), std::string::npos);
  EXPECT_EQ(report.findings[1].path, PathOf(turn_));
}

TEST_F(StoreToolsTest, ADamagedCatalogueIsNamedAndTheFilesAreStillRead) {
  fs::resize_file(layout_.catalogue(), 9000);
  Damage(PathOf(turn_), 500);
  const VerifyReport report = Verify();
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].path, layout_.catalogue());
  EXPECT_EQ(report.findings[1].path, PathOf(turn_));
  EXPECT_EQ(report.files, 5u);
  EXPECT_EQ(fs::file_size(layout_.catalogue()), 9000u);
}

TEST_F(StoreToolsTest, WhatAWriterDoesMeanwhileIsNotDamage) {
  auto store = Open();
  const VerifyReport report =
      VerifyFolder(PosixFileSystem(), layout_, [&](uint64_t done, uint64_t) {
        if (done != 1) return;
        for (const SampleChunk* chunk : {&first_, &turn_, &tensors_}) {
          ASSERT_TRUE(store->Erase(chunk->id()).ok());
        }
        ASSERT_TRUE(PutSample(*store, MakeSample(3, {.parent = picture_.id(), .numerics = 2})).ok());
        ASSERT_TRUE(PutSample(*store, MakeSample(88)).ok());
        ASSERT_TRUE(store->Flush().ok());
      }).value();
  EXPECT_TRUE(report.findings.empty()) << report.findings[0].path << " " << report.findings[0].reason;
}

TEST_F(StoreToolsTest, GarbageIsWhatIsLeftOverAndWhatHasNoParent) {
  EXPECT_EQ(Collect().freed_files, 0u);
  std::ofstream(PathOf(turn_) + ".tmp") << "half";
  ASSERT_TRUE(Open()->Erase(picture_.id()).ok());  // and opening it removes the temporary file
  std::ofstream(PathOf(turn_) + ".tmp") << "half";
  const GarbageReport report = Collect();
  EXPECT_EQ(report.without_parent, 3u) << "the turn too, whose parent goes with them";
  EXPECT_EQ(report.freed_files, 4u);
  EXPECT_EQ(report.freed_bytes, FileBytes(first_.header) + FileBytes(second_.header) + FileBytes(turn_.header) + 4);
  EXPECT_EQ(report.left.chunks, 1u);
  EXPECT_EQ(List().requests.size(), 0u);
}

TEST_F(StoreToolsTest, LimitsAreAppliedByGarbageCollection) {
  const GarbageReport report = Collect({.max_bytes = 7000});
  EXPECT_GT(report.evicted, 0u);
  EXPECT_LE(report.left.file_bytes, 7000u);
  EXPECT_GT(report.left.chunks, 0u);
  EXPECT_LE(Collect({.max_blocks = 4}).left.blocks, 4u);
  const auto writer = Open();
  EXPECT_EQ(CollectGarbage({.folder = path_}, PosixFileSystem(), clock_).error().code, Errc::kBusy);
}

TEST_F(StoreToolsTest, TheTextIndexLeadsFromAKeyToAllItsDonorsOnce) {
  const std::string first = first_.id().Hex();
  const std::string second = second_.id().Hex();
  const nlohmann::ordered_json expected = {{"k", {first, second}}, {"j", {turn_.id().Hex()}}};
  EXPECT_EQ(TextIndex(List().requests), expected);
}

TEST_F(StoreToolsTest, AnExportIsReadBackAsItWas) {
  const StoreListing listing = List();
  const std::string out = folder_ / "a/b";
  ASSERT_EQ(ExportListing(listing, PosixFileSystem(), out).value().size(), 5u);
  using Json = nlohmann::json;
  const auto lines = [&](const std::string& name) {
    std::vector<Json> read;
    std::ifstream file(out + "/" + name);
    for (std::string line; std::getline(file, line);) read.push_back(Json::parse(line));
    return read;
  };
  const std::vector<Json> chunks = lines("chunks.jsonl");
  ASSERT_EQ(chunks.size(), 5u);
  EXPECT_EQ(chunks[3]["id"], turn_.id().Hex());
  EXPECT_EQ(chunks[3]["parent"], second_.id().Hex());
  EXPECT_EQ(chunks[3]["token_ids"], Json(turn_.header.tokens));
  EXPECT_TRUE(chunks[0]["parent"].is_null());
  const std::vector<Json> requests = lines("requests.jsonl");
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0]["payload"]["question"], "what?");
  EXPECT_EQ(Json::parse(std::ifstream(out + "/rates.json"))["rates"]["load"],
            Json({{"n", 1.0}, {"x", 2.0}, {"y", 3.0}, {"xx", 4.0}, {"xy", 5.0}}));
}

TEST(ExportTest, AnyBytesAreExported) {
  RequestRow row;
  row.text_key = "\xff\xfe";
  row.payload = "{\"a\": \xff";
  EXPECT_TRUE(nlohmann::json::accept(JsonText(ToJson(row), -1)));
  EXPECT_TRUE(ToJson(row)["payload"].is_string());
  EXPECT_TRUE(nlohmann::json::accept(JsonText(TextIndex({row}), 2)));
}

TEST(ExportTest, DatesAreThoseOfThisCentury) {
  EXPECT_EQ(DateText(1'794'735'870'268'903'335), "2026-11-15 09:44:30");
  EXPECT_EQ(DateText(4711), "-");
  EXPECT_EQ(DateText(-5), "-");
}

}  // namespace
}  // namespace afterimage
