#include "data/record_dataset.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace afterimage {
namespace {

// Records "0", "1", ...; `broken` is unusable, and at `ends` reading fails.
class NumberedRecords : public RecordReader {
 public:
  explicit NumberedRecords(int size, int broken = -1, int ends = -1) : size_(size), broken_(broken), ends_(ends) {}
  Result<std::optional<Record>> Next() override {
    if (next_ == size_) return std::optional<Record>();
    const int number = next_++;
    if (number == broken_) return Error{Errc::kInvalidArgument, "broken"};
    if (number == ends_) return Error{Errc::kIo, "gone"};
    return std::optional<Record>({"{}", std::to_string(number), ""});
  }
  Place place() const override { return {static_cast<uint64_t>(next_), 0}; }
  Status GoTo(Place place) override {
    next_ = static_cast<int>(place.offset);
    return {};
  }

 private:
  const int size_;
  const int broken_;
  const int ends_;
  int next_ = 0;
};

std::unique_ptr<RecordDataset> NumberedSamples(int size, int broken = -1, int ends = -1) {
  return std::make_unique<RecordDataset>(std::make_unique<NumberedRecords>(size, broken, ends),
                                         [](const nlohmann::ordered_json&, const std::string& id) -> Result<Sample> {
                                           Sample sample;
                                           sample.id = id;
                                           return sample;
                                         });
}

std::vector<std::string> Ids(Dataset& dataset) {
  std::vector<std::string> ids;
  for (;;) {
    const Result<std::optional<Sample>> next = dataset.Next();
    if (!next.ok()) {
      ids.push_back(next.error().message);
    } else if (next->has_value()) {
      ids.push_back((*next)->id);
    } else {
      return ids;
    }
  }
}

std::vector<std::string> Taken(int size, int64_t max_samples, int64_t seed, int broken = -1) {
  Result<std::unique_ptr<Dataset>> dataset = ShuffleAndTake(NumberedSamples(size, broken), max_samples, seed);
  const std::optional<size_t> hint = (*dataset)->size_hint();
  std::vector<std::string> ids = Ids(**dataset);
  if (seed >= 0) {
    EXPECT_EQ(hint, ids.size());
  } else {
    EXPECT_EQ(hint, std::nullopt);
  }
  return ids;
}

TEST(ShuffleAndTake, ANegativeSeedKeepsTheOrder) {
  EXPECT_EQ(Taken(5, -1, -1), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(Taken(5, 2, -1), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(Taken(2, 5, -1), (std::vector<std::string>{"0", "1"}));
}

TEST(ShuffleAndTake, ASeedAlwaysGivesTheSameOrder) {
  EXPECT_EQ(Taken(8, -1, 7), (std::vector<std::string>{"7", "5", "2", "4", "1", "3", "0", "6"}));
  EXPECT_NE(Taken(8, -1, 7), Taken(8, -1, 8));
}

TEST(ShuffleAndTake, EverySampleComesOnce) {
  const std::vector<std::string> ids = Taken(100, -1, 3);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 100u);
}

TEST(ShuffleAndTake, FewerSamplesAreTheBeginningOfMore) {
  std::vector<std::string> all = Taken(50, -1, 7);
  all.resize(10);
  EXPECT_EQ(Taken(50, 10, 7), all);
}

TEST(ShuffleAndTake, AllOrdersAreAboutAsLikely) {
  std::vector<int> first(4, 0);
  for (int seed = 0; seed < 400; ++seed) ++first[std::stoul(Taken(4, 1, seed)[0])];
  for (const int n : first) EXPECT_NEAR(n, 100, 40);
}

TEST(ShuffleAndTake, AnUnusableSampleKeepsItsPlace) {
  std::vector<std::string> ids = Taken(8, -1, 7, 3);
  EXPECT_EQ(ids[5], "broken");
  ids[5] = "3";
  EXPECT_EQ(ids, Taken(8, -1, 7));
}

TEST(ShuffleAndTake, ADataSetThatEndsEarlyIsAnErrorAtOnce) {
  const Result<std::unique_ptr<Dataset>> dataset = ShuffleAndTake(NumberedSamples(8, -1, 5), 2, 7);
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.error().code, Errc::kIo);
}

}  // namespace
}  // namespace afterimage
