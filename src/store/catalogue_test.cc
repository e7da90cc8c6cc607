#include "store/catalogue.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "testing/flip_bit.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

Digest DigestOf(uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

ChunkRow Chunk(uint8_t n) {
  ChunkRow row;
  row.header.kind = n % 2 == 0 ? ChunkHeader::Kind::kKv : ChunkHeader::Kind::kFusion;
  row.header.compatibility = DigestOf(1);
  row.header.numerics = DigestOf(2);
  row.header.tenant = std::string("ac\0me", 5);
  row.header.parent = DigestOf(3);
  row.header.content = DigestOf(n);
  row.header.first_position = 17;
  row.header.n_positions = 3;
  row.header.n_tokens = 3;
  row.header.tokens = {5, -1, n};
  row.header.rows_bytes = uint64_t{1} << 40;
  row.header.logits_bytes = 64;
  row.id = row.header.id();
  row.header_sum = UINT64_MAX - 5;
  row.file_bytes = 4711;
  row.created_ns = 12;
  row.used_ns = 34;
  row.hits = 56;
  row.compute_ms = 7.25;
  row.metadata = R"({"a":"ü"})";
  return row;
}

RequestRow Request(const std::string& key, const Digest& leaf, const std::string& payload = "{}") {
  RequestRow row;
  row.tenant = "acme";
  row.compatibility = DigestOf(1);
  row.text_key = key;
  row.pictures = {DigestOf(8), DigestOf(9)};
  row.leaf = leaf;
  row.payload = payload;
  row.created_ns = 99;
  return row;
}

void ExpectEqual(const ChunkRow& a, const ChunkRow& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.header, b.header);
  EXPECT_EQ(a.header_sum, b.header_sum);
  EXPECT_EQ(a.file_bytes, b.file_bytes);
  EXPECT_EQ(a.created_ns, b.created_ns);
  EXPECT_EQ(a.used_ns, b.used_ns);
  EXPECT_EQ(a.hits, b.hits);
  EXPECT_EQ(a.compute_ms, b.compute_ms);
  EXPECT_EQ(a.metadata, b.metadata);
}

class CatalogueTest : public testing::Test {
 protected:
  std::unique_ptr<Catalogue> Open(Catalogue::Options options = {.durability = Durability::kProcess}) const {
    Result<std::unique_ptr<Catalogue>> catalogue = Catalogue::Open(path_, options);
    EXPECT_TRUE(catalogue.ok()) << catalogue.error().message;
    return catalogue.ok() ? std::move(*catalogue) : nullptr;
  }
  Error WhyNot(Catalogue::Options options = {}) const {
    const Result<std::unique_ptr<Catalogue>> catalogue = Catalogue::Open(path_, options);
    return catalogue.ok() ? Error{Errc::kInternal, "it opened"} : catalogue.error();
  }
  void Sql(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "catalog.db";
};

TEST_F(CatalogueTest, ChunksComeBackAsTheyWerePut) {
  for (const Durability durability : {Durability::kPower, Durability::kProcess}) {
    const auto catalogue = Open({.durability = durability});
    ASSERT_TRUE(catalogue->Commit({.chunks = {Chunk(1), Chunk(2)}}).ok());
  }
  std::vector<ChunkRow> rows = Open()->LoadChunks().value();
  ASSERT_EQ(rows.size(), 2u);
  if (rows[0].id != Chunk(1).id) std::swap(rows[0], rows[1]);
  ExpectEqual(rows[0], Chunk(1));
  ExpectEqual(rows[1], Chunk(2));
}

TEST_F(CatalogueTest, ABatchDeletesReplacesAndTouches) {
  const auto catalogue = Open();
  ASSERT_TRUE(catalogue->Commit({.chunks = {Chunk(1), Chunk(2), Chunk(3)}}).ok());
  ChunkRow replaced = Chunk(2);
  replaced.header.numerics = DigestOf(77);
  ASSERT_TRUE(catalogue
                  ->Commit({.deleted = {Chunk(1).id, DigestOf(200)},
                            .chunks = {replaced},
                            .touched = {{Chunk(3).id, 1000, 2000}, {DigestOf(201), 1, 1}}})
                  .ok());
  std::vector<ChunkRow> rows = catalogue->LoadChunks().value();
  ASSERT_EQ(rows.size(), 2u);
  if (rows[0].id != replaced.id) std::swap(rows[0], rows[1]);
  EXPECT_EQ(rows[0].header.numerics, DigestOf(77));
  EXPECT_EQ(rows[1].used_ns, 1000);
  EXPECT_EQ(rows[1].hits, 2000u);
}

TEST_F(CatalogueTest, RequestsAreFoundByAllThreePartsOfTheirKeyNewestFirst) {
  const auto catalogue = Open();
  RequestRow other_tenant = Request("k", DigestOf(5));
  other_tenant.tenant = "other";
  RequestRow other_model = Request("k", DigestOf(5));
  other_model.compatibility = DigestOf(66);
  ASSERT_TRUE(catalogue
                  ->Commit({.requests = {Request("k", DigestOf(5), "first"), other_tenant, Request("j", DigestOf(5)),
                                         other_model, Request("k", DigestOf(6), "second")}})
                  .ok());
  const std::vector<RequestRow> rows = catalogue->FindRequests("acme", DigestOf(1), "k").value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].payload, "second");
  RequestRow first = Request("k", DigestOf(5), "first");
  first.id = rows[1].id;
  EXPECT_EQ(rows[1], first);
  EXPECT_LT(rows[1].id, rows[0].id);
  EXPECT_TRUE(catalogue->FindRequests("acme", DigestOf(1), "").value().empty());
  EXPECT_EQ(catalogue->LoadRequests().value().size(), 5u);
}

