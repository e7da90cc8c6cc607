// SampleChunk: chunks whose bytes follow from a seed, for tests of stores.
#ifndef AFTERIMAGE_TESTING_SAMPLE_CHUNK_H_
#define AFTERIMAGE_TESTING_SAMPLE_CHUNK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "store/chunk_format.h"
#include "store/chunk_store.h"

namespace afterimage {

struct SampleShape {
  size_t rows_bytes = 1000;
  size_t n_logits = 8;
  int32_t n_tokens = 20;
  Digest parent;
  uint8_t numerics = 1;  // other numerics, other bytes
  bool fusion = false;   // then no parent, no logits, and rows_bytes a multiple of 4
};

struct SampleChunk {
  ChunkHeader header;
  std::vector<std::byte> rows;
  std::vector<std::byte> logits;

  Digest id() const { return header.id(); }
};

SampleChunk MakeSample(uint64_t seed, const SampleShape& shape = {});

Status PutSample(ChunkStore& store, const SampleChunk& sample, double compute_ms = 10);

// What a store gives for a sample.
enum class ReadBack {
  kEqual,
  kMiss,
  kCorrupt,  // Read said so
  kError,
  kOther,  // other bytes, or another header: what a store must never do
};

inline std::ostream& operator<<(std::ostream& out, ReadBack served) {
  constexpr std::array kNames = {"equal", "miss", "corrupt", "error", "other"};
  return out << kNames.at(static_cast<size_t>(served));
}

// Gets and reads, in parts of odd sizes.
ReadBack ReadBackOf(ChunkStore& store, const SampleChunk& sample);
ReadBack ReadSample(StoredChunk& chunk, const SampleChunk& sample);

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_SAMPLE_CHUNK_H_
