// WilsonInterval: how sure a share is that was counted.
#ifndef AFTERIMAGE_EVAL_WILSON_H_
#define AFTERIMAGE_EVAL_WILSON_H_

#include <cstddef>

namespace afterimage {

struct Interval {
  double low = 0;
  double high = 1;
};

// Where the true share lies with 95 % confidence, when `part` of `whole` were counted: Wilson's score interval. Unlike
// the share plus and minus its deviation it stays within 0 and 1, and none of a few is not taken for none ever: 0 of 10
// is 0 to 0.28. Of nothing it is 0 to 1.
// REQUIRES: part <= whole.
Interval WilsonInterval(size_t part, size_t whole);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_WILSON_H_