TEST_F(CatalogueTest, RequestsGoWithTheirLeaf) {
  const auto catalogue = Open();
  ASSERT_TRUE(
      catalogue
          ->Commit({.chunks = {Chunk(1), Chunk(2)}, .requests = {Request("a", Chunk(1).id), Request("b", Chunk(2).id)}})
          .ok());
  ASSERT_TRUE(catalogue->Commit({.deleted = {Chunk(1).id}}).ok());
  const std::vector<RequestRow> rows = catalogue->LoadRequests().value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].text_key, "b");
}

TEST_F(CatalogueTest, RatesAndMetaAreKept) {
  const Rate prefill = {.key = "prefill", .n = 1.5, .x = 120.25, .y = 3, .xx = 1e18, .xy = -0.125};
  const Rate load = {.key = "load", .n = 5, .x = 2};
  {
    const auto catalogue = Open();
    EXPECT_FALSE(catalogue->FindRate("prefill").value().has_value());
    EXPECT_FALSE(catalogue->FindMeta("m").value().has_value());
    ASSERT_TRUE(catalogue->Commit({.rates = {{"prefill", 100, 1, 2, 3, 4}, load}}).ok());
    ASSERT_TRUE(catalogue->Commit({.rates = {prefill}}).ok());
    ASSERT_TRUE(catalogue->PutMeta("m", "1").ok());
    ASSERT_TRUE(catalogue->PutMeta("m", "2").ok());
  }
  const auto catalogue = Open();
  EXPECT_EQ(catalogue->FindRate("prefill").value(), prefill);
  EXPECT_EQ(catalogue->LoadRates().value(), (std::vector<Rate>{load, prefill}));
  EXPECT_EQ(catalogue->FindMeta("m").value(), "2");
}

TEST_F(CatalogueTest, AReaderSeesWhatAWriterInTheSameFileCommits) {
  const auto writer = Open();
  const auto reader = Open({.read_only = true});
  ASSERT_TRUE(writer->Commit({.chunks = {Chunk(1)}}).ok());
  EXPECT_EQ(reader->LoadChunks().value().size(), 1u);
  EXPECT_EQ(reader->Commit({.chunks = {Chunk(2)}}).error().code, Errc::kUnsupported);
  EXPECT_EQ(reader->PutMeta("a", "b").error().code, Errc::kUnsupported);
}

