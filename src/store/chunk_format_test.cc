#include "store/chunk_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <string_view>

#include "core/sha256.h"

namespace {
thread_local size_t largest_allocation = 0;
}  // namespace

// Counts, to show that no lie in a header makes the reader allocate. Address sanitizer brings its own pair.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kAllocationsAreCounted = false;
#else
constexpr bool kAllocationsAreCounted = true;

[[gnu::noinline]] void* operator new(size_t bytes) {
  largest_allocation = std::max(largest_allocation, bytes);
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace afterimage {
namespace {

using Bytes = std::vector<std::byte>;
using Kind = ChunkHeader::Kind;

// Where the fields lie (chunk_format.h).
constexpr size_t kVersionAt = 8;
constexpr size_t kHeaderBytesAt = 12;
constexpr size_t kKindAt = 16;
constexpr size_t kCodecAt = 17;
constexpr size_t kZeroAt = 18;
constexpr size_t kFirstPositionAt = 20;
constexpr size_t kPositionsAt = 24;
constexpr size_t kTokensAt = 28;
constexpr size_t kRowsBytesAt = 32;
constexpr size_t kLogitsBytesAt = 40;
constexpr size_t kIdAt = 48;
constexpr size_t kParentAt = 144;
constexpr size_t kTenantAt = 208;
// Behind the tenant's length and its four letters.
constexpr size_t kTokenIdsAt = 216;
// Behind no token ids.
constexpr size_t kProviderAt = 220;
// Behind the provider's length and its four letters.
constexpr size_t kTensorsAt = 228;
constexpr size_t kTensorNameAt = 232;
// Behind the name's length and its four letters.
constexpr size_t kRankAt = 240;
constexpr size_t kShapeAt = 244;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

Digest DigestOf(uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

Bytes Noise(size_t n, uint32_t seed = 1) {
  Random random(seed);
  Bytes bytes(n);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

ChunkHeader TextHeader() {
  ChunkHeader header;
  header.compatibility = DigestOf(1);
  header.numerics = DigestOf(2);
  header.tenant = "acme";
  header.parent = DigestOf(3);
  header.content = DigestOf(4);
  header.first_position = 17;
  header.n_positions = 3;
  header.n_tokens = 3;
  header.tokens = {5, -1, 70000};
  header.rows_bytes = 251;
  header.logits_bytes = 64;
  return header;
}

ChunkHeader PictureHeader() {
  ChunkHeader header = TextHeader();
  header.n_tokens = 256;
  header.n_positions = 16;
  header.tokens.clear();
  header.logits_bytes = 0;
  return header;
}

ChunkHeader FusionHeader() {
  ChunkHeader header = PictureHeader();
  header.kind = Kind::kFusion;
  header.parent = Digest();
  header.provider = "mtmd";
  header.tensors = {{"embd", {4, 5}}, {"deepstack", {2, 1, 3}}};
  header.rows_bytes = (20 + 6) * sizeof(float);
  return header;
}

Bytes Build(const ChunkHeader& header) {
  return BuildChunk(header, Noise(header.rows_bytes, 2), Noise(header.logits_bytes, 3));
}

ChecksumBytes ChecksumOf(std::span<const std::byte> bytes) {
  Checksum checksum;
  checksum.Add(bytes);
  return checksum.Finish();
}

// Makes the checksum right for whatever stands before it.
void Seal(Bytes& file) {
  const std::span<std::byte> all(file);
  const ChecksumBytes checksum = ChecksumOf(all.first(all.size() - kChecksumBytes));
  std::ranges::copy(checksum, all.last(kChecksumBytes).begin());
}

template <typename T>
void Put(Bytes& bytes, size_t at, T value) {
  ASSERT_LE(at + sizeof(T), bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// A copy, so that address sanitizer sees a read past its end.
Bytes Slice(std::span<const std::byte> bytes, size_t at, size_t n) {
  const std::span<const std::byte> slice = bytes.subspan(at, n);
  return {slice.begin(), slice.end()};
}

// The error's message; "" for a good file.
std::string WhyCorrupt(std::span<const std::byte> file) {
  const Result<ChunkView> view = ParseChunk(file);
  if (view.ok()) return "";
  EXPECT_EQ(view.error().code, Errc::kCorrupt);
  return view.error().message;
}

void ExpectRoundTrip(const ChunkHeader& header) {
  const Bytes file = Build(header);
  EXPECT_EQ(file.size(), FileBytes(header));

  const Bytes encoded = EncodeHeader(header);
  EXPECT_EQ(encoded.size() % 64, 0u);
  EXPECT_TRUE(std::equal(encoded.begin(), encoded.end(), file.begin()));
  const Result<uint32_t> header_bytes = HeaderBytes(std::span(file).first<kChunkPrologueBytes>());
  ASSERT_TRUE(header_bytes.ok());
  EXPECT_EQ(*header_bytes, encoded.size());
  const Result<ChunkHeader> decoded = DecodeHeader(encoded);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(*decoded, header);

  const Result<ChunkView> view = ParseChunk(file);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->header, header);
  EXPECT_TRUE(std::ranges::equal(view->rows, Noise(header.rows_bytes, 2)));
  EXPECT_TRUE(std::ranges::equal(view->logits, Noise(header.logits_bytes, 3)));
}

TEST(ChunkFormatTest, KvOfTextIsReadBackAsWritten) {
  ChunkHeader header = TextHeader();
  ExpectRoundTrip(header);
  header.logits_bytes = 0;
  ExpectRoundTrip(header);
  header.parent = Digest();
  header.first_position = 0;
  ExpectRoundTrip(header);
  header.tenant.clear();
  ExpectRoundTrip(header);
  header.rows_bytes = 0;
  ExpectRoundTrip(header);
}

TEST(ChunkFormatTest, KvOfAPictureIsReadBackAsWritten) {
  ExpectRoundTrip(PictureHeader());
  ChunkHeader header = PictureHeader();
  header.logits_bytes = 400;
  ExpectRoundTrip(header);
}

TEST(ChunkFormatTest, FusionIsReadBackAsWritten) {
  ExpectRoundTrip(FusionHeader());
  ChunkHeader header = FusionHeader();
  header.tensors.push_back({"", {}});  // a single value without a name
  header.rows_bytes += sizeof(float);
  ExpectRoundTrip(header);
}

TEST(ChunkFormatTest, HeadersAtTheirLimitsAreReadBackAsWritten) {
  ChunkHeader text = TextHeader();
  text.tenant = std::string("\0\xff", 2) + std::string(kMaxTenantBytes - 2, 't');
  text.first_position = kMaxPosition - 7;
  text.n_positions = 7;
  text.n_tokens = 1 << 17;
  text.tokens.assign(text.n_tokens, INT32_MIN);
  ExpectRoundTrip(text);

  ChunkHeader picture = PictureHeader();
  picture.n_tokens = kMaxChunkTokens;
  picture.first_position = 0;
  picture.n_positions = kMaxPosition;
  ExpectRoundTrip(picture);
  picture.rows_bytes = kMaxRowsBytes;
  picture.logits_bytes = kMaxLogitsBytes;
  const Bytes encoded = EncodeHeader(picture);
  const Result<ChunkHeader> decoded = DecodeHeader(encoded);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, picture);
  EXPECT_EQ(FileBytes(*decoded), encoded.size() + kMaxRowsBytes + kMaxLogitsBytes + kChecksumBytes);

  ChunkHeader fusion = FusionHeader();
  fusion.provider = std::string(kMaxNameBytes, 'p');
  fusion.tensors.assign(kMaxTensors, {std::string(kMaxNameBytes, 'n'), {1, 1, 1, 2, 1, 1, 1, 1}});
  fusion.rows_bytes = kMaxTensors * 2 * sizeof(float);
  ExpectRoundTrip(fusion);
}

TEST(ChunkFormatTest, EveryFlippedBitIsCorrupt) {
  for (const ChunkHeader& header : {TextHeader(), FusionHeader()}) {
    Bytes file = Build(header);
    ASSERT_EQ(WhyCorrupt(file), "");
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
      const std::byte mask{static_cast<uint8_t>(1u << (bit % 8))};
      file[bit / 8] ^= mask;
      EXPECT_NE(WhyCorrupt(file), "") << "bit " << bit;
      file[bit / 8] ^= mask;
    }
    EXPECT_EQ(WhyCorrupt(file), "");
  }
}

TEST(ChunkFormatTest, EveryTruncationIsCorrupt) {
  for (const ChunkHeader& header : {TextHeader(), FusionHeader()}) {
    const Bytes file = Build(header);
    const Bytes encoded = EncodeHeader(header);
    for (size_t size = 0; size < file.size(); ++size) {
      Bytes shorter = Slice(file, 0, size);
      EXPECT_NE(WhyCorrupt(shorter), "") << size << " bytes";
      if (size < encoded.size()) {
        EXPECT_FALSE(DecodeHeader(shorter).ok()) << size << " bytes";
      }
      if (size < kChecksumBytes) continue;
      Seal(shorter);
      EXPECT_NE(WhyCorrupt(shorter), "") << size << " bytes with their own checksum";
    }
  }
}

TEST(ChunkFormatTest, EveryExtensionIsCorrupt) {
  for (const ChunkHeader& header : {TextHeader(), FusionHeader()}) {
    Bytes file = Build(header);
    Bytes encoded = EncodeHeader(header);
    for (int added = 1; added <= 64; ++added) {
      file.push_back(std::byte{0});
      encoded.push_back(std::byte{0});
      EXPECT_NE(WhyCorrupt(file), "") << added << " more";
      EXPECT_FALSE(DecodeHeader(encoded).ok()) << added << " more";
      Bytes sealed = file;
      Seal(sealed);
      EXPECT_NE(WhyCorrupt(sealed), "") << added << " more, with their own checksum";
    }
  }
}

struct Lie {
  const char* about;
  ChunkHeader header;
  std::function<void(Bytes& file)> tell;
  const char* message;  // part of it
};

void DropBody(Bytes& file, int bytes) { file.erase(file.end() - bytes, file.end()); }

std::vector<Lie> Lies() {
  const ChunkHeader text = TextHeader();
  const ChunkHeader picture = PictureHeader();
  const ChunkHeader fusion = FusionHeader();
  ChunkHeader one_value = FusionHeader();
  one_value.tensors = {{"embd", {1, 1}}};
  one_value.rows_bytes = sizeof(float);
  ChunkHeader mute = TextHeader();
  mute.logits_bytes = 0;
  ChunkHeader bare = PictureHeader();
  bare.rows_bytes = 0;

  std::vector<Lie> lies = {
      {"magic", text, [](Bytes& f) { Put(f, 0, 'a'); }, "does not begin like one"},
      {"version 0", text, [](Bytes& f) { Put(f, kVersionAt, uint32_t{0}); }, "version 0,"},
      {"version 2", text, [](Bytes& f) { Put(f, kVersionAt, uint32_t{2}); }, "version 2,"},
      {"kind 0", text, [](Bytes& f) { Put(f, kKindAt, uint8_t{0}); }, "unknown kind"},
      {"kind 3", text, [](Bytes& f) { Put(f, kKindAt, uint8_t{3}); }, "unknown kind"},
      {"codec 1", text, [](Bytes& f) { Put(f, kCodecAt, uint8_t{1}); }, "unknown codec"},
      {"reserved field", text, [](Bytes& f) { Put(f, kZeroAt, uint16_t{256}); }, "mean nothing"},
      {"padding", text, [](Bytes& f) { Put(f, EncodeHeader(TextHeader()).size() - 1, uint8_t{1}); }, "mean nothing"},
      {"first byte of padding", picture, [](Bytes& f) { Put(f, kProviderAt + 8, uint8_t{1}); }, "mean nothing"},
      {"id", text, [](Bytes& f) { Put(f, kIdAt, DigestOf(0)); }, "its id"},
      {"tenant's name", text, [](Bytes& f) { Put(f, kTenantAt + 4, 'b'); }, "its id"},
      {"parent of tensors", fusion, [](Bytes& f) { Put(f, kParentAt, DigestOf(1)); }, "with a parent"},
      {"negative position", text, [](Bytes& f) { Put(f, kFirstPositionAt, int32_t{-1}); }, "positions"},
      {"far position", text, [](Bytes& f) { Put(f, kFirstPositionAt, INT32_MAX); }, "positions"},
      {"negative positions", text, [](Bytes& f) { Put(f, kPositionsAt, int32_t{-1}); }, "positions"},
      {"too many positions", text, [](Bytes& f) { Put(f, kPositionsAt, kMaxPosition - 16); }, "positions"},
      {"no tokens", picture, [](Bytes& f) { Put(f, kTokensAt, int32_t{0}); }, "token count"},
      {"too many tokens", picture, [](Bytes& f) { Put(f, kTokensAt, kMaxChunkTokens + 1); }, "token count"},
      {"one token more than ids", text, [](Bytes& f) { Put(f, kTokensAt, int32_t{4}); }, "token ids"},
      {"one token fewer than ids", text, [](Bytes& f) { Put(f, kTokensAt, int32_t{2}); }, "token ids"},
      {"one byte of rows more", text, [](Bytes& f) { Put(f, kRowsBytesAt, uint64_t{252}); }, "bytes long and not"},
      {"too many rows", text, [](Bytes& f) { Put(f, kRowsBytesAt, kMaxRowsBytes + 1); }, "body length"},
      {"too many logits", text, [](Bytes& f) { Put(f, kLogitsBytesAt, kMaxLogitsBytes + 4); }, "logits length"},
      {"half a logit", text, [](Bytes& f) { Put(f, kLogitsBytesAt, uint64_t{62}); }, "logits length"},
      {"logits of tensors", fusion, [](Bytes& f) { Put(f, kLogitsBytesAt, uint64_t{4}); }, "logits"},
      {"rows for logits", text,
       [](Bytes& f) {
         Put(f, kRowsBytesAt, uint64_t{251 + 2});
         Put(f, kLogitsBytesAt, uint64_t{64 - 2});
       },
       "logits length"},
      {"lengths whose sum wraps to the file's", bare,
       [](Bytes& f) {
         Put(f, kRowsBytesAt, uint64_t{0} - 256);
         Put(f, kLogitsBytesAt, uint64_t{256});
       },
       "body length"},
      {"tensors of other sizes than the body", fusion,
       [](Bytes& f) {
         Put(f, kRowsBytesAt, uint64_t{25 * sizeof(float)});
         DropBody(f, 4);
       },
       "that of the tensors"},
      {"shape whose product wraps to the body's", one_value,
       [](Bytes& f) {
         Put(f, kShapeAt, int64_t{1} << 62);
         Put(f, kShapeAt + 8, int64_t{4});
         Put(f, kRowsBytesAt, uint64_t{0});
         DropBody(f, 4);
       },
       "impossible tensor shape"},
      {"shape of two negative sizes", one_value,
       [](Bytes& f) {
         Put(f, kShapeAt, int64_t{-1});
         Put(f, kShapeAt + 8, int64_t{-1});
       },
       "impossible tensor shape"},
      {"empty shape", one_value,
       [](Bytes& f) {
         Put(f, kShapeAt, int64_t{0});
         Put(f, kRowsBytesAt, uint64_t{0});
         DropBody(f, 4);
       },
       "impossible tensor shape"},
      {"shape over the limit", one_value, [](Bytes& f) { Put(f, kShapeAt, int64_t{1} << 39); },
       "impossible tensor shape"},
      {"tensors in KV", fusion, [](Bytes& f) { Put(f, kKindAt, Kind::kKv); }, "KV with tensors"},
      {"token ids in fusion", mute, [](Bytes& f) { Put(f, kKindAt, Kind::kFusion); }, "token ids or logits"},
      {"one tensor fewer", fusion, [](Bytes& f) { Put(f, kTensorsAt, uint32_t{1}); }, "that of the tensors"},
      {"too many tensors", fusion, [](Bytes& f) { Put(f, kTensorsAt, uint32_t{65}); }, "too many tensors"},
      {"header of no bytes", text, [](Bytes& f) { Put(f, kHeaderBytesAt, uint32_t{0}); }, "header length"},
      {"header longer than the file", text, [](Bytes& f) { Put(f, kHeaderBytesAt, kMaxHeaderBytes); }, "ends within"},
      {"header over the limit", text, [](Bytes& f) { Put(f, kHeaderBytesAt, kMaxHeaderBytes + 64); }, "header length"},
      {"odd header", text, [](Bytes& f) { Put(f, kHeaderBytesAt, uint32_t{257}); }, "header length"},
      {"longer header", text, [](Bytes& f) { Put(f, kHeaderBytesAt, uint32_t{320}); }, "mean nothing"},
  };
  for (const uint32_t length : {200u, 0x3fffffffu, 0x40000001u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (const size_t at : {kTenantAt, kTokenIdsAt, kProviderAt, kTensorsAt, kTensorNameAt, kRankAt}) {
      const char* message = at == kTensorsAt ? "too many tensors" : "past its end";
      lies.push_back({"length", fusion, [=](Bytes& f) { Put(f, at, length); }, message});
    }
  }
  return lies;
}

TEST(ChunkFormatTest, AHeaderThatLiesIsCorruptWhateverItsChecksumAndAllocatesNothingLarge) {
  for (const Lie& lie : Lies()) {
    Bytes file = Build(lie.header);
    lie.tell(file);
    Seal(file);
    largest_allocation = 0;
    const Result<ChunkView> view = ParseChunk(file);
    if (kAllocationsAreCounted) {
      EXPECT_GT(largest_allocation, 0u);
      EXPECT_LE(largest_allocation, 1024u) << lie.about;  // XXH3's state is not counted, and no lie gets that far
    }
    ASSERT_FALSE(view.ok()) << lie.about;
    EXPECT_EQ(view.error().code, Errc::kCorrupt) << lie.about;
    EXPECT_NE(view.error().message.find(lie.message), std::string::npos) << lie.about << ": " << view.error().message;
  }
}

// Names over their limits in a header that is otherwise right, id and all: what a careless writer would leave.
TEST(ChunkFormatTest, NamesAndRanksOverTheirLimitsAreCorrupt) {
  const auto lengthen = [](const ChunkHeader& header, size_t length_at, size_t length, size_t unit) {
    Bytes file = Build(header);
    const size_t header_bytes = EncodeHeader(header).size();
    uint32_t old_length = 0;
    std::memcpy(&old_length, file.data() + length_at, sizeof(old_length));
    // Adds 64 bytes to the header: as many of them as needed to the field, the rest to the padding.
    const size_t added = (length - old_length) * unit;
    EXPECT_LE(added, 64u);
    const auto at = [&](size_t offset) { return file.begin() + static_cast<std::ptrdiff_t>(offset); };
    file.insert(at(header_bytes), 64 - added, std::byte{0});
    file.insert(at(length_at + 4 + old_length * unit), added, std::byte{1});
    Put(file, length_at, static_cast<uint32_t>(length));
    Put(file, kHeaderBytesAt, static_cast<uint32_t>(header_bytes + 64));
    Seal(file);
    return WhyCorrupt(file);
  };
  ChunkHeader tenant = TextHeader();
  tenant.tenant.assign(kMaxTenantBytes, 't');
  EXPECT_NE(lengthen(tenant, kTenantAt, 256, 1).find("tenant name"), std::string::npos);
  ChunkHeader provider = FusionHeader();
  provider.provider.assign(kMaxNameBytes, 'p');
  EXPECT_NE(lengthen(provider, kProviderAt, 256, 1).find("provider name"), std::string::npos);
  ChunkHeader name = FusionHeader();
  name.tensors[0].name.assign(kMaxNameBytes, 'n');
  EXPECT_NE(lengthen(name, kTensorNameAt, 256, 1).find("tensor name"), std::string::npos);
  ChunkHeader rank = FusionHeader();
  rank.tensors[0].shape = {1, 1, 1, 1, 1, 1, 4, 5};
  EXPECT_NE(lengthen(rank, kRankAt, 9, 8).find("tensor rank"), std::string::npos);
}

TEST(ChunkFormatTest, TheVersionOfAnotherFormatIsNamed) {
  Bytes file = Build(TextHeader());
  Put(file, kVersionAt, uint32_t{4711});
  const Result<uint32_t> header_bytes = HeaderBytes(std::span(file).first<kChunkPrologueBytes>());
  ASSERT_FALSE(header_bytes.ok());
  EXPECT_EQ(header_bytes.error().code, Errc::kCorrupt);
  EXPECT_NE(header_bytes.error().message.find("4711"), std::string::npos);
}

TEST(ChunkFormatTest, IdNamesKindCompatibilityTenantParentAndContentAndNothingElse) {
  const ChunkHeader base = TextHeader();
  const auto id_with = [&](const std::function<void(ChunkHeader&)>& change) {
    ChunkHeader header = base;
    change(header);
    return header.id();
  };
  std::vector<Digest> ids = {
      base.id(),
      id_with([](ChunkHeader& h) { h.kind = Kind::kFusion; }),
      id_with([](ChunkHeader& h) { h.compatibility.bytes[31] ^= 1; }),
      id_with([](ChunkHeader& h) { h.tenant = "acm"; }),
      id_with([](ChunkHeader& h) { h.tenant = ""; }),
      id_with([](ChunkHeader& h) { h.parent = Digest(); }),
      id_with([](ChunkHeader& h) { h.parent.bytes[0] ^= 1; }),
      id_with([](ChunkHeader& h) { h.content.bytes[0] ^= 1; }),
      id_with([](ChunkHeader& h) { std::swap(h.parent, h.content); }),
  };
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());

  EXPECT_EQ(base.id(), id_with([](ChunkHeader& h) {
              h.numerics = DigestOf(9);
              h.first_position = 1;
              h.n_positions = 2;
              h.n_tokens = 1;
              h.tokens = {1};
              h.provider = "p";
              h.tensors = {{"t", {1}}};
              h.rows_bytes = 1;
              h.logits_bytes = 4;
            }));
}

// Whatever is taken for a header is one EncodeHeader writes.
void ExpectCorruptOrCanonical(const Bytes& bytes) {
  const Result<ChunkHeader> header = DecodeHeader(bytes);
  if (!header.ok()) {
    EXPECT_EQ(header.error().code, Errc::kCorrupt);
  } else {
    EXPECT_EQ(EncodeHeader(*header), bytes);
  }
}

TEST(ChunkFormatTest, GarbageIsCorrupt) {
  Random random(5);
  const Bytes noise = Noise(1 << 16);
  for (int i = 0; i < 100000; ++i) {
    const Bytes bytes = Slice(noise, random() % 65000, random() % 512);
    EXPECT_NE(WhyCorrupt(bytes), "");
    ExpectCorruptOrCanonical(bytes);
  }
}

TEST(ChunkFormatTest, GarbageBehindAValidPrologueIsCorrupt) {
  Random random(6);
  const Bytes prologue = EncodeHeader(TextHeader());
  const Bytes noise = Noise(1 << 16);
  for (int i = 0; i < 100000; ++i) {
    const size_t header_bytes = 256 + random() % 4 * 64;
    Bytes bytes = Slice(noise, random() % 65000, header_bytes);
    std::copy_n(prologue.begin(), kChunkPrologueBytes, bytes.begin());
    Put(bytes, kHeaderBytesAt, static_cast<uint32_t>(header_bytes));
    EXPECT_FALSE(DecodeHeader(bytes).ok());
    bytes.insert(bytes.end(), random() % 64, std::byte{0});
    EXPECT_NE(WhyCorrupt(bytes), "");
  }
}

TEST(ChunkFormatTest, AHeaderWithGarbageInItsFieldsIsCorruptOrCanonical) {
  Random random(7);
  constexpr std::array<uint32_t, 8> kLikely = {0, 1, 2, 4, 8, 64, 255, UINT32_MAX};
  const std::array<Bytes, 2> headers = {EncodeHeader(TextHeader()), EncodeHeader(FusionHeader())};
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    Bytes bytes = headers[random() % 2];
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = kChunkPrologueBytes + random() % (bytes.size() - kChunkPrologueBytes - 3);
      Put(bytes, at, random() % 2 == 0 ? kLikely[random() % kLikely.size()] : random());
    }
    ExpectCorruptOrCanonical(bytes);
    accepted += DecodeHeader(bytes).ok() ? 1 : 0;
  }
  EXPECT_GT(accepted, 0);  // other numerics or token ids, say: only the checksum tells
}

TEST(ChecksumTest, DoesNotDependOnThePieces) {
  const Bytes bytes = Noise(5000);
  const ChecksumBytes whole = ChecksumOf(bytes);
  Random random(8);
  for (const size_t most : {1u, 7u, 64u, 1000u, 5000u}) {
    Checksum checksum;
    for (std::span<const std::byte> rest = bytes; !rest.empty();) {
      const size_t n = std::min<size_t>(rest.size(), random() % (most + 1));  // sometimes nothing
      checksum.Add(rest.first(n));
      rest = rest.subspan(n);
    }
    checksum.Add({});
    EXPECT_EQ(checksum.Finish(), whole) << most;
    EXPECT_EQ(checksum.Finish(), whole) << "asked twice";
  }
  EXPECT_NE(ChecksumOf(std::span(bytes).first(4999)), whole);
}

// The reference value of XXH3-128 for no bytes, as its tools print it.
TEST(ChecksumTest, IsXxh3InCanonicalForm) {
  const ChecksumBytes checksum = Checksum().Finish();
  constexpr std::array<uint8_t, 16> kEmpty = {0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
                                              0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f};
  EXPECT_TRUE(std::ranges::equal(checksum, std::as_bytes(std::span(kEmpty))));
}

// Files outlive builds: a change of these values is a change of the format, and needs another version.
TEST(ChunkFormatTest, TheFormatIsTheOneOfFilesAlreadyWritten) {
  const auto sha256 = [](const Bytes& bytes) { return Sha256().AddRaw(bytes).Finish().Hex(); };
  EXPECT_EQ(TextHeader().id().Hex(), "d779cca587cce048bf9b4d50ce25c1eade6bbb0136de40eb337729835ce8caae");
  EXPECT_EQ(sha256(Build(TextHeader())), "0ef0f4a1fda970962ff9004db96f7fd44f4086b2de65f60bb3c57ec7306af18f");
  EXPECT_EQ(sha256(Build(FusionHeader())), "ed7e1cd2f0437dcf8fc593a560c1d1cb455d5b927588da8483639cf0c55ef0d6");
}

}  // namespace
}  // namespace afterimage
