// State blobs byte by byte, as the layout in state_blob.h says: whole, cut, padded and damaged. Blobs that a context
// wrote are in state_blob_context_test.cc.
#include "engine/llama/state_blob.h"

#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "core/bytes.h"
#include "engine/llama/state_blob_checks.h"

namespace afterimage {
namespace {

constexpr uint32_t kMagic = 0xaf143cd8;

// Three layers whose rows are all of different sizes, and types that tell K from V.
StateFormat HandFormat(bool mrope, uint32_t n_streams) {
  return {.magic = kMagic,
          .n_streams = n_streams,
          .mrope_cells = mrope,
          .layers = {{.k_type = 1, .v_type = 30, .k_row_bytes = 6, .v_row_bytes = 10},
                     {.k_type = 1, .v_type = 1, .k_row_bytes = 4, .v_row_bytes = 2},
                     {.k_type = 0, .v_type = 1, .k_row_bytes = 32, .v_row_bytes = 1}}};
}

// Two words, a picture of two rows and three columns, two words; without M-RoPE eight words.
std::vector<StateCell> HandCells(bool mrope) {
  if (!mrope) {
    std::vector<StateCell> cells(8);
    for (int32_t i = 0; i < 8; ++i) cells[static_cast<size_t>(i)].position = i;
    return cells;
  }
  return {{0, 0, 0, 17}, {1, 1, 1, 18}, {2, 2, 2, -1}, {2, 3, 2, -1}, {2, 4, 2, -1},
          {2, 2, 3, -1}, {2, 3, 3, -1}, {2, 4, 3, -1}, {5, 5, 5, 19}, {6, 6, 6, 20}};
}

// The row of one cell in one tensor; no two are alike.
Blob HandRow(size_t tensor, size_t cell, uint64_t row_bytes) {
  Blob row(row_bytes);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::byte>(37 * tensor + 11 * cell + i + 1);
  return row;
}

// Where the fields of a blob written by WriteBlob lie.
struct Offsets {
  size_t streams = 8;
  size_t n_cells = 0;
  size_t cells = 0;
  size_t v_transposed = 0;
  size_t n_layers = 0;
  std::vector<size_t> k_header;  // of type and row size, by layer
  std::vector<size_t> v_header;
};

// The layout of state_blob.h written down a second time, with cells and their rows in any order and in any stream.
// `order[i]` is which of `cells` comes i-th.
Blob WriteBlob(const StateFormat& format, const std::vector<StateCell>& cells, const std::vector<size_t>& order,
               int32_t sequence, uint32_t stream, Offsets* offsets = nullptr) {
  Blob blob;
  Offsets at;
  ByteWriter out(blob);
  out.Write(format.magic);
  out.Write(sequence);
  out.Write(format.n_streams);
  for (uint32_t s = 0; s < format.n_streams; ++s) {
    if (s != stream) {
      out.Write(uint32_t{0});
      continue;
    }
    at.n_cells = blob.size();
    out.Write(static_cast<uint32_t>(cells.size()));
    at.cells = blob.size();
    for (const size_t i : order) {
      out.Write(cells[i].position);
      out.Write(uint32_t{1});
      if (format.mrope_cells) {
        out.Write(cells[i].x);
        out.Write(cells[i].y);
        out.Write(cells[i].token);
      }
      out.Write(sequence);
    }
    at.v_transposed = blob.size();
    out.Write(uint32_t{0});
    at.n_layers = blob.size();
    out.Write(static_cast<uint32_t>(format.layers.size()));
    for (size_t layer = 0; layer < format.layers.size(); ++layer) {
      at.k_header.push_back(blob.size());
      out.Write(format.layers[layer].k_type);
      out.Write(format.layers[layer].k_row_bytes);
      for (const size_t i : order) out.Append(HandRow(2 * layer, i, format.layers[layer].k_row_bytes));
    }
    for (size_t layer = 0; layer < format.layers.size(); ++layer) {
      at.v_header.push_back(blob.size());
      out.Write(format.layers[layer].v_type);
      out.Write(format.layers[layer].v_row_bytes);
      for (const size_t i : order) out.Append(HandRow(2 * layer + 1, i, format.layers[layer].v_row_bytes));
    }
  }
  if (offsets != nullptr) *offsets = at;
  return blob;
}

std::vector<size_t> InOrder(size_t n) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The canonical form (kv.h) of cells [first, first + count), written down a second time.
Blob HandRows(const StateFormat& format, size_t first, size_t count) {
  Blob rows;
  for (size_t layer = 0; layer < format.layers.size(); ++layer) {
    for (const size_t tensor : {2 * layer, 2 * layer + 1}) {
      const uint64_t row_bytes = tensor % 2 == 0 ? format.layers[layer].k_row_bytes : format.layers[layer].v_row_bytes;
      for (size_t i = first; i < first + count; ++i) {
        const Blob row = HandRow(tensor, i, row_bytes);
        rows.insert(rows.end(), row.begin(), row.end());
      }
    }
  }
  return rows;
}

// Blobs written by hand, with and without M-RoPE cells, of one stream and of several.
struct HandCase {
  bool mrope = false;
  uint32_t n_streams = 1;
};

class HandBlob : public testing::TestWithParam<HandCase> {
 protected:
  uint32_t n_cells() const { return static_cast<uint32_t>(cells_.size()); }
  size_t cell_bytes() const { return GetParam().mrope ? 24 : 12; }

