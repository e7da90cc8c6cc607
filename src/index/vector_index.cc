#include "index/vector_index.h"

#include <fmt/format.h>

#include "index/flat_index.h"

namespace afterimage {

Result<std::unique_ptr<VectorIndex>> NewVectorIndex(const std::string& kind, int dim) {
  if (dim < 1) return Error{Errc::kInvalidArgument, fmt::format("vectors of {} numbers: give at least 1", dim)};
  if (kind == "flat") return std::unique_ptr<VectorIndex>(std::make_unique<FlatIndex>(dim));
  return Error{Errc::kInvalidArgument, fmt::format("no index of kind '{}': there is flat", kind)};
}

}  // namespace afterimage
