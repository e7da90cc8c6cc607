#include "store/chunk_format.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/bytes.h"
#include "core/sha256.h"

namespace afterimage {
namespace {

constexpr std::string_view kMagic = "AFTERIMG";
constexpr uint32_t kVersion = 1;
constexpr size_t kFixedBytes = 208;  // up to the tenant
constexpr size_t kHeaderAlignment = 64;
constexpr size_t kLengthBytes = sizeof(uint32_t);

Error Corrupt(std::string_view why) { return {Errc::kCorrupt, "chunk file: " + std::string(why)}; }

size_t PaddedHeaderBytes(const ChunkHeader& header) {
  size_t bytes = kFixedBytes;
  bytes += kLengthBytes + header.tenant.size();
  bytes += kLengthBytes + header.tokens.size() * sizeof(int32_t);
  bytes += kLengthBytes + header.provider.size();
  bytes += kLengthBytes;
  for (const ChunkHeader::Tensor& tensor : header.tensors) {
    bytes += kLengthBytes + tensor.name.size();
    bytes += kLengthBytes + tensor.shape.size() * sizeof(int64_t);
  }
  return (bytes + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment;
}

// Of the tensor's values; nullopt for a shape that is none, or that is over kMaxRowsBytes.
std::optional<uint64_t> TensorBytes(const std::vector<int64_t>& shape) {
  uint64_t bytes = sizeof(float);
  for (const int64_t size : shape) {
    if (size <= 0 || static_cast<uint64_t>(size) > kMaxRowsBytes / bytes) return std::nullopt;
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

// What is wrong with a KV header as such, or nothing.
std::string_view KvFault(const ChunkHeader& header) {
  if (!header.provider.empty() || !header.tensors.empty()) return "KV with tensors";
  if (!header.tokens.empty() && header.tokens.size() != static_cast<size_t>(header.n_tokens)) {
    return "not as many token ids as tokens";
  }
  return {};
}

std::string_view FusionFault(const ChunkHeader& header) {
  if (!header.tokens.empty() || header.logits_bytes != 0) return "tensors with token ids or logits";
  if (header.parent != Digest()) return "tensors with a parent";
  if (header.provider.size() > kMaxNameBytes) return "provider name too long";
  if (header.tensors.size() > kMaxTensors) return "too many tensors";
  uint64_t total = 0;
  for (const ChunkHeader::Tensor& tensor : header.tensors) {
    if (tensor.name.size() > kMaxNameBytes) return "tensor name too long";
    if (tensor.shape.size() > kMaxTensorRank) return "tensor rank too high";
    const std::optional<uint64_t> bytes = TensorBytes(tensor.shape);
    if (!bytes.has_value()) return "impossible tensor shape";
    total += *bytes;  // at most kMaxTensors * kMaxRowsBytes
  }
  if (total != header.rows_bytes) return "body length is not that of the tensors";
  return {};
}

// What EncodeHeader requires: the first thing wrong with a header, or nothing.
std::string_view Fault(const ChunkHeader& header) {
  const bool kv = header.kind == ChunkHeader::Kind::kKv;
  if (!kv && header.kind != ChunkHeader::Kind::kFusion) return "unknown kind";
  if (header.codec != ChunkHeader::Codec::kRaw) return "unknown codec";
  if (header.tenant.size() > kMaxTenantBytes) return "tenant name too long";
  if (header.n_tokens < 1 || header.n_tokens > kMaxChunkTokens) return "token count out of range";
  if (header.first_position < 0 || header.first_position > kMaxPosition || header.n_positions < 0 ||
      header.n_positions > kMaxPosition - header.first_position) {
    return "positions out of range";
  }
  if (header.rows_bytes > kMaxRowsBytes) return "body length out of range";
  if (header.logits_bytes > kMaxLogitsBytes || header.logits_bytes % sizeof(float) != 0) {
    return "logits length out of range";
  }
  const std::string_view fault = kv ? KvFault(header) : FusionFault(header);
  if (!fault.empty()) return fault;
  if (PaddedHeaderBytes(header) > kMaxHeaderBytes) return "header too long";
  return {};
}

void WriteLength(ByteWriter& writer, size_t length) { writer.Write(static_cast<uint32_t>(length)); }

void WriteString(ByteWriter& writer, std::string_view text) {
  WriteLength(writer, text.size());
  writer.Append(std::as_bytes(std::span(text)));
}

// A count, and that many values. Nothing is allocated before the values are known to be there.
template <typename Values>
Values ReadCounted(ByteReader& reader) {
  const uint64_t count = reader.Read<uint32_t>();
  const std::span<const std::byte> bytes = reader.Take(count * sizeof(typename Values::value_type));
  Values values;
  values.resize(bytes.size() / sizeof(typename Values::value_type));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string ReadString(ByteReader& reader) { return ReadCounted<std::string>(reader); }

}  // namespace

Digest ChunkHeader::id() const {
  return Sha256().Add(static_cast<uint8_t>(kind)).Add(compatibility).Add(tenant).Add(parent).Add(content).Finish();
}

struct Checksum::State {
  XXH3_state_t* xxh3 = XXH3_createState();
  State() = default;
  ~State() { XXH3_freeState(xxh3); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {
  if (state_->xxh3 == nullptr || XXH3_128bits_reset(state_->xxh3) != XXH_OK) std::abort();  // only without memory
}

Checksum::~Checksum() = default;

void Checksum::Add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;  // no bytes may be a null pointer, an error to older xxhash
  if (XXH3_128bits_update(state_->xxh3, bytes.data(), bytes.size()) != XXH_OK) std::abort();
}

ChecksumBytes Checksum::Finish() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_->xxh3));
  ChecksumBytes bytes;
  static_assert(sizeof(canonical.digest) == sizeof(bytes));
  std::memcpy(bytes.data(), canonical.digest, sizeof(bytes));
  return bytes;
}

std::vector<std::byte> EncodeHeader(const ChunkHeader& header) {
  assert(Fault(header).empty());
  const size_t header_bytes = PaddedHeaderBytes(header);
  std::vector<std::byte> bytes;
  bytes.reserve(header_bytes);
  ByteWriter writer(bytes);
  for (const char letter : kMagic) writer.Write(letter);  // g++ 12 -O3 sees an overflow in a single Append here
  writer.Write(kVersion);
  WriteLength(writer, header_bytes);
  writer.Write(header.kind);
  writer.Write(header.codec);
  writer.Write(uint16_t{0});
  writer.Write(header.first_position);
  writer.Write(header.n_positions);
  writer.Write(header.n_tokens);
  writer.Write(header.rows_bytes);
  writer.Write(header.logits_bytes);
  writer.Write(header.id());
  writer.Write(header.compatibility);
  writer.Write(header.numerics);
  writer.Write(header.parent);
  writer.Write(header.content);
  assert(bytes.size() == kFixedBytes);
  WriteString(writer, header.tenant);
  WriteLength(writer, header.tokens.size());
  writer.Append(std::as_bytes(std::span(header.tokens)));
  WriteString(writer, header.provider);
  WriteLength(writer, header.tensors.size());
  for (const ChunkHeader::Tensor& tensor : header.tensors) {
    WriteString(writer, tensor.name);
    WriteLength(writer, tensor.shape.size());
    writer.Append(std::as_bytes(std::span(tensor.shape)));
  }
  bytes.resize(header_bytes);
  return bytes;
}

Result<uint32_t> HeaderBytes(std::span<const std::byte, kChunkPrologueBytes> prologue) {
  ByteReader reader(prologue);
  const std::span<const std::byte> magic = reader.Take(kMagic.size());
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) return Corrupt("does not begin like one");
  const uint32_t version = reader.Read<uint32_t>();
  if (version != kVersion) {
    return Corrupt("format version " + std::to_string(version) + ", and this build reads only version " +
                   std::to_string(kVersion));
  }
  const uint32_t header_bytes = reader.Read<uint32_t>();
  if (header_bytes < kFixedBytes || header_bytes > kMaxHeaderBytes || header_bytes % kHeaderAlignment != 0) {
    return Corrupt("header length out of range");
  }
  return header_bytes;
}

Result<ChunkHeader> DecodeHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < kChunkPrologueBytes) return Corrupt("ends within its header");
  const Result<uint32_t> header_bytes = HeaderBytes(bytes.first<kChunkPrologueBytes>());
  if (!header_bytes.ok()) return header_bytes.error();
  if (*header_bytes != bytes.size()) return Corrupt("header of another length than it says");

