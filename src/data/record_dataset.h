// RecordDataset: a data set over records (record_reader.h), each parsed when it is asked for and then forgotten.
#ifndef AFTERIMAGE_DATA_RECORD_DATASET_H_
#define AFTERIMAGE_DATA_RECORD_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "data/record_reader.h"

namespace afterimage {

// Makes a sample of a record's object; `id` is what the file calls it. Errors: kInvalidArgument, with what is wrong.
using SampleReader = std::function<Result<Sample>(const nlohmann::ordered_json& object, const std::string& id)>;

class RecordDataset : public Dataset {
 public:
  RecordDataset(std::unique_ptr<RecordReader> records, SampleReader read)
      : records_(std::move(records)), read_(std::move(read)) {}

  // The sample of the next record. A record that cannot be used is named by where it stands.
  Result<std::optional<Sample>> Next() override;
  std::optional<size_t> size_hint() const override { return std::nullopt; }

  RecordReader& records() { return *records_; }

 private:
  const std::unique_ptr<RecordReader> records_;
  const SampleReader read_;
};

// At most `max_samples` (negative: all) of `dataset`, in an order drawn from `seed` (negative: as they come). The same
// seed gives the same order on every machine. To draw an order the records are passed over once, and where they stand
// is remembered, 16 bytes each; an unusable one keeps its place among them.
// Errors: those that end the records; kUnsupported (an order over a pipe).
Result<std::unique_ptr<Dataset>> ShuffleAndTake(std::unique_ptr<RecordDataset> dataset, int64_t max_samples,
                                                int64_t seed);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_RECORD_DATASET_H_
