#include "core/sha256.h"

#include <openssl/evp.h>

#include <cstdlib>

namespace afterimage {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  // Fails only without memory or without SHA-256 in libcrypto: nothing sensible can be named from here on.
  if (EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) std::abort();
}

Sha256::~Sha256() = default;

Sha256& Sha256::Add(std::string_view part) {
  const uint64_t size = part.size();
  AddRaw(std::as_bytes(std::span(&size, 1)));
  return AddRaw(std::as_bytes(std::span(part)));
}

Sha256& Sha256::Add(const Digest& part) { return Add(std::span<const uint8_t>(part.bytes)); }

Sha256& Sha256::AddRaw(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) std::abort();
  return *this;
}

Digest Sha256::Finish() {
  Digest digest;
  if (EVP_DigestFinal_ex(state_->context, digest.bytes.data(), nullptr) != 1) std::abort();
  return digest;
}

std::string Digest::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<Digest> DigestFromHex(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  const auto nibble = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  for (size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = nibble(hex[2 * i]);
    const int low = nibble(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return digest;
}

}  // namespace afterimage
