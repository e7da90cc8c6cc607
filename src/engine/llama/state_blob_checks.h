// What the tests of state blobs share: taking a blob apart and building it again, damaging it, and looking at the
// result.
#ifndef AFTERIMAGE_ENGINE_LLAMA_STATE_BLOB_CHECKS_H_
#define AFTERIMAGE_ENGINE_LLAMA_STATE_BLOB_CHECKS_H_

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "afterimage/kv.h"
#include "engine/llama/state_blob.h"

namespace afterimage {

using Blob = std::vector<std::byte>;

// Builds a blob of these cells and fills it with canonical rows, segment by segment.
inline Blob Rebuild(const StateFormat& format, const std::vector<StateCell>& cells, const StateView& view,
                    const std::vector<size_t>& counts) {
  StagingBuffer staging;
  StateBuilder builder(format, cells, staging);
  size_t first = 0;
  for (const size_t count : counts) {
    const Result<Blob> rows = CutRows(view, format, std::span(cells).subspan(first, count));
    if (!rows.ok()) {
      ADD_FAILURE() << rows.error().message;
      return {};
    }
    EXPECT_TRUE(SpanKvSource(*rows).CopyTo(builder.RowsOf(first, count)).ok());
    first += count;
  }
  EXPECT_EQ(first, cells.size());
  return {builder.blob().begin(), builder.blob().end()};
}

template <typename T>
Blob With(Blob blob, size_t offset, T value) {
  std::memcpy(blob.data() + offset, &value, sizeof(value));
  return blob;
}

inline Blob WithFlippedBit(Blob blob, size_t bit) {
  blob[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  return blob;
}

inline testing::AssertionResult Refused(const Blob& blob, const StateFormat& format, uint32_t max_cells) {
  const Result<StateView> view = ParseState(blob, format, max_cells);
  if (view.ok()) return testing::AssertionFailure() << "accepted";
  if (view.error().code == Errc::kCorrupt) return testing::AssertionSuccess();
  return testing::AssertionFailure() << ErrcName(view.error().code) << ": " << view.error().message;
}

// Whether everything a view points at lies in the blob and is as large as its counts say.
inline testing::AssertionResult HasRightSizes(const StateView& view, const Blob& blob, const StateFormat& format,
                                              uint32_t max_cells) {
  if (view.cells.empty() || view.cells.size() > max_cells) {
    return testing::AssertionFailure() << view.cells.size() << " cells";
  }
  if (view.k_rows.size() != format.layers.size() || view.v_rows.size() != format.layers.size()) {
    return testing::AssertionFailure() << "layers";
  }
  const auto fits = [&](std::span<const std::byte> rows, uint64_t row_bytes) {
    return rows.size() == view.cells.size() * row_bytes && rows.data() >= blob.data() &&
           rows.data() + rows.size() <= blob.data() + blob.size();
  };
  for (size_t i = 0; i < format.layers.size(); ++i) {
    if (!fits(view.k_rows[i], format.layers[i].k_row_bytes) || !fits(view.v_rows[i], format.layers[i].v_row_bytes)) {
      return testing::AssertionFailure() << "rows of layer " << i;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_STATE_BLOB_CHECKS_H_