TEST_F(CatalogueTest, AnAbsentFileIsAnErrorUnlessItMayBeMade) {
  EXPECT_FALSE(Catalogue::Open(path_, {.create = false}).ok());
  EXPECT_FALSE(Catalogue::Open(path_, {.read_only = true}).ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
  std::ofstream(path_).close();
  EXPECT_EQ(WhyNot({.create = false}).code, Errc::kCorrupt);
  Open();
}

TEST_F(CatalogueTest, ForeignFilesAreRefusedAndLeftAlone) {
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_EQ(WhyNot().code, Errc::kCorrupt);
  EXPECT_EQ(std::filesystem::file_size(path_), 5000u);
  std::filesystem::remove(path_);

  Sql("CREATE TABLE chunks (a)");
  EXPECT_EQ(WhyNot().code, Errc::kInvalidArgument);
  EXPECT_NE(WhyNot().message.find("not a catalogue of afterimage"), std::string::npos) << WhyNot().message;
}

TEST_F(CatalogueTest, ANewerSchemaIsRefusedByItsNumber) {
  Open();
  Sql("PRAGMA user_version=4711");
  EXPECT_EQ(WhyNot().code, Errc::kUnsupported);
  EXPECT_NE(WhyNot().message.find("4711"), std::string::npos);
  EXPECT_EQ(WhyNot({.read_only = true}).code, Errc::kUnsupported);
}

TEST_F(CatalogueTest, OneThatLostItsMarkOrItsTablesIsDamagedNotForeign) {
  for (const char* sql : {"PRAGMA application_id=7", "PRAGMA user_version=0", "DROP TABLE rates"}) {
    std::filesystem::remove(path_);
    Open();
    Sql(sql);
    EXPECT_EQ(WhyNot().code, Errc::kCorrupt) << sql;
  }
}

TEST_F(CatalogueTest, AFileThatSaysItCannotBeWrittenIsDamaged) {
  Open();
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(18).put(9);  // the write version
  EXPECT_EQ(WhyNot().code, Errc::kCorrupt);
}

TEST_F(CatalogueTest, StartingAnewKeepsTheObjectAndNothingElse) {
  const auto catalogue = Open();
  ASSERT_TRUE(catalogue->Commit({.chunks = {Chunk(1)}}).ok());
  EXPECT_FALSE(catalogue->incomplete().value());
  const Error no = {Errc::kIo, "no"};
  EXPECT_EQ(catalogue->StartAnew([&]() -> Status { return no; }).error().message, "no");
  EXPECT_EQ(catalogue->LoadChunks().error().code, Errc::kIo) << "closed";
  EXPECT_EQ(catalogue->Commit({.chunks = {Chunk(1)}}).error().code, Errc::kIo);
  EXPECT_EQ(catalogue->PutMeta("a", "b").error().code, Errc::kIo);
  EXPECT_EQ(catalogue->FindRequests("acme", DigestOf(1), "k").error().code, Errc::kIo);
  EXPECT_EQ(catalogue->Check().error().code, Errc::kIo);
  ASSERT_TRUE(catalogue
                  ->StartAnew([&]() -> Status {
                    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
                    return {};
                  })
                  .ok());
  EXPECT_TRUE(catalogue->LoadChunks().value().empty());
  EXPECT_TRUE(catalogue->incomplete().value());
  ASSERT_TRUE(catalogue->Commit({.chunks = {Chunk(2)}}).ok());
  ASSERT_TRUE(catalogue->SetComplete().ok());
  EXPECT_FALSE(Open({.read_only = true})->incomplete().value());
  EXPECT_EQ(Open({.read_only = true})->LoadChunks().value().size(), 1u);
}

TEST_F(CatalogueTest, ARowThatWasChangedIsDroppedAndCounted) {
  const CatalogueBatch batch = {.chunks = {Chunk(1), Chunk(2)}, .requests = {Request("a", Chunk(1).id, "yes")}};
  ASSERT_TRUE(Open()->Commit(batch).ok());
  Sql("UPDATE chunks SET numerics=zeroblob(32) WHERE kind=1");
  Sql("UPDATE requests SET payload='no'");
  const auto catalogue = Open();
  const std::vector<ChunkRow> rows = catalogue->LoadChunks().value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].id, Chunk(1).id);
  EXPECT_TRUE(catalogue->FindRequests("acme", DigestOf(1), "a").value().empty());
  EXPECT_EQ(catalogue->damaged_rows(), 2u);
  EXPECT_EQ(catalogue->LoadChunks().value().size(), 1u);
  EXPECT_EQ(catalogue->damaged_rows(), 2u) << "the row is gone from the table";
  EXPECT_TRUE(catalogue->incomplete().value()) << "and its chunk's file may be there";
}