  const StateFormat format_ = HandFormat(GetParam().mrope, GetParam().n_streams);
  const std::vector<StateCell> cells_ = HandCells(GetParam().mrope);
  Offsets at_;
  const Blob blob_ = WriteBlob(format_, cells_, InOrder(cells_.size()), 0, 0, &at_);
};

INSTANTIATE_TEST_SUITE_P(StateBlob, HandBlob,
                         testing::Values(HandCase{false, 1}, HandCase{false, 4}, HandCase{true, 1}, HandCase{true, 4}),
                         [](const testing::TestParamInfo<HandCase>& hand) {
                           return std::string(hand.param.mrope ? "MRope" : "Plain") +
                                  std::to_string(hand.param.n_streams);
                         });

TEST_P(HandBlob, TheBuilderWritesTheLayout) {
  StagingBuffer staging;
  std::ranges::fill(staging.Get(2 * blob_.size()), std::byte{0xEE});  // what an earlier blob left behind
  StateBuilder builder(format_, cells_, staging);
  ASSERT_TRUE(SpanKvSource(HandRows(format_, 0, cells_.size())).CopyTo(builder.RowsOf(0, cells_.size())).ok());
  EXPECT_TRUE(std::ranges::equal(builder.blob(), blob_));
}

TEST_P(HandBlob, SegmentsFilledInOneByOneGiveTheSameBlob) {
  StagingBuffer staging;
  StateBuilder builder(format_, cells_, staging);
  for (size_t i = 0; i < cells_.size(); ++i) {
    ASSERT_TRUE(SpanKvSource(HandRows(format_, i, 1)).CopyTo(builder.RowsOf(i, 1)).ok());
  }
  EXPECT_TRUE(std::ranges::equal(builder.blob(), blob_));
}

TEST_P(HandBlob, TheFormatIsReadOffABlobOfAnyStream) {
  for (uint32_t stream = 0; stream < format_.n_streams; ++stream) {
    const Blob blob = WriteBlob(format_, cells_, InOrder(cells_.size()), 3, stream);
    const Result<StateFormat> learned = LearnStateFormat(blob, GetParam().mrope, n_cells());
    ASSERT_TRUE(learned.ok()) << learned.error().message;
    EXPECT_EQ(*learned, format_);
  }
}

TEST_P(HandBlob, ACutAndRebuiltBlobIsTheSame) {
  const Result<StateView> view = ParseState(blob_, format_, n_cells());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->cells, cells_);
  EXPECT_EQ(Rebuild(format_, cells_, *view, {cells_.size()}), blob_);
  EXPECT_EQ(Rebuild(format_, cells_, *view, {2, 5, cells_.size() - 7}), blob_);
}

TEST_P(HandBlob, RunsOfCellsAreCutFromAnyStream) {
  for (uint32_t stream = 0; stream < format_.n_streams; ++stream) {
    const Blob blob = WriteBlob(format_, cells_, InOrder(cells_.size()), 2, stream);
    const Result<StateView> view = ParseState(blob, format_, n_cells());
    ASSERT_TRUE(view.ok()) << view.error().message;
    for (size_t first = 0; first < cells_.size(); ++first) {
      for (size_t count = 1; first + count <= cells_.size(); ++count) {
        const Result<Blob> rows = CutRows(*view, format_, std::span(cells_).subspan(first, count));
        ASSERT_TRUE(rows.ok()) << rows.error().message;
        EXPECT_EQ(*rows, HandRows(format_, first, count)) << first << " + " << count;
      }
    }
  }
}

TEST_P(HandBlob, CellsOutOfOrderArePutInPromptOrder) {
  std::vector<size_t> order = InOrder(cells_.size());
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(order, random);
    const Blob blob = WriteBlob(format_, cells_, order, 0, 0);
    const Result<StateView> view = ParseState(blob, format_, n_cells());
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(Rebuild(format_, cells_, *view, {cells_.size()}), blob_);
    EXPECT_EQ(Rebuild(format_, cells_, *view, {1, 4, cells_.size() - 5}), blob_);
  }
}

