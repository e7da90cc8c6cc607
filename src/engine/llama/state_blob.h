// State blobs: the bytes llama.cpp writes for one sequence, read and built by us.
//
// llama.cpp's own loader trusts its input: a wrong count can exhaust memory, a wrong position blocks the sequence, the
// blob names no model and no checksum. So nothing stored ever reaches it as it is. Stored are rows (kv.h); the blob
// around them is built here from the prompt they belong to, for the context they go into.
//
// The bytes (little-endian; llama_kv_cache::state_write, one stream per sequence, V not transposed):
//
//   u32 magic, i32 sequence, u32 n_streams
//   per stream: u32 n_cells; if not 0:
//     n_cells x { i32 position, u32 1, [M-RoPE: i32 x, i32 y, i32 token], i32 sequence }
//     u32 v_transposed, u32 n_layers
//     per layer: i32 k_type, u64 k_row_bytes, n_cells K rows
//     per layer: i32 v_type, u64 v_row_bytes, n_cells V rows
//
// Cells come in the order of their place in the context, not of their position. The format is internal to llama.cpp
// and has changed before: LearnStateFormat reads it off a captured state at start-up and believes only what it can
// parse to the last byte.
#ifndef AFTERIMAGE_ENGINE_LLAMA_STATE_BLOB_H_
#define AFTERIMAGE_ENGINE_LLAMA_STATE_BLOB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

// One row's place in the prompt. x, y and token exist only in M-RoPE models and are zero elsewhere.
struct StateCell {
  int32_t position = 0;
  int32_t x = 0;
  int32_t y = 0;
  int32_t token = 0;
  bool operator==(const StateCell&) const = default;
};

// What this context's blobs look like.
struct StateFormat {
  struct Layer {
    int32_t k_type = 0;  // ggml_type
    int32_t v_type = 0;
    uint64_t k_row_bytes = 0;
    uint64_t v_row_bytes = 0;
    bool operator==(const Layer&) const = default;
  };
  uint32_t magic = 0;
  uint32_t n_streams = 0;
  bool mrope_cells = false;
  std::vector<Layer> layers;

  uint64_t row_bytes() const;  // of one token, over all layers
  bool operator==(const StateFormat&) const = default;
};

// A captured state, in place.
struct StateView {
  std::vector<StateCell> cells;                    // in the blob's order
  std::vector<std::span<const std::byte>> k_rows;  // per layer, [n_cells, k_row_bytes]
  std::vector<std::span<const std::byte>> v_rows;
};

// Reads the format off a blob of a context that is known to hold exactly `n_cells` cells in one sequence.
// Errors: kUnsupported: these are not the bytes described above.
Result<StateFormat> LearnStateFormat(std::span<const std::byte> blob, bool mrope_cells, uint32_t n_cells);

// Errors: kCorrupt unless the blob is of that format to the last byte, holds one non-empty stream of at most
// `max_cells` cells, and all positions are sane.
Result<StateView> ParseState(std::span<const std::byte> blob, const StateFormat& format, uint32_t max_cells);

// The rows of `wanted` in canonical form (kv.h). Errors: kInternal if the view lacks one of the cells,
// kInvalidArgument if none are wanted.
Result<std::vector<std::byte>> CutRows(const StateView& view, const StateFormat& format,
                                       std::span<const StateCell> wanted);

// Whether no value in these rows is infinite or not a number. One such value in a row outlives the row: attention in a
// later request multiplies it by a weight of zero, which is not zero. So rows that have one are neither kept nor put
// back. Types other than f32, f16 and bf16 are not looked into. Costs one pass over the bytes.
bool AllFinite(std::span<const std::byte> rows, int32_t ggml_type);
bool AllFinite(std::span<const float> values);
// The same for rows of all layers in canonical form.
bool AllFinite(std::span<const std::byte> rows, const StateFormat& format, size_t n_tokens);

// Memory that only grows and is never cleared: a blob of many megabytes is built in it for every injection.
class StagingBuffer {
 public:
  std::span<std::byte> Get(size_t size);

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0;
};

// Builds a blob of the given cells in `staging`; the rows are then to be filled in through RowsOf.
class StateBuilder {
 public:
  StateBuilder(const StateFormat& format, std::span<const StateCell> cells, StagingBuffer& staging);

  // Where the rows of cells [first, first + count) go, in canonical order.
  std::vector<std::span<std::byte>> RowsOf(size_t first, size_t count);
  std::span<const std::byte> blob() const { return blob_; }

 private:
  const StateFormat& format_;
  std::span<std::byte> blob_;
  std::vector<std::byte*> k_rows_;  // per layer
  std::vector<std::byte*> v_rows_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_STATE_BLOB_H_
