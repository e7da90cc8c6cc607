#include "engine/llama/state_blob.h"

#include <ggml.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
#include <tuple>

#include "core/bytes.h"

namespace afterimage {
namespace {

constexpr uint32_t kMaxLayers = 4096;
constexpr uint64_t kMaxRowBytes = 1u << 24;
constexpr int32_t kMaxPosition = 1 << 30;

size_t CellBytes(bool mrope_cells) { return mrope_cells ? 24 : 12; }

// Looks at eight bytes at a time. A value is not finite when all bits of its exponent are set: then `~word & exponents`
// is zero in its lane, and adding the largest positive number to the lane does not reach the lane's top bit.
bool LanesFinite(std::span<const std::byte> bytes, uint64_t exponents, uint64_t top_bits) {
  const auto test = [&](uint64_t word) { return (~word & exponents) + ~top_bits; };
  uint64_t all = top_bits;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    all &= test(word);
  }
  uint64_t tail = 0;
  if (i < bytes.size()) std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  return (all & test(tail)) == top_bits;
}

Error Corrupt(const char* what) { return Error{Errc::kCorrupt, std::string("state bytes: ") + what}; }

// Reads a whole blob. With `expected`, every field must be as it says; without, the format is filled in from the blob.
Status Walk(std::span<const std::byte> blob, uint32_t max_cells, const StateFormat* expected, StateFormat& format,
            StateView& view) {
  ByteReader reader(blob);
  format.magic = reader.Read<uint32_t>();
  reader.Read<int32_t>();  // the sequence it was taken from
  format.n_streams = reader.Read<uint32_t>();
  if (!reader.ok()) return Corrupt("too short");
  if (expected != nullptr && (format.magic != expected->magic || format.n_streams != expected->n_streams)) {
    return Corrupt("other magic or stream count");
  }
  for (uint32_t stream = 0; stream < format.n_streams; ++stream) {
    const auto n_cells = reader.Read<uint32_t>();
    if (!reader.ok()) return Corrupt("too short");
    if (n_cells == 0) continue;
    if (!view.cells.empty()) return Corrupt("cells in two streams");
    // Bounded by what is really there before anything is allocated.
    if (n_cells > max_cells || n_cells > reader.remaining() / CellBytes(format.mrope_cells)) {
      return Corrupt("more cells than there can be");
    }
    view.cells.resize(n_cells);
    for (StateCell& cell : view.cells) {
      cell.position = reader.Read<int32_t>();
      if (reader.Read<uint32_t>() != 1) return Corrupt("a cell of several sequences");
      if (format.mrope_cells) {
        cell.x = reader.Read<int32_t>();
        cell.y = reader.Read<int32_t>();
        cell.token = reader.Read<int32_t>();
      }
      reader.Read<int32_t>();
      if (cell.position < 0 || cell.position > kMaxPosition) return Corrupt("a position out of range");
    }
    if (reader.Read<uint32_t>() != 0) return Corrupt("V is transposed");
    const auto n_layers = reader.Read<uint32_t>();
    if (!reader.ok() || n_layers == 0 || n_layers > kMaxLayers) return Corrupt("layer count");
    format.layers.resize(n_layers);
    for (const bool is_k : {true, false}) {
      for (StateFormat::Layer& layer : format.layers) {
        const auto type = reader.Read<int32_t>();
        const auto row_bytes = reader.Read<uint64_t>();
        if (!reader.ok() || row_bytes == 0 || row_bytes > kMaxRowBytes) return Corrupt("row size");
        (is_k ? layer.k_type : layer.v_type) = type;
        (is_k ? layer.k_row_bytes : layer.v_row_bytes) = row_bytes;
        (is_k ? view.k_rows : view.v_rows).push_back(reader.Take(row_bytes * n_cells));
        if (!reader.ok()) return Corrupt("too short");
      }
    }
    if (expected != nullptr && format.layers != expected->layers) return Corrupt("other layers, types or row sizes");
  }
  if (reader.remaining() != 0) return Corrupt("trailing bytes");
  if (view.cells.empty()) return Corrupt("no cells");
  return {};
}

}  // namespace

uint64_t StateFormat::row_bytes() const {
  uint64_t bytes = 0;
  for (const Layer& layer : layers) bytes += layer.k_row_bytes + layer.v_row_bytes;
  return bytes;
}

Result<StateFormat> LearnStateFormat(std::span<const std::byte> blob, bool mrope_cells, uint32_t n_cells) {
  StateFormat format;
  format.mrope_cells = mrope_cells;
  StateView view;
  const Status status = Walk(blob, n_cells, nullptr, format, view);
  if (!status.ok()) return Error{Errc::kUnsupported, status.error().message};
  if (view.cells.size() != n_cells) return Error{Errc::kUnsupported, "state bytes: another number of cells"};
  return format;
}

Result<StateView> ParseState(std::span<const std::byte> blob, const StateFormat& format, uint32_t max_cells) {
  StateFormat found;
  found.mrope_cells = format.mrope_cells;
  StateView view;
  const Status status = Walk(blob, max_cells, &format, found, view);
  if (!status.ok()) return status.error();
  return view;
}

