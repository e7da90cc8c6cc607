#include "testing/sample_chunk.h"

#include <algorithm>
#include <random>
#include <span>

namespace afterimage {
namespace {

std::vector<std::byte> Noise(uint64_t seed, size_t n) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(n);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

SampleChunk MakeSample(uint64_t seed, const SampleShape& shape) {
  SampleChunk sample;
  ChunkHeader& header = sample.header;
  header.kind = shape.fusion ? ChunkHeader::Kind::kFusion : ChunkHeader::Kind::kKv;
  header.compatibility.bytes.fill(1);
  header.numerics.bytes.fill(shape.numerics);
  header.tenant = "tenant";
  for (size_t i = 0; i < 8; ++i) header.content.bytes[i] = static_cast<uint8_t>(seed >> (8 * i));
  header.n_tokens = shape.n_tokens;
  header.n_positions = shape.n_tokens;
  header.rows_bytes = shape.rows_bytes;
  if (shape.fusion) {
    header.provider = "test";
    header.tensors = {{"embd", {static_cast<int64_t>(shape.rows_bytes / sizeof(float))}}};
  } else {
    header.parent = shape.parent;
    header.tokens.assign(static_cast<size_t>(shape.n_tokens), static_cast<int32_t>(seed));
    header.logits_bytes = shape.n_logits * sizeof(float);
  }
  sample.rows = Noise(seed * 1000 + shape.numerics, header.rows_bytes);
  sample.logits = Noise(seed * 1000 + 500 + shape.numerics, header.logits_bytes);
  return sample;
}

Status PutSample(ChunkStore& store, const SampleChunk& sample, double compute_ms) {
  return store.Put(sample.header, sample.rows, sample.logits, {.compute_ms = compute_ms});
}

ReadBack ReadSample(StoredChunk& chunk, const SampleChunk& sample) {
  if (!(chunk.header() == sample.header)) return ReadBack::kOther;
  std::vector<std::byte> rows(sample.rows.size());
  std::vector<std::span<std::byte>> parts;
  for (std::span<std::byte> rest = rows; !rest.empty();) {
    const size_t n = std::min<size_t>(rest.size(), rows.size() / 3 + 7);
    parts.push_back(rest.first(n));
    rest = rest.subspan(n);
  }
  std::vector<float> logits;
  const Status status = chunk.Read(parts, &logits);
  if (!status.ok()) return status.error().code == Errc::kCorrupt ? ReadBack::kCorrupt : ReadBack::kError;
  const bool equal = rows == sample.rows && std::ranges::equal(std::as_bytes(std::span(logits)), sample.logits);
  return equal ? ReadBack::kEqual : ReadBack::kOther;
}

ReadBack ReadBackOf(ChunkStore& store, const SampleChunk& sample) {
  const auto found = store.Get(sample.id());
  if (!found.ok()) return ReadBack::kError;
  if (!found->has_value()) return ReadBack::kMiss;
  return ReadSample(***found, sample);
}

}  // namespace afterimage
