// ChunkFile: a chunk file open for reading, from which only checked bytes come.
//
// Opening reads the header and checks it to the last bit, against a sum kept elsewhere; Read reads the body straight
// into place, once, and takes the checksum while the bytes are still in the processor's cache. Thread safety: none.
#ifndef AFTERIMAGE_STORE_CHUNK_FILE_H_
#define AFTERIMAGE_STORE_CHUNK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"
#include "store/chunk_format.h"
#include "store/file_system.h"

namespace afterimage {

// What a catalogue keeps to know a header again: the first 8 bytes of its XXH3-128. The checksum at a file's end covers
// the header too, but is known only when all has been read, and headers are trusted before.
uint64_t HeaderSum(std::span<const std::byte> header);

class ChunkFile {
 public:
  // What the catalogue says of the file; a file that says otherwise is another one.
  struct Claim {
    uint64_t header_sum = 0;
    uint64_t rows_bytes = 0;
    uint64_t logits_bytes = 0;
    uint64_t file_bytes = 0;
  };

  // Errors: kNotFound, kCorrupt, kIo.
  static Result<std::unique_ptr<ChunkFile>> Open(FileSystem& files, const std::string& path, const Claim& claim);
  // By what the file says of itself: for who makes a catalogue anew, or looks for damage. Errors: as above.
  static Result<std::unique_ptr<ChunkFile>> Open(FileSystem& files, const std::string& path);

  const ChunkHeader& header() const { return header_; }
  uint64_t header_sum() const { return HeaderSum(header_bytes_); }
  uint64_t file_bytes() const { return file_->size(); }

  // As StoredChunk::Read. Errors: kCorrupt, kIo.
  Status Read(std::span<const std::span<std::byte>> parts, std::vector<float>* logits) const;

  // Reads all of it for nothing but the check. Errors: kCorrupt, kIo.
  Status Verify() const;

 private:
  ChunkFile() = default;
  static Result<std::unique_ptr<ChunkFile>> OpenFile(FileSystem& files, const std::string& path);
  Status ReadHeader(uint64_t header_bytes);
  Error Corrupt(const std::string& why) const { return {Errc::kCorrupt, path_ + ": " + why}; }
  template <typename AnyChecksum>
  Status ReadChecked(std::span<const std::span<std::byte>> parts, std::vector<float>* logits,
                     AnyChecksum&& checksum) const;
  using PieceCallback = std::function<void(std::span<const std::byte>)>;  // may be null
  Status ReadInto(std::span<const std::span<std::byte>> parts, uint64_t& offset, const PieceCallback& on_piece) const;

  std::string path_;
  std::unique_ptr<ReadableFile> file_;
  std::vector<std::byte> header_bytes_;
  ChunkHeader header_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_CHUNK_FILE_H_
