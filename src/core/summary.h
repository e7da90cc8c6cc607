// Summary: the middle of some measurements, and how sure it is.
#ifndef AFTERIMAGE_CORE_SUMMARY_H_
#define AFTERIMAGE_CORE_SUMMARY_H_

#include <vector>

namespace afterimage {

struct Summary {
  double median = 0;
  // An interval that holds the true median with at least 95 % confidence, from order statistics, whatever the
  // distribution. Under six values there is none: then the smallest and largest.
  double low = 0;
  double high = 0;
};

// REQUIRES: values is not empty.
Summary Summarize(std::vector<double> values);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_SUMMARY_H_
