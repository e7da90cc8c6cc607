#include "afterimage/identity.h"

#include "core/sha256.h"

namespace afterimage {

IdentityPart::IdentityPart(Fields fields) : fields_(std::move(fields)) {
  Sha256 hash;
  for (const auto& [name, value] : fields_) hash.Add(name).Add(value);
  digest_ = hash.Finish();
}

}  // namespace afterimage