TEST_F(CatalogueTest, OursIsToldByItsFirstBytes) {
  Open();
  std::ifstream file(path_, std::ios::binary);
  std::string bytes(100, '\0');
  file.read(bytes.data(), 100);
  EXPECT_TRUE(Catalogue::IsOurs(std::as_bytes(std::span(bytes))));
  EXPECT_FALSE(Catalogue::IsOurs(std::as_bytes(std::span(bytes)).first(60)));
  bytes[70] ^= 1;
  EXPECT_FALSE(Catalogue::IsOurs(std::as_bytes(std::span(bytes))));
  bytes[70] ^= 1;
  bytes[0] ^= 1;
  EXPECT_FALSE(Catalogue::IsOurs(std::as_bytes(std::span(bytes))));
}

// Whatever is damaged: it opens or says why, and no row comes back that was not put.
TEST_F(CatalogueTest, FlippedBitsNeverChangeARow) {
  {
    const auto catalogue = Open();
    CatalogueBatch batch;
    for (uint8_t n = 0; n < 40; ++n) {
      batch.chunks.push_back(Chunk(n));
      batch.requests.push_back(Request("key" + std::to_string(n % 7), Chunk(n).id, "payload" + std::to_string(n)));
    }
    ASSERT_TRUE(catalogue->Commit(batch).ok());
  }
  std::ifstream in(path_, std::ios::binary);
  const std::string sound((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(3);
  int opened = 0;
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = sound;
    for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      FlipBit(damaged, random() % damaged.size(), random());
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
    std::ofstream(path_, std::ios::binary) << damaged;
    Result<std::unique_ptr<Catalogue>> catalogue = Catalogue::Open(path_, {.durability = Durability::kProcess});
    if (!catalogue.ok()) {
      EXPECT_NE(catalogue.error().message, "");
      ++refused;
      continue;
    }
    ++opened;
    const Result<std::vector<ChunkRow>> rows = catalogue.value()->LoadChunks();
    for (size_t i = 0; rows.ok() && i < rows->size(); ++i) {
      const ChunkRow& row = (*rows)[i];
      ASSERT_EQ(row.header, Chunk(row.header.content.bytes[0]).header);
      ASSERT_EQ(row.id, row.header.id());
    }
    for (int key = 0; key < 7; ++key) {
      const auto requests = catalogue.value()->FindRequests("acme", DigestOf(1), "key" + std::to_string(key));
      for (size_t i = 0; requests.ok() && i < requests->size(); ++i) {
        const int n = std::stoi((*requests)[i].payload.substr(7));
        ASSERT_EQ(n % 7, key);
        ASSERT_EQ((*requests)[i].leaf, Chunk(static_cast<uint8_t>(n)).id);
      }
    }
  }
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(CatalogueTest, ReadsGoOnWhileOthersWrite) {
  const auto catalogue = Open();
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(catalogue
                      ->Commit({.chunks = {Chunk(static_cast<uint8_t>(i))},
                                .requests = {Request("k", Chunk(static_cast<uint8_t>(i)).id)}})
                      .ok());
    }
  });
  size_t seen = 0;
  for (int i = 0; i < 100; ++i) {
    const auto rows = catalogue->FindRequests("acme", DigestOf(1), "k");
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    EXPECT_GE(rows->size(), seen);
    seen = rows->size();
  }
  writer.join();
  EXPECT_EQ(catalogue->FindRequests("acme", DigestOf(1), "k").value().size(), 100u);
}

}  // namespace
}  // namespace afterimage
