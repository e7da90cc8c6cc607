#include "data/chained_records.h"

#include <utility>

namespace afterimage {
namespace {

// A place's offset is the file's number in its upper bits: no file is as long as 2^48 bytes.
constexpr int kFileShift = 48;

class ChainedRecords : public RecordReader {
 public:
  explicit ChainedRecords(std::vector<std::unique_ptr<RecordReader>> readers) : readers_(std::move(readers)) {
    for (const auto& reader : readers_) beginnings_.push_back(reader->place());
  }

  Result<std::optional<Record>> Next() override {
    for (;;) {
      Result<std::optional<Record>> record = readers_[current_]->Next();
      if (!record.ok() || record->has_value() || current_ + 1 == readers_.size()) return record;
      // The next file may have been read before, when an order was drawn.
      ++current_;
      if (Status status = readers_[current_]->GoTo(beginnings_[current_]); !status.ok()) return status.error();
    }
  }

  Place place() const override {
    Place place = readers_[current_]->place();
    place.offset |= static_cast<uint64_t>(current_) << kFileShift;
    return place;
  }

  Status GoTo(Place place) override {
    current_ = static_cast<size_t>(place.offset >> kFileShift);
    place.offset &= (uint64_t{1} << kFileShift) - 1;
    return readers_[current_]->GoTo(place);
  }

 private:
  const std::vector<std::unique_ptr<RecordReader>> readers_;
  std::vector<Place> beginnings_;
  size_t current_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> NewChainedRecords(std::vector<std::unique_ptr<RecordReader>> readers) {
  return std::make_unique<ChainedRecords>(std::move(readers));
}

}  // namespace afterimage
