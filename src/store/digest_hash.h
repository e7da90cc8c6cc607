// DigestHash: for unordered maps by digest. A SHA-256 value is its own hash.
#ifndef AFTERIMAGE_STORE_DIGEST_HASH_H_
#define AFTERIMAGE_STORE_DIGEST_HASH_H_

#include <cstddef>
#include <cstring>

#include "afterimage/digest.h"

namespace afterimage {

struct DigestHash {
  size_t operator()(const Digest& digest) const {
    size_t hash = 0;
    std::memcpy(&hash, digest.bytes.data(), sizeof(hash));
    return hash;
  }
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_DIGEST_HASH_H_
