// Chunk files: how one chunk lies on disk, and the only way bytes from disk become a chunk again.
//
//   header    below; padded with zeros to a multiple of 64 bytes
//   body      KV: the rows in canonical form (kv.h), then the logits of a prompt's last token, if kept
//             fusion: the tensors' values one after another
//   checksum  16 bytes: XXH3-128 of all before it, in its canonical (big-endian) form
//
// The header, little-endian; a string is its length (u32) and its bytes:
//
//     0  "AFTERIMG", u32 version, u32 header bytes           the prologue
//    16  u8 kind, u8 codec, u16 zero
//    20  i32 first position, i32 positions, i32 tokens
//    32  u64 rows bytes, u64 logits bytes
//    48  id, compatibility, numerics, parent, content        32 bytes each
//   208  tenant                                              string
//        u32 count, i32 token ids
//        provider                                            string
//        u32 count, tensors                                  each: name (string), u32 rank, i64 sizes
//
// A file is accepted whole or not at all: magic, version, every length, the id (recomputed from what it names), the
// zero padding and the checksum must hold, and the header must be exactly the one EncodeHeader would write for what it
// says. So there is no slack in it: any changed bit, any missing or added byte is kCorrupt. The checksum finds
// accidents, not attackers; who can write the folder can write what is served (docs/format.md).
//
// Rejected: the checksum in the header (a file could then not be written in one pass); one checksum per row block (a
// chunk is always read whole); a container of many chunks (eviction would have to rewrite it); mapping files (a
// truncated one raises SIGBUS in the middle of an injection).
#ifndef AFTERIMAGE_STORE_CHUNK_FORMAT_H_
#define AFTERIMAGE_STORE_CHUNK_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"

namespace afterimage {

struct ChunkHeader {
  enum class Kind : uint8_t { kKv = 1, kFusion = 2 };
  enum class Codec : uint8_t { kRaw = 0 };
  struct Tensor {
    std::string name;
    std::vector<int64_t> shape;  // 32-bit floats
    bool operator==(const Tensor&) const = default;
  };

  Kind kind = Kind::kKv;
  Codec codec = Codec::kRaw;
  Digest compatibility;  // identity.h
  Digest numerics;
  std::string tenant;
  Digest parent;   // KV: the chunk of the segment before; zeros for the first. Fusion: zeros
  Digest content;  // Segment::content
  int32_t first_position = 0;
  int32_t n_positions = 0;
  int32_t n_tokens = 0;
  std::vector<int32_t> tokens;  // of a text segment; empty for a picture
  std::string provider;         // fusion: FusionProvider::name()
  std::vector<Tensor> tensors;  // fusion
  uint64_t rows_bytes = 0;      // KV: of the rows. Fusion: of the tensors' values
  uint64_t logits_bytes = 0;    // KV: of the logits behind the rows; 0: none

  // What the chunk is filed under: SHA-256 over kind, compatibility identity, tenant, parent and content.
  Digest id() const;
  bool operator==(const ChunkHeader&) const = default;
};

inline constexpr size_t kChunkPrologueBytes = 16;
inline constexpr size_t kChecksumBytes = 16;

// What a header may say. Far above what any model needs; they keep every sum and product of lengths in range.
inline constexpr uint32_t kMaxHeaderBytes = 1u << 20;
inline constexpr size_t kMaxTenantBytes = 255;
inline constexpr size_t kMaxNameBytes = 255;  // of a provider or a tensor
inline constexpr size_t kMaxTensors = 64;
inline constexpr size_t kMaxTensorRank = 8;
inline constexpr int32_t kMaxChunkTokens = 1 << 20;
inline constexpr int32_t kMaxPosition = 1 << 30;  // of the first position and of the one behind the last
inline constexpr uint64_t kMaxRowsBytes = uint64_t{1} << 40;
inline constexpr uint64_t kMaxLogitsBytes = uint64_t{1} << 32;

using ChecksumBytes = std::array<std::byte, kChecksumBytes>;

// XXH3-128 over pieces, in order.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void Add(std::span<const std::byte> bytes);
  ChecksumBytes Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// REQUIRES: the header is a sane one: within the limits above, all sizes in shapes and n_tokens at least 1, tokens
// empty or n_tokens many, logits_bytes a multiple of 4. KV: no provider and no tensors. Fusion: tensors of rows_bytes
// together, no tokens, no logits, no parent.
std::vector<std::byte> EncodeHeader(const ChunkHeader& header);

// The length of the header that starts with these bytes, so that it can be read. Errors: kCorrupt (no chunk file, or
// another format version, which the message names).
Result<uint32_t> HeaderBytes(std::span<const std::byte, kChunkPrologueBytes> prologue);

// Reads a header back, from any bytes at all: what it allocates follows from their length, not from what they say.
// Errors: kCorrupt.
Result<ChunkHeader> DecodeHeader(std::span<const std::byte> header);

// The whole length of a file with this header.
uint64_t FileBytes(const ChunkHeader& header);

// A whole file, checked to the last bit, in place: the spans point into it. The logits behind the rows may lie at any
// alignment.
struct ChunkView {
  ChunkHeader header;
  std::span<const std::byte> rows;
  std::span<const std::byte> logits;
};

// Errors: kCorrupt.
Result<ChunkView> ParseChunk(std::span<const std::byte> file);

// A whole file. REQUIRES: as EncodeHeader, and rows and logits of the sizes the header says.
std::vector<std::byte> BuildChunk(const ChunkHeader& header, std::span<const std::byte> rows,
                                  std::span<const std::byte> logits);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_CHUNK_FORMAT_H_