TEST_P(HandBlob, EveryTruncationIsRefused) {
  for (size_t size = 0; size < blob_.size(); ++size) {
    const Blob cut(blob_.begin(), blob_.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(Refused(cut, format_, n_cells())) << size;
    const Result<StateFormat> learned = LearnStateFormat(cut, GetParam().mrope, n_cells());
    ASSERT_FALSE(learned.ok()) << size;
    EXPECT_EQ(learned.error().code, Errc::kUnsupported);
  }
}

TEST_P(HandBlob, EveryAppendedByteIsRefused) {
  for (int value = 0; value < 256; ++value) {
    Blob longer = blob_;
    longer.push_back(static_cast<std::byte>(value));
    EXPECT_TRUE(Refused(longer, format_, n_cells())) << value;
    EXPECT_FALSE(LearnStateFormat(longer, GetParam().mrope, n_cells()).ok()) << value;
  }
  for (size_t n = 2; n < 40; ++n) {
    Blob longer = blob_;
    longer.resize(blob_.size() + n);
    EXPECT_TRUE(Refused(longer, format_, n_cells())) << n;
  }
}

TEST_P(HandBlob, AbsurdCountsAreRefusedBeforeAnythingIsAllocated) {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  constexpr uint64_t kMax64 = std::numeric_limits<uint64_t>::max();
  const auto refused = [&](const Blob& blob) {
    EXPECT_FALSE(LearnStateFormat(blob, GetParam().mrope, kMax).ok());
    EXPECT_FALSE(LearnStateFormat(blob, GetParam().mrope, n_cells()).ok());
    return Refused(blob, format_, kMax);
  };
  // Memory for these would be tens of gigabytes: who allocates first does not come back.
  for (const uint32_t count : {kMax, kMax - 1, 1u << 31, (1u << 31) - 1, 1u << 28, n_cells() + 1}) {
    EXPECT_TRUE(refused(With(blob_, at_.n_cells, count))) << count << " cells";
    EXPECT_TRUE(refused(With(blob_, at_.n_layers, count))) << count << " layers";
    EXPECT_TRUE(refused(With(blob_, at_.streams, count))) << count << " streams";
  }
  // Sizes that overflow when they are multiplied by the number of cells, and one that comes out right if they do.
  const uint64_t wraps = (uint64_t{1} << 63) + format_.layers[0].k_row_bytes;
  for (const uint64_t size : {kMax64, kMax64 / n_cells() + 1, uint64_t{1} << 63, wraps, uint64_t{1} << 32,
                              uint64_t{1} << 25, (uint64_t{1} << 24) + 1, uint64_t{1} << 24, uint64_t{0}}) {
    EXPECT_TRUE(refused(With(blob_, at_.k_header[0] + 4, size))) << size;
    EXPECT_TRUE(refused(With(blob_, at_.v_header.back() + 4, size))) << size;
  }
}

TEST_P(HandBlob, MoreStreamsThanTheBlobHoldsEndWithTheBlob) {
  // All streams empty but the last four bytes missing: the walk must end there, not count to four billion.
  StateFormat format = format_;
  format.n_streams = std::numeric_limits<uint32_t>::max();
  Blob blob(4096);
  blob = With(With(blob, 0, format.magic), 8, format.n_streams);
  EXPECT_TRUE(Refused(blob, format, n_cells()));
  EXPECT_FALSE(LearnStateFormat(blob, GetParam().mrope, n_cells()).ok());
}

TEST_P(HandBlob, EveryFieldThatIsNotAsLearnedIsRefused) {
  EXPECT_TRUE(Refused(With(blob_, 0, kMagic + 1), format_, n_cells())) << "magic";
  EXPECT_TRUE(Refused(With(blob_, at_.v_transposed, uint32_t{1}), format_, n_cells())) << "V transposed";
  EXPECT_TRUE(Refused(With(blob_, at_.n_cells, uint32_t{0}), format_, n_cells())) << "no cells, but their bytes";
  for (size_t layer = 0; layer < format_.layers.size(); ++layer) {
    EXPECT_TRUE(Refused(With(blob_, at_.k_header[layer], int32_t{99}), format_, n_cells())) << "K type";
    EXPECT_TRUE(Refused(With(blob_, at_.v_header[layer], int32_t{99}), format_, n_cells())) << "V type";
  }
  for (size_t cell = 0; cell < cells_.size(); ++cell) {
    const size_t position = at_.cells + cell * cell_bytes();
    for (const int32_t bad : {-1, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
      EXPECT_TRUE(Refused(With(blob_, position, bad), format_, n_cells())) << "position " << bad;
    }
    for (const uint32_t bad : {0u, 2u, 0xFFFFFFFFu}) {
      EXPECT_TRUE(Refused(With(blob_, position + 4, bad), format_, n_cells())) << "a cell of " << bad << " sequences";
    }
  }
  const auto other = [&](auto change) {
    StateFormat format = format_;
    change(format);
    return Refused(blob_, format, n_cells());
  };
  EXPECT_TRUE(other([](StateFormat& f) { f.magic ^= 1; }));
  EXPECT_TRUE(other([](StateFormat& f) { f.n_streams += 1; }));
  EXPECT_TRUE(other([](StateFormat& f) { f.mrope_cells = !f.mrope_cells; }));
  EXPECT_TRUE(other([](StateFormat& f) { f.layers.pop_back(); }));
  EXPECT_TRUE(other([](StateFormat& f) { f.layers.push_back(f.layers.back()); }));
  EXPECT_TRUE(other([](StateFormat& f) { std::swap(f.layers[0], f.layers[1]); }));
  EXPECT_TRUE(other([](StateFormat& f) { f.layers[2].v_row_bytes += 1; }));
}

TEST_P(HandBlob, MoreCellsThanTheContextHasAreRefused) {
  EXPECT_TRUE(ParseState(blob_, format_, n_cells()).ok());
  EXPECT_TRUE(Refused(blob_, format_, n_cells() - 1));
  EXPECT_TRUE(Refused(blob_, format_, 0));
}

TEST_P(HandBlob, AFormatIsOnlyLearnedFromTheExpectedNumberOfCells) {
  for (const uint32_t n : {0u, n_cells() - 1, n_cells() + 1, std::numeric_limits<uint32_t>::max()}) {
    const Result<StateFormat> learned = LearnStateFormat(blob_, GetParam().mrope, n);
    ASSERT_FALSE(learned.ok()) << n;
    EXPECT_EQ(learned.error().code, Errc::kUnsupported);
  }
  EXPECT_FALSE(LearnStateFormat(blob_, !GetParam().mrope, n_cells()).ok());
}

// As a model with K only would have it: rows that the canonical form has no place for.
TEST_P(HandBlob, AFormatWithEmptyRowsIsNotLearned) {
  StateFormat format = format_;
  format.layers[1].v_row_bytes = 0;
  const Blob blob = WriteBlob(format, cells_, InOrder(cells_.size()), 0, 0);
  const Result<StateFormat> learned = LearnStateFormat(blob, GetParam().mrope, n_cells());
  ASSERT_FALSE(learned.ok());
  EXPECT_EQ(learned.error().code, Errc::kUnsupported);
  EXPECT_TRUE(Refused(blob, format, n_cells()));
}

TEST_P(HandBlob, ABlobWithoutCellsIsRefused) {
  Blob empty;
  ByteWriter out(empty);
  out.Write(format_.magic);
  out.Write(int32_t{0});
  out.Write(format_.n_streams);
  for (uint32_t stream = 0; stream < format_.n_streams; ++stream) out.Write(uint32_t{0});
  EXPECT_TRUE(Refused(empty, format_, n_cells()));
  EXPECT_FALSE(LearnStateFormat(empty, GetParam().mrope, 0).ok());
}

TEST_P(HandBlob, CellsInTwoStreamsAreRefused) {
  if (GetParam().n_streams < 2) GTEST_SKIP() << "one stream";
  // The stream of the blob twice, in the place of two of its streams.
  const size_t rest = 4 * (format_.n_streams - 1);
  Blob twice(blob_.begin(), blob_.end() - static_cast<std::ptrdiff_t>(rest));
  const Blob stream(twice.begin() + 12, twice.end());
  twice.insert(twice.end(), stream.begin(), stream.end());
  twice.resize(twice.size() + rest - 4);
  EXPECT_TRUE(Refused(twice, format_, 2 * n_cells()));
}

TEST_P(HandBlob, EveryFlippedBitIsRefusedOrChangesNothingButWhatItStandsFor) {
  const Blob rows = HandRows(format_, 0, cells_.size());
  for (size_t bit = 0; bit < 8 * blob_.size(); ++bit) {
    const Blob damaged = WithFlippedBit(blob_, bit);
    const Result<StateView> view = ParseState(damaged, format_, n_cells());
    if (!view.ok()) {
      EXPECT_EQ(view.error().code, Errc::kCorrupt);
      continue;
    }
    ASSERT_TRUE(HasRightSizes(*view, damaged, format_, n_cells())) << "bit " << bit;
    const Result<Blob> cut = CutRows(*view, format_, cells_);
    if (!cut.ok()) continue;  // another cell
    size_t differing = 0;
    for (size_t i = 0; i < rows.size(); ++i) differing += (*cut)[i] != rows[i] ? 1 : 0;
    const bool in_rows = bit / 8 >= at_.k_header[0];
    EXPECT_EQ(differing, in_rows ? 1u : 0u) << "bit " << bit;
  }
}

TEST_P(HandBlob, CellsThatAreNotThereAreNotCut) {
  const Result<StateView> view = ParseState(blob_, format_, n_cells());
  ASSERT_TRUE(view.ok());
  const auto code = [&](const std::vector<StateCell>& wanted) {
    const Result<Blob> rows = CutRows(*view, format_, wanted);
    return rows.ok() ? "cut" : ErrcName(rows.error().code);
  };
  const char* internal = ErrcName(Errc::kInternal);
  EXPECT_STREQ(code({}), ErrcName(Errc::kInvalidArgument));
  EXPECT_STREQ(code(cells_), "cut");

  std::vector<StateCell> one_more = cells_;
  one_more.push_back(cells_.back());
  one_more.back().position += 1;
  EXPECT_STREQ(code(one_more), internal) << "past the end";
  EXPECT_STREQ(code({one_more.back()}), internal) << "past the end, alone";

  for (size_t i = 0; i < cells_.size(); ++i) {
    std::vector<StateCell> gap = cells_;
    gap.erase(gap.begin() + static_cast<std::ptrdiff_t>(i));
    const bool ends = i == 0 || i + 1 == cells_.size();
    EXPECT_STREQ(code(gap), ends ? "cut" : internal) << "a gap at " << i;
    for (int32_t StateCell::* const field : {&StateCell::position, &StateCell::x, &StateCell::y, &StateCell::token}) {
      std::vector<StateCell> elsewhere = cells_;
      elsewhere[i].*field += 100;
      EXPECT_STREQ(code(elsewhere), internal) << "another cell at " << i;
      EXPECT_STREQ(code({elsewhere[i]}), internal) << "another cell at " << i << ", alone";
    }
  }
  EXPECT_STREQ(code({cells_[1], cells_[0]}), internal) << "backwards";
  EXPECT_STREQ(code({cells_[1], cells_[1]}), internal) << "one cell twice";
}

TEST_P(HandBlob, ACellThatIsThereTwiceIsNotCut) {
  std::vector<StateCell> doubled = cells_;
  doubled.insert(doubled.begin() + 1, cells_[1]);
  const Blob blob = WriteBlob(format_, doubled, InOrder(doubled.size()), 0, 0);
  const Result<StateView> view = ParseState(blob, format_, n_cells() + 1);
  ASSERT_TRUE(view.ok());
  const Result<Blob> rows = CutRows(*view, format_, cells_);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, Errc::kInternal);
}

TEST(StateBlob, TheStagingBufferGrowsAndIsReused) {
  StagingBuffer staging;
  EXPECT_EQ(staging.Get(0).size(), 0u);
  const std::span<std::byte> large = staging.Get(1000);
  EXPECT_EQ(large.size(), 1000u);
  std::ranges::fill(large, std::byte{7});
  const std::span<std::byte> small = staging.Get(10);
  EXPECT_EQ(small.size(), 10u);
  EXPECT_EQ(small.data(), large.data());
  EXPECT_EQ(small[9], std::byte{7});
  const std::span<std::byte> larger = staging.Get(2000);
  ASSERT_EQ(larger.size(), 2000u);
  std::ranges::fill(larger, std::byte{8});
}

// One value among zeros, at every place and in rows of every length up to two words and a half.
template <typename T>
void ExpectFinite(T bits, bool finite, int32_t type) {
  const size_t n = 20 / sizeof(T);
  for (size_t length = 1; length <= n; ++length) {
    for (size_t at = 0; at < length; ++at) {
      std::vector<T> values(length, T{0});
      values[at] = bits;
      ASSERT_EQ(AllFinite(std::as_bytes(std::span(values)), type), finite)
          << std::hex << +bits << std::dec << " at " << at << " of " << length << ", type " << type;
    }
  }
}

TEST(StateBlob, EveryHalfIsKnownToBeFiniteOrNot) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    // In all four lanes at once, and for the edges of the exponent one by one.
    const std::array<uint16_t, 4> word = {half, half, half, half};
    ASSERT_EQ(AllFinite(std::as_bytes(std::span(word)), GGML_TYPE_F16), (half & 0x7C00) != 0x7C00) << bits;
    ASSERT_EQ(AllFinite(std::as_bytes(std::span(word)), GGML_TYPE_BF16), (half & 0x7F80) != 0x7F80) << bits;
  }
  for (const int half : {0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF, 0x8000, 0xFBFF,
                         0xFC00, 0xFFFF}) {
    ExpectFinite(static_cast<uint16_t>(half), (half & 0x7C00) != 0x7C00, GGML_TYPE_F16);
  }
  for (const int half : {0x0000, 0x007F, 0x3F80, 0x7C00, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0xFF7F, 0xFF80, 0xFFFF}) {
    ExpectFinite(static_cast<uint16_t>(half), (half & 0x7F80) != 0x7F80, GGML_TYPE_BF16);
  }
}

