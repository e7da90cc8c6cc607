// Vectors in the catalogue and the disk store: they come back as they were put, and go with their last request.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "store/disk_store.h"
#include "testing/manual_clock.h"
#include "testing/sample_chunk.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

Digest DigestOf(uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

VectorRow Vector(uint8_t space, uint8_t key) {
  return {{DigestOf(space), DigestOf(key)}, "prompt", {0.5f, static_cast<float>(key)}};
}

RequestRow Request(const Digest& leaf, std::vector<VectorRef> vectors, uint8_t picture) {
  RequestRow row;
  row.text_key = "k";
  row.pictures = {DigestOf(picture)};
  row.leaf = leaf;
  row.vectors = std::move(vectors);
  row.payload = std::to_string(picture);
  return row;
}

ChunkRow Chunk(uint8_t n) {
  ChunkRow row;
  row.header.content = DigestOf(n);
  row.id = row.header.id();
  return row;
}

std::string Payloads(const Result<std::vector<RequestRow>>& rows) {
  if (!rows.ok()) return rows.error().message;
  std::string payloads;
  for (const RequestRow& row : *rows) payloads += row.payload;
  return payloads;
}

class VectorRowsTest : public testing::Test {
 protected:
  std::unique_ptr<Catalogue> Open() {
    Result<std::unique_ptr<Catalogue>> catalogue = Catalogue::Open(path_, {.durability = Durability::kProcess});
    EXPECT_TRUE(catalogue.ok()) << catalogue.error().message;
    return std::move(*catalogue);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "catalog.db";
};

TEST_F(VectorRowsTest, TheyComeBackBySpaceAsTheyWerePut) {
  ASSERT_TRUE(Open()->Commit({.vectors = {Vector(1, 0), Vector(1, 0xFF), Vector(2, 7)}}).ok());
  const auto catalogue = Open();
  EXPECT_EQ(catalogue->LoadVectors(DigestOf(1)).value(), (std::vector{Vector(1, 0), Vector(1, 0xFF)}));
  EXPECT_EQ(catalogue->LoadVectors(DigestOf(2)).value(), (std::vector{Vector(2, 7)}));
  EXPECT_TRUE(catalogue->LoadVectors(DigestOf(3)).value().empty());
  EXPECT_EQ(catalogue->LoadVectors().value().size(), 3u);
}

TEST_F(VectorRowsTest, AVectorThatIsThereStaysAsItIs) {
  const auto catalogue = Open();
  VectorRow other = Vector(1, 1);
  other.values = {9, 9};
  ASSERT_TRUE(catalogue->Commit({.vectors = {Vector(1, 1)}}).ok());
  ASSERT_TRUE(catalogue->Commit({.vectors = {other}}).ok());
  EXPECT_EQ(catalogue->LoadVectors(DigestOf(1)).value(), (std::vector{Vector(1, 1)}));
}

TEST_F(VectorRowsTest, AVectorLeadsToItsRequestsThoseWithThesePicturesFirst) {
  const auto catalogue = Open();
  const VectorRef ref = Vector(1, 1).ref;
  const VectorRef other = Vector(1, 2).ref;
  ASSERT_TRUE(catalogue
                  ->Commit({.chunks = {Chunk(1)},
                            .vectors = {Vector(1, 1), Vector(1, 2)},
                            .requests = {Request(Chunk(1).id, {ref}, 4), Request(Chunk(1).id, {other, ref}, 5),
                                         Request(Chunk(1).id, {other}, 6)}})
                  .ok());
  EXPECT_EQ(Payloads(catalogue->FindRequests(ref, {DigestOf(4)})), "45");
  EXPECT_EQ(Payloads(catalogue->FindRequests(ref, {DigestOf(9)})), "54");
  EXPECT_EQ(Payloads(catalogue->FindRequests(ref, {DigestOf(9)}, 1)), "5");
  EXPECT_EQ(Payloads(catalogue->FindRequests(other)), "65");
  EXPECT_EQ(Payloads(catalogue->FindRequests(Vector(2, 1).ref)), "");
  EXPECT_EQ(catalogue->FindRequests(other).value()[1].vectors, (std::vector{other, ref}));
}

TEST_F(VectorRowsTest, AVectorGoesWithItsLastRequest) {
  const auto catalogue = Open();
  const VectorRef both = Vector(1, 1).ref;
  const VectorRef one = Vector(1, 2).ref;
  ASSERT_TRUE(catalogue
                  ->Commit({.chunks = {Chunk(1), Chunk(2)},
                            .vectors = {Vector(1, 1), Vector(1, 2)},
                            .requests = {Request(Chunk(1).id, {both, one}, 4), Request(Chunk(2).id, {both}, 5)}})
                  .ok());
  ASSERT_TRUE(catalogue->Commit({.deleted = {Chunk(1).id}}).ok());
  EXPECT_EQ(catalogue->LoadVectors(DigestOf(1)).value(), (std::vector{Vector(1, 1)}));
  EXPECT_EQ(Payloads(catalogue->FindRequests(one)), "");
  ASSERT_TRUE(catalogue->Commit({.deleted = {Chunk(2).id}}).ok());
  EXPECT_TRUE(catalogue->LoadVectors().value().empty());
}

TEST_F(VectorRowsTest, AChangedVectorOrALinkToAnotherRequestIsNotGivenOut) {
  const VectorRef ref = Vector(1, 1).ref;
  const VectorRef other = Vector(1, 2).ref;
  ASSERT_TRUE(Open()
                  ->Commit({.chunks = {Chunk(1)},
                            .vectors = {Vector(1, 1), Vector(1, 2)},
                            .requests = {Request(Chunk(1).id, {ref}, 4), Request(Chunk(1).id, {other}, 5)}})
                  .ok());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
  const char* damage =
      "UPDATE vectors SET vector=zeroblob(8) WHERE rowid=1; UPDATE request_vectors SET request=3-request";
  EXPECT_EQ(sqlite3_exec(database, damage, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
  const auto catalogue = Open();
  EXPECT_EQ(catalogue->LoadVectors().value(), (std::vector{Vector(1, 2)}));
  EXPECT_EQ(Payloads(catalogue->FindRequests(ref)), "");
  EXPECT_EQ(catalogue->damaged_rows(), 2u);
}

TEST_F(VectorRowsTest, ThroughTheStoreTheyAreSeenAtOnceAndAfterARestart) {
  ManualClock clock;
  const VectorRef ref = Vector(1, 1).ref;
  const auto open = [&] {
    return DiskStore::Open({.folder = folder_ / "cache", .durability = Durability::kProcess}, PosixFileSystem(), clock)
        .value();
  };
  const SampleChunk chunk = MakeSample(1);
  {
    const auto store = open();
    ASSERT_TRUE(PutSample(*store, chunk).ok());
    ASSERT_TRUE(store->PutRequest(Request(chunk.id(), {ref}, 4), {Vector(1, 1)}).ok());
    EXPECT_EQ(Payloads(store->FindRequests(ref)), "4");
  }
  const auto store = open();
  EXPECT_EQ(Payloads(store->FindRequests(ref)), "4");
  EXPECT_EQ(store->catalogue().LoadVectors(DigestOf(1)).value(), (std::vector{Vector(1, 1)}));
  ASSERT_TRUE(store->Erase(chunk.id()).ok());
  ASSERT_TRUE(store->Flush().ok());
  EXPECT_EQ(Payloads(store->FindRequests(ref)), "");
  EXPECT_TRUE(store->catalogue().LoadVectors().value().empty());
}

}  // namespace
}  // namespace afterimage
