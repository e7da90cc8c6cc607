#include "embed/projection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/sha256.h"
#include "embed/signs.h"
#include "embed/sources.h"

namespace afterimage {
namespace {

uint64_t SeedOf(std::string_view identity, int from, int to) {
  const Digest digest =
      Sha256().Add("projection").Add(identity).Add(static_cast<int64_t>(from)).Add(static_cast<int64_t>(to)).Finish();
  uint64_t seed = 0;
  std::memcpy(&seed, digest.bytes.data(), sizeof(seed));
  return seed;
}

class ProjectedHook : public EmbeddingHook {
 public:
  ProjectedHook(std::unique_ptr<EmbeddingHook> hook, const std::map<std::string, int>& dims)
      : hook_(std::move(hook)), sources_(hook_->sources().begin(), hook_->sources().end()) {
    for (EmbeddingSource& source : sources_) {
      const auto wanted = dims.find(source.name);
      if (wanted == dims.end() || wanted->second == source.dim) continue;
      const Projection& projection =
          projections_.try_emplace(source.name, source.identity, source.dim, wanted->second).first->second;
      source.dim = wanted->second;
      source.identity = projection.identity();
    }
  }

  std::span<const EmbeddingSource> sources() const override { return sources_; }

  Result<std::vector<std::vector<float>>> Embed(std::span<const std::string> names,
                                                const EmbeddingInput& input) override {
    Result<std::vector<std::vector<float>>> vectors = hook_->Embed(names, input);
    if (!vectors.ok()) return vectors;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto projection = projections_.find(names[i]);
      if (projection == projections_.end()) continue;
      (*vectors)[i] = projection->second.Apply((*vectors)[i]);
      // Values near the largest float add up to more than that.
      const Status checked = CheckVector(SourceOf(sources_, names[i]), (*vectors)[i]);
      if (!checked.ok()) return checked.error();
    }
    return vectors;
  }

 private:
  std::unique_ptr<EmbeddingHook> hook_;
  std::vector<EmbeddingSource> sources_;
  std::map<std::string, Projection> projections_;  // by source
};

}  // namespace

Projection::Projection(std::string_view source_identity, int from, int to)
    : from_(static_cast<size_t>(from)),
      to_(static_cast<size_t>(to)),
      words_per_value_((to_ + 63) / 64),
      identity_(fmt::format("{}>signs/1:{}", source_identity, to)),
      signs_(from_ * words_per_value_) {
  Signs signs(SeedOf(source_identity, from, to));
  for (uint64_t& word : signs_) word = signs.NextWord();
}

std::vector<float> Projection::Apply(std::span<const float> vector) const {
  assert(vector.size() == from_);
  std::vector<double> sums(to_);
  for (size_t i = 0; i < from_; ++i) {
    const auto value = std::bit_cast<uint64_t>(static_cast<double>(vector[i]));
    const uint64_t* words = signs_.data() + i * words_per_value_;
    for (size_t row = 0; row < to_; ++row) {  // without a branch, which would be guessed wrong every other time
      const uint64_t sign = words[row / 64] >> (row % 64) << 63;
      sums[row] += std::bit_cast<double>(value ^ sign);
    }
  }
  const double scale = std::sqrt(static_cast<double>(to_));  // keeps the length too
  std::vector<float> projected(to_);
  for (size_t row = 0; row < to_; ++row) projected[row] = static_cast<float>(sums[row] / scale);
  return projected;
}

Result<std::unique_ptr<EmbeddingHook>> NewProjectedHook(std::unique_ptr<EmbeddingHook> hook,
                                                        const std::map<std::string, int>& dims) {
  bool changes = false;
  for (const auto& [name, dim] : dims) {
    const auto sources = hook->sources();
    const auto source = std::ranges::find(sources, name, &EmbeddingSource::name);
    if (source == sources.end()) {
      std::vector<std::string> names;
      for (const EmbeddingSource& there : sources) names.push_back(there.name);
      return Error{Errc::kInvalidArgument,
                   fmt::format("The embedding hook has no source '{}'; it has: {}.", name,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
    }
    if (dim < 1 || dim > kMaxEmbeddingDim) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("The dimension {} of the layer '{}' is not in 1 to {}.", dim, name, kMaxEmbeddingDim)};
    }
    changes = changes || dim != source->dim;
  }
  if (!changes) return hook;
  return std::unique_ptr<EmbeddingHook>(std::make_unique<ProjectedHook>(std::move(hook), dims));
}

}  // namespace afterimage