Result<std::vector<std::byte>> CutRows(const StateView& view, const StateFormat& format,
                                       std::span<const StateCell> wanted) {
  // Indices into the view in prompt order: by position, and inside a picture (one position) by row and column.
  std::vector<uint32_t> order(view.cells.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [](const StateCell& a, const StateCell& b) {
    return std::tie(a.position, a.y, a.x) < std::tie(b.position, b.y, b.x);
  };
  const auto index_before = [&](uint32_t a, uint32_t b) { return before(view.cells[a], view.cells[b]); };
  if (!std::is_sorted(order.begin(), order.end(), index_before)) {
    std::sort(order.begin(), order.end(), index_before);
  }
  if (wanted.empty()) return Error{Errc::kInvalidArgument, "no rows asked for"};
  const auto start = std::lower_bound(order.begin(), order.end(), wanted.front(),
                                      [&](uint32_t i, const StateCell& cell) { return before(view.cells[i], cell); });
  const auto first = static_cast<size_t>(start - order.begin());
  const std::span<const uint32_t> picked = std::span(order).subspan(first);
  if (picked.size() < wanted.size()) return Error{Errc::kInternal, "captured state lacks rows of the prompt"};
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (view.cells[picked[i]] != wanted[i]) {
      return Error{Errc::kInternal, "captured state has other positions than the prompt"};
    }
  }

  std::vector<std::byte> rows(wanted.size() * format.row_bytes());
  std::byte* out = rows.data();
  const auto copy = [&](std::span<const std::byte> from, uint64_t row_bytes) {
    for (size_t i = 0; i < wanted.size();) {
      size_t run = 1;  // rows that lie side by side
      while (i + run < wanted.size() && picked[i + run] == picked[i] + run) ++run;
      std::memcpy(out, from.data() + picked[i] * row_bytes, run * row_bytes);
      out += run * row_bytes;
      i += run;
    }
  };
  for (size_t layer = 0; layer < format.layers.size(); ++layer) {
    copy(view.k_rows[layer], format.layers[layer].k_row_bytes);
    copy(view.v_rows[layer], format.layers[layer].v_row_bytes);
  }
  return rows;
}

bool AllFinite(std::span<const std::byte> rows, int32_t ggml_type) {
  switch (ggml_type) {
    case GGML_TYPE_F16:
      return LanesFinite(rows, 0x7C007C007C007C00u, 0x8000800080008000u);
    case GGML_TYPE_BF16:
      return LanesFinite(rows, 0x7F807F807F807F80u, 0x8000800080008000u);
    case GGML_TYPE_F32:
      return LanesFinite(rows, 0x7F8000007F800000u, 0x8000000080000000u);
    default:
      return true;
  }
}

bool AllFinite(std::span<const float> values) { return AllFinite(std::as_bytes(values), GGML_TYPE_F32); }

bool AllFinite(std::span<const std::byte> rows, const StateFormat& format, size_t n_tokens) {
  ByteReader reader(rows);
  for (const StateFormat::Layer& layer : format.layers) {
    if (!AllFinite(reader.Take(n_tokens * layer.k_row_bytes), layer.k_type)) return false;
    if (!AllFinite(reader.Take(n_tokens * layer.v_row_bytes), layer.v_type)) return false;
  }
  return true;
}

std::span<std::byte> StagingBuffer::Get(size_t size) {
  if (size > capacity_) {
    capacity_ = 0;
    bytes_.reset();  // before the new one: never hold both
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
    capacity_ = size;
  }
  return {bytes_.get(), size};
}

StateBuilder::StateBuilder(const StateFormat& format, std::span<const StateCell> cells, StagingBuffer& staging)
    : format_(format) {
  assert(!cells.empty());
  const size_t n_layers = format.layers.size();
  const size_t size = 12 + 4 * size_t{format.n_streams} + cells.size() * CellBytes(format.mrope_cells) + 8 +
                      n_layers * 2 * 12 + cells.size() * format.row_bytes();
  blob_ = staging.Get(size);
  std::byte* out = blob_.data();
  const auto put = [&](const auto& value) {
    std::memcpy(out, &value, sizeof(value));
    out += sizeof(value);
  };
  put(format.magic);
  put(int32_t{0});  // sequence: llama.cpp takes the one it is told to load into
  put(format.n_streams);
  put(static_cast<uint32_t>(cells.size()));  // all in the first stream, for the same reason
  for (const StateCell& cell : cells) {
    put(cell.position);
    put(uint32_t{1});
    if (format.mrope_cells) {
      put(cell.x);
      put(cell.y);
      put(cell.token);
    }
    put(int32_t{0});
  }
  put(uint32_t{0});  // V not transposed
  put(static_cast<uint32_t>(n_layers));
  for (const StateFormat::Layer& layer : format.layers) {
    put(layer.k_type);
    put(layer.k_row_bytes);
    k_rows_.push_back(out);
    out += cells.size() * layer.k_row_bytes;
  }
  for (const StateFormat::Layer& layer : format.layers) {
    put(layer.v_type);
    put(layer.v_row_bytes);
    v_rows_.push_back(out);
    out += cells.size() * layer.v_row_bytes;
  }
  for (uint32_t stream = 1; stream < format.n_streams; ++stream) put(uint32_t{0});
  assert(out == blob_.data() + blob_.size());
}

std::vector<std::span<std::byte>> StateBuilder::RowsOf(size_t first, size_t count) {
  std::vector<std::span<std::byte>> parts;
  parts.reserve(2 * format_.layers.size());
  for (size_t i = 0; i < format_.layers.size(); ++i) {
    const StateFormat::Layer& layer = format_.layers[i];
    parts.emplace_back(k_rows_[i] + first * layer.k_row_bytes, count * layer.k_row_bytes);
    parts.emplace_back(v_rows_[i] + first * layer.v_row_bytes, count * layer.v_row_bytes);
  }
  return parts;
}

}  // namespace afterimage
