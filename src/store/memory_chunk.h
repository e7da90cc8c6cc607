// ChunkBytes: a chunk in memory, laid out as in its file; what a memory store holds and a disk store has yet to write.
#ifndef AFTERIMAGE_STORE_MEMORY_CHUNK_H_
#define AFTERIMAGE_STORE_MEMORY_CHUNK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "store/chunk_format.h"
#include "store/chunk_store.h"

namespace afterimage {

struct ChunkBytes {
  ChunkHeader header;
  size_t header_bytes = 0;
  std::vector<std::byte> bytes;  // header, rows, logits; the checksum is left to who writes it

  std::span<const std::byte> rows() const { return std::span(bytes).subspan(header_bytes, header.rows_bytes); }
  std::span<const std::byte> logits() const { return std::span(bytes).last(header.logits_bytes); }
};

// Shared: by the store, by its writer, and by those who read it while it is forgotten.
using SharedChunk = std::shared_ptr<const ChunkBytes>;

// One copy of the bytes. REQUIRES: as ChunkStore::Put.
SharedChunk CopyChunk(const ChunkHeader& header, std::span<const std::byte> rows, std::span<const std::byte> logits);

// The chunk as what Get returns. Counts what is read.
std::unique_ptr<StoredChunk> ReadFromMemory(SharedChunk chunk, std::atomic<uint64_t>& bytes_read);

// Writes bytes over parts, in order. REQUIRES: equal sizes together.
void Scatter(std::span<const std::byte> bytes, std::span<const std::span<std::byte>> parts);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_MEMORY_CHUNK_H_
