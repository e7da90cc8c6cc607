// Rates: how long things take on this machine, learnt from what they took; what the planner predicts with.
//
// Each rate is a line, ms = base + slope * size, fitted to what was observed by least squares in which older
// observations count less and less. Where only one size was seen the line goes through zero.
//
//   key            size                        what it predicts
//   prefill.text   tokens                      one canonical step over text
//   prefill.image  tokens                      one canonical step over a picture's encoder output
//   encode         tokens of the picture       the vision encoder
//   load.<tier>    bytes                       reading one chunk from that tier ("memory", "disk", "queue")
//   inject         tokens                      putting rows that were read into the model
//
// A rate nobody has measured yet has a guess, so that there always is a choice; such a prediction is not reported.
//
// Thread safety: none; the cache holds a lock.
#ifndef AFTERIMAGE_CACHE_RATES_H_
#define AFTERIMAGE_CACHE_RATES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/result.h"
#include "store/catalogue.h"

namespace afterimage {

struct Prediction {
  double ms = 0;
  bool measured = true;  // false: a guess is in it

  Prediction& operator+=(const Prediction& other) {
    ms += other.ms;
    measured = measured && other.measured;
    return *this;
  }
};

class Rates {
 public:
  Rates() = default;
  // Those whose keys begin with the prefix, which is taken off.
  Rates(std::span<const Rate> rates, std::string_view prefix);

  // From a file as `afterimage store export` writes it: {"rates": {key: {"n", "x", "y", "xx", "xy"}}}. Keys with the
  // prefix are taken; if there is none, keys without any. Such rates do not learn. Errors: kNotFound, kCorrupt (not
  // such a file, or no rates for this model).
  static Result<Rates> ReadFrozen(const std::string& path, std::string_view prefix);

  Prediction Predict(std::string_view key, double size) const;

  // No effect on frozen rates.
  void Learn(std::string_view key, double size, double ms);

  std::vector<Rate> Save(std::string_view prefix) const;
  bool frozen() const { return frozen_; }

 private:
  std::map<std::string, Rate, std::less<>> rates_;
  bool frozen_ = false;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_RATES_H_