TEST(StateBlob, FloatsAreKnownToBeFiniteOrNot) {
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    // Half of them with an exponent at its end, where it matters.
    const auto bits = static_cast<uint32_t>(random()) | (i % 2 == 0 ? 0x7F000000u : 0u);
    ExpectFinite(bits, std::isfinite(std::bit_cast<float>(bits)), GGML_TYPE_F32);
  }
  for (const uint32_t bits :
       {0x00000000u, 0x7F7FFFFFu, 0x7F800000u, 0x7F800001u, 0x7FC00000u, 0xFF7FFFFFu, 0xFF800000u}) {
    ExpectFinite(bits, std::isfinite(std::bit_cast<float>(bits)), GGML_TYPE_F32);
  }
}

TEST(StateBlob, NoRowsAndRowsOfOtherTypesAreFinite) {
  for (const int32_t type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0}) {
    EXPECT_TRUE(AllFinite({}, type));
  }
  const Blob ones(34, std::byte{0xFF});
  EXPECT_TRUE(AllFinite(ones, GGML_TYPE_Q8_0));
  EXPECT_FALSE(AllFinite(ones, GGML_TYPE_F16));
}

TEST(StateBlob, AValueThatIsNotFiniteIsFoundInAnyRowOfTheCanonicalForm) {
  const StateFormat format = {.magic = kMagic,
                              .n_streams = 1,
                              .mrope_cells = false,
                              .layers = {{GGML_TYPE_F16, GGML_TYPE_F32, 6, 12}, {GGML_TYPE_BF16, GGML_TYPE_F16, 4, 2}}};
  constexpr size_t kTokens = 3;
  const Blob zeros(kTokens * format.row_bytes());
  EXPECT_TRUE(AllFinite(zeros, format, kTokens));
  size_t at = 0;
  for (const StateFormat::Layer& layer : format.layers) {
    for (const auto& [type, row_bytes] :
         {std::pair{layer.k_type, layer.k_row_bytes}, {layer.v_type, layer.v_row_bytes}}) {
      for (const size_t end = at + kTokens * row_bytes; at < end;) {
        if (type == GGML_TYPE_F32) {
          EXPECT_FALSE(AllFinite(With(zeros, at, uint32_t{0x7F800000}), format, kTokens)) << at;
          EXPECT_TRUE(AllFinite(With(zeros, at, uint32_t{0x7F7FFFFF}), format, kTokens)) << at;
          at += 4;
        } else {
          const bool half = type == GGML_TYPE_F16;
          EXPECT_FALSE(AllFinite(With(zeros, at, uint16_t(half ? 0xFC00 : 0xFF80)), format, kTokens)) << at;
          EXPECT_TRUE(AllFinite(With(zeros, at, uint16_t(half ? 0xFBFF : 0xFF7F)), format, kTokens)) << at;
          at += 2;
        }
      }
    }
  }
  EXPECT_EQ(at, zeros.size());
}

}  // namespace
}  // namespace afterimage