  ByteReader reader(bytes.subspan(kChunkPrologueBytes));
  ChunkHeader header;
  header.kind = reader.Read<ChunkHeader::Kind>();
  header.codec = reader.Read<ChunkHeader::Codec>();
  reader.Read<uint16_t>();  // zero, or the comparison below fails
  header.first_position = reader.Read<int32_t>();
  header.n_positions = reader.Read<int32_t>();
  header.n_tokens = reader.Read<int32_t>();
  header.rows_bytes = reader.Read<uint64_t>();
  header.logits_bytes = reader.Read<uint64_t>();
  const Digest id = reader.Read<Digest>();
  header.compatibility = reader.Read<Digest>();
  header.numerics = reader.Read<Digest>();
  header.parent = reader.Read<Digest>();
  header.content = reader.Read<Digest>();
  header.tenant = ReadString(reader);
  header.tokens = ReadCounted<std::vector<int32_t>>(reader);
  header.provider = ReadString(reader);
  const uint32_t n_tensors = reader.Read<uint32_t>();
  if (n_tensors > kMaxTensors) return Corrupt("too many tensors");
  for (uint32_t i = 0; i < n_tensors && reader.ok(); ++i) {
    std::string name = ReadString(reader);
    header.tensors.push_back({std::move(name), ReadCounted<std::vector<int64_t>>(reader)});
  }
  if (!reader.ok()) return Corrupt("header with a field past its end");
  if (const std::string_view fault = Fault(header); !fault.empty()) return Corrupt(fault);
  if (id != header.id()) return Corrupt("its id is not that of what it names");
  if (!std::ranges::equal(EncodeHeader(header), bytes)) return Corrupt("header with bytes that mean nothing");
  return header;
}

