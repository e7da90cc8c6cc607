// SHA-256 over parts. Every part is preceded by its length, so that no two lists of parts hash alike.
#ifndef AFTERIMAGE_CORE_SHA256_H_
#define AFTERIMAGE_CORE_SHA256_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "afterimage/digest.h"

namespace afterimage {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& Add(std::string_view part);
  Sha256& Add(const Digest& part);
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Sha256& Add(std::span<const T> part) {
    return Add(std::string_view(reinterpret_cast<const char*>(part.data()), part.size_bytes()));
  }
  template <typename T>
    requires std::is_arithmetic_v<T>
  Sha256& Add(T part) {
    return Add(std::span<const T>(&part, 1));
  }
  // Bytes as they are, without a length: for hashing a stream piece by piece.
  Sha256& AddRaw(std::span<const std::byte> bytes);

  // Ends the computation; nothing may be added afterwards.
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The digest written as 64 hex digits, or nullopt.
std::optional<Digest> DigestFromHex(std::string_view hex);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_SHA256_H_
