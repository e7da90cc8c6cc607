// Identity: what shapes stored bytes, so that bytes are only ever put back where they mean the same.
//
// Two parts. *Compatibility*: weights, projector, tokenizer, template, preprocessing, KV types, RoPE, layout; a
// mismatch is refused. *Numerics*: engine build, backend, threads, batch sizes; they change the last bits of a result,
// so a mismatch is refused where bit-identity is demanded and otherwise allowed and reported.
#ifndef AFTERIMAGE_IDENTITY_H_
#define AFTERIMAGE_IDENTITY_H_

#include <string>
#include <utility>
#include <vector>

#include "afterimage/digest.h"

namespace afterimage {

class IdentityPart {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;  // names and values, in order

  IdentityPart() : IdentityPart(Fields{}) {}
  explicit IdentityPart(Fields fields);

  const Digest& digest() const { return digest_; }
  // What went into the digest, so that a mismatch can be explained.
  const Fields& fields() const { return fields_; }

 private:
  Fields fields_;
  Digest digest_;
};

struct Identity {
  IdentityPart compatibility;
  IdentityPart numerics;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_IDENTITY_H_
