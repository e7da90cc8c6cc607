#include "data/record_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "data/json_fields.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;
using Place = RecordReader::Place;

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

  std::optional<size_t> size_hint() const override { return std::nullopt; }

 private:
  const std::unique_ptr<Dataset> dataset_;
  size_t left_;
};

// Samples from these places, in this order.
class DrawnSamples : public Dataset {
 public:
  DrawnSamples(std::unique_ptr<RecordDataset> dataset, std::vector<Place> places)
      : dataset_(std::move(dataset)), places_(std::move(places)) {}

  Result<std::optional<Sample>> Next() override {
    if (next_ == places_.size()) return std::optional<Sample>();
    if (Status status = dataset_->records().GoTo(places_[next_++]); !status.ok()) return status.error();
    return dataset_->Next();
  }

  std::optional<size_t> size_hint() const override { return places_.size() - next_; }

 private:
  const std::unique_ptr<RecordDataset> dataset_;
  const std::vector<Place> places_;
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

Result<std::vector<Place>> FindPlaces(RecordReader& records) {
  // What cannot go back is to say so now, not after it was read to its end.
  if (Status status = records.GoTo(records.place()); !status.ok()) return status.error();
  std::vector<Place> places;
  for (;;) {
    const Place place = records.place();
    const Result<std::optional<Record>> next = records.Next();
    if (!next.ok() && next.error().code != Errc::kInvalidArgument) return next.error();
    if (next.ok() && !next->has_value()) return places;
    places.push_back(place);
  }
}

}  // namespace

Result<std::optional<Sample>> RecordDataset::Next() {
  const Result<std::optional<Record>> record = records_->Next();
  if (!record.ok()) return record.error();
  if (!record->has_value()) return std::optional<Sample>();
  const Result<Json> object = ParseObject((*record)->text);
  Result<Sample> sample = object.ok() ? read_(*object, (*record)->id) : Result<Sample>(object.error());
  if (!sample.ok()) {
    return Error{Errc::kInvalidArgument, fmt::format("{}: {}", (*record)->where, sample.error().message)};
  }
  return std::optional<Sample>(std::move(*sample));
}

Result<std::unique_ptr<Dataset>> ShuffleAndTake(std::unique_ptr<RecordDataset> dataset, int64_t max_samples,
                                                int64_t seed) {
  const size_t most = max_samples < 0 ? SIZE_MAX : static_cast<size_t>(max_samples);
  if (seed < 0) return std::unique_ptr<Dataset>(std::make_unique<FirstSamples>(std::move(dataset), most));
  Result<std::vector<Place>> places = FindPlaces(dataset->records());
  if (!places.ok()) return places.error();
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  const size_t n = std::min(most, places->size());
  for (size_t i = 0; i < n && i + 1 < places->size(); ++i) {
    std::swap((*places)[i], (*places)[i + DrawBelow(places->size() - i, random)]);
  }
  std::vector<Place> drawn(places->begin(), places->begin() + static_cast<std::ptrdiff_t>(n));
  return std::unique_ptr<Dataset>(std::make_unique<DrawnSamples>(std::move(dataset), std::move(drawn)));
}

}  // namespace afterimage