uint64_t FileBytes(const ChunkHeader& header) {
  return PaddedHeaderBytes(header) + header.rows_bytes + header.logits_bytes + kChecksumBytes;
}

Result<ChunkView> ParseChunk(std::span<const std::byte> file) {
  if (file.size() < kChunkPrologueBytes) return Corrupt("ends within its header");
  const Result<uint32_t> header_bytes = HeaderBytes(file.first<kChunkPrologueBytes>());
  if (!header_bytes.ok()) return header_bytes.error();
  if (*header_bytes > file.size()) return Corrupt("ends within its header");
  Result<ChunkHeader> header = DecodeHeader(file.first(*header_bytes));
  if (!header.ok()) return header.error();
  if (const uint64_t expected = FileBytes(*header); expected != file.size()) {
    return Corrupt(std::to_string(file.size()) + " bytes long and not " + std::to_string(expected));
  }
  Checksum checksum;
  checksum.Add(file.first(file.size() - kChecksumBytes));
  if (!std::ranges::equal(checksum.Finish(), file.last(kChecksumBytes))) return Corrupt("wrong checksum");

  ChunkView view;
  view.rows = file.subspan(*header_bytes, header->rows_bytes);
  view.logits = file.subspan(*header_bytes + header->rows_bytes, header->logits_bytes);
  view.header = std::move(*header);
  return view;
}

std::vector<std::byte> BuildChunk(const ChunkHeader& header, std::span<const std::byte> rows,
                                  std::span<const std::byte> logits) {
  assert(rows.size() == header.rows_bytes && logits.size() == header.logits_bytes);
  std::vector<std::byte> file = EncodeHeader(header);
  file.reserve(FileBytes(header));
  ByteWriter writer(file);
  writer.Append(rows);
  writer.Append(logits);
  Checksum checksum;
  checksum.Add(file);
  writer.Append(checksum.Finish());
  return file;
}

}  // namespace afterimage
