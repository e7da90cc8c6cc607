#include "data/dataset.h"

#include <random>
#include <utility>

namespace afterimage {
namespace {

// The first samples, as they come.
class FirstSamples : public Dataset {
 public:
  FirstSamples(std::unique_ptr<Dataset> dataset, size_t max_samples)
      : dataset_(std::move(dataset)), left_(max_samples) {}

  Result<std::optional<Sample>> Next() override {
    if (left_ == 0) return std::optional<Sample>();
    --left_;
    return dataset_->Next();
  }

  std::optional<size_t> size_hint() const override {
    std::optional<size_t> size = dataset_->size_hint();
    if (size.has_value()) size = std::min(*size, left_);
    return size;
  }

 private:
  const std::unique_ptr<Dataset> dataset_;
  size_t left_;
};

class HeldSamples : public Dataset {
 public:
  explicit HeldSamples(std::vector<Result<Sample>> samples) : samples_(std::move(samples)) {}

  Result<std::optional<Sample>> Next() override {
    if (next_ == samples_.size()) return std::optional<Sample>();
    Result<Sample>& sample = samples_[next_++];
    if (!sample.ok()) return sample.error();
    return std::optional<Sample>(std::move(*sample));
  }

  std::optional<size_t> size_hint() const override { return samples_.size() - next_; }

 private:
  std::vector<Result<Sample>> samples_;
  size_t next_ = 0;
};

// A number below `bound`, each as likely as the others. The standard's distributions and shuffle differ between
// libraries; its generators do not.
uint64_t DrawBelow(uint64_t bound, std::mt19937_64& random) {
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const uint64_t draw = random();
    if (draw < limit) return draw % bound;
  }
}

Result<std::vector<Result<Sample>>> ReadAll(Dataset& dataset) {
  std::vector<Result<Sample>> samples;
  for (;;) {
    Result<std::optional<Sample>> next = dataset.Next();
    if (!next.ok()) {
      if (next.error().code != Errc::kInvalidArgument) return next.error();
      samples.emplace_back(next.error());
    } else if (next->has_value()) {
      samples.emplace_back(std::move(**next));
    } else {
      return samples;
    }
  }
}

}  // namespace

Result<std::unique_ptr<Dataset>> ShuffleAndTake(std::unique_ptr<Dataset> dataset, int64_t max_samples, int64_t seed) {
  const size_t most = max_samples < 0 ? SIZE_MAX : static_cast<size_t>(max_samples);
  if (seed < 0) return std::unique_ptr<Dataset>(std::make_unique<FirstSamples>(std::move(dataset), most));
  Result<std::vector<Result<Sample>>> samples = ReadAll(*dataset);
  if (!samples.ok()) return samples.error();
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  const size_t n = std::min(most, samples->size());
  for (size_t i = 0; i < n && i + 1 < samples->size(); ++i) {
    std::swap((*samples)[i], (*samples)[i + DrawBelow(samples->size() - i, random)]);
  }
  samples->erase(samples->begin() + static_cast<std::ptrdiff_t>(n), samples->end());
  return NewHeldDataset(std::move(*samples));
}

std::unique_ptr<Dataset> NewHeldDataset(std::vector<Result<Sample>> samples) {
  return std::make_unique<HeldSamples>(std::move(samples));
}

}  // namespace afterimage
