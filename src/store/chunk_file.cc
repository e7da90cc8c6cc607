#include "store/chunk_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "store/background_checksum.h"

namespace afterimage {
namespace {

// Read at once, then summed: small enough to be in the second-level cache still, large enough for the disk.
constexpr size_t kPieceBytes = 512 * 1024;

// From this size on the checksum is worth a thread.
constexpr uint64_t kLargeBytes = 4 << 20;

}  // namespace

uint64_t HeaderSum(std::span<const std::byte> header) {
  Checksum checksum;
  checksum.Add(header);
  const ChecksumBytes bytes = checksum.Finish();
  uint64_t sum = 0;
  std::memcpy(&sum, bytes.data(), sizeof(sum));
  return sum;
}

Result<std::unique_ptr<ChunkFile>> ChunkFile::OpenFile(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = files.OpenForReading(path);
  if (!file.ok()) return file.error();
  std::unique_ptr<ChunkFile> chunk(new ChunkFile);
  chunk->path_ = path;
  chunk->file_ = std::move(*file);
  return chunk;
}

Status ChunkFile::ReadHeader(uint64_t header_bytes) {
  header_bytes_.resize(header_bytes);
  uint64_t offset = 0;
  const std::array parts = {std::span(header_bytes_)};
  if (Status status = ReadInto(parts, offset, nullptr); !status.ok()) return status;
  Result<ChunkHeader> header = DecodeHeader(header_bytes_);
  if (!header.ok()) return Corrupt(header.error().message);
  header_ = std::move(*header);
  return {};
}

Result<std::unique_ptr<ChunkFile>> ChunkFile::Open(FileSystem& files, const std::string& path, const Claim& claim) {
  Result<std::unique_ptr<ChunkFile>> chunk = OpenFile(files, path);
  if (!chunk.ok()) return chunk;
  ChunkFile& file = **chunk;
  if (file.file_bytes() != claim.file_bytes) {
    return file.Corrupt(std::to_string(file.file_bytes()) + " bytes long and not " + std::to_string(claim.file_bytes));
  }
  const uint64_t header_bytes = claim.file_bytes - claim.rows_bytes - claim.logits_bytes - kChecksumBytes;
  if (header_bytes > kMaxHeaderBytes) return file.Corrupt("header length out of range");
  if (Status status = file.ReadHeader(header_bytes); !status.ok()) return status.error();
  if (file.header_sum() != claim.header_sum) return file.Corrupt("not the chunk the catalogue names");
  return chunk;
}

Result<std::unique_ptr<ChunkFile>> ChunkFile::Open(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<ChunkFile>> chunk = OpenFile(files, path);
  if (!chunk.ok()) return chunk;
  ChunkFile& file = **chunk;
  std::array<std::byte, kChunkPrologueBytes> prologue{};
  const std::array parts = {std::span<std::byte>(prologue)};
  uint64_t offset = 0;
  if (Status status = file.ReadInto(parts, offset, nullptr); !status.ok()) return status.error();
  const Result<uint32_t> header_bytes = HeaderBytes(prologue);
  if (!header_bytes.ok()) return file.Corrupt(header_bytes.error().message);
  if (Status status = file.ReadHeader(*header_bytes); !status.ok()) return status.error();
  if (const uint64_t expected = FileBytes(file.header_); file.file_bytes() != expected) {
    return file.Corrupt(std::to_string(file.file_bytes()) + " bytes long and not " + std::to_string(expected));
  }
  return chunk;
}

Status ChunkFile::Read(std::span<const std::span<std::byte>> parts, std::vector<float>* logits) const {
  if (header_.rows_bytes < kLargeBytes) return ReadChecked(parts, logits, Checksum());
  return ReadChecked(parts, logits, BackgroundChecksum());
}

template <typename AnyChecksum>
Status ChunkFile::ReadChecked(std::span<const std::span<std::byte>> parts, std::vector<float>* logits,
                              AnyChecksum&& checksum) const {
  std::vector<float> dropped;
  std::vector<float>& into = logits != nullptr ? *logits : dropped;
  into.resize(header_.logits_bytes / sizeof(float));
  const auto add = [&](std::span<const std::byte> piece) { checksum.Add(piece); };
  add(header_bytes_);
  uint64_t offset = header_bytes_.size();
  Status status = ReadInto(parts, offset, add);
  const std::array logits_part = {std::as_writable_bytes(std::span(into))};
  if (status.ok()) status = ReadInto(logits_part, offset, add);
  ChecksumBytes stored{};
  const std::array stored_part = {std::span<std::byte>(stored)};
  if (status.ok()) status = ReadInto(stored_part, offset, nullptr);
  const ChecksumBytes found = checksum.Finish();  // also after an error: nobody may look at the parts any more
  if (!status.ok()) return status;
  if (stored != found) return Corrupt("wrong checksum");
  return {};
}

Status ChunkFile::Verify() const {
  std::vector<std::byte> piece(std::min<uint64_t>(kPieceBytes, header_.rows_bytes));
  std::vector<std::span<std::byte>> parts;
  for (uint64_t left = header_.rows_bytes; left > 0; left -= parts.back().size()) {
    parts.push_back(std::span(piece).first(std::min<uint64_t>(left, piece.size())));
  }
  return ReadChecked(parts, nullptr, Checksum());  // at once: the piece is used again
}

Status ChunkFile::ReadInto(std::span<const std::span<std::byte>> parts, uint64_t& offset,
                           const PieceCallback& on_piece) const {
  std::vector<std::span<std::byte>> piece;
  size_t piece_bytes = 0;
  const auto read_piece = [&]() -> Status {
    const Result<uint64_t> n = file_->ReadAt(offset, piece);
    if (!n.ok()) return n.error();
    if (*n != piece_bytes) return Corrupt("ends early");
    for (const std::span<std::byte> part : piece) {
      if (on_piece != nullptr) on_piece(part);
    }
    offset += piece_bytes;
    piece.clear();
    piece_bytes = 0;
    return {};
  };
  for (std::span<std::byte> part : parts) {
    while (!part.empty()) {
      const size_t n = std::min(part.size(), kPieceBytes - piece_bytes);
      piece.push_back(part.first(n));
      piece_bytes += n;
      part = part.subspan(n);
      if (piece_bytes < kPieceBytes) continue;
      if (Status status = read_piece(); !status.ok()) return status;
    }
  }
  return piece.empty() ? Status() : read_piece();
}

}  // namespace afterimage
