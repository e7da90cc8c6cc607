// ByteReader and ByteWriter: little-endian fields in a byte buffer, with bounds.
//
// A reader never reads past its end: the first field that does not fit makes it !ok(), and it gives zeros from then on,
// so a parser reads a whole record and asks once.
#ifndef AFTERIMAGE_CORE_BYTES_H_
#define AFTERIMAGE_CORE_BYTES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace afterimage {

static_assert(std::endian::native == std::endian::little, "stored bytes are little-endian and are copied as they are");

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T Read() {
    T value{};
    const std::span<const std::byte> field = Take(sizeof(T));
    if (!field.empty()) std::memcpy(&value, field.data(), sizeof(T));
    return value;
  }

  // The next n bytes, in place; empty when they are not all there.
  std::span<const std::byte> Take(uint64_t n) {
    if (!ok_ || n > remaining()) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> taken = bytes_.subspan(offset_, n);
    offset_ += n;
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& out) : out_(out) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void Write(const T& value) {
    Append(std::as_bytes(std::span(&value, 1)));
  }
  void Append(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

 private:
  std::vector<std::byte>& out_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_BYTES_H_
