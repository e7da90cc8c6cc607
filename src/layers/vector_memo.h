// VectorMemo: the vectors of one request, each computed at most once however many look-ups ask for it.
//
// Thread safety: none; it belongs to one request.
#ifndef AFTERIMAGE_LAYERS_VECTOR_MEMO_H_
#define AFTERIMAGE_LAYERS_VECTOR_MEMO_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/clock.h"
#include "afterimage/result.h"

namespace afterimage {

class VectorMemo {
 public:
  explicit VectorMemo(const Clock& clock) : clock_(clock) {}

  // Of a layer. The reference is good as long as the memo.
  const Result<std::vector<float>>& Get(std::string_view layer,
                                        const std::function<Result<std::vector<float>>()>& compute) {
    const auto found = vectors_.find(layer);
    if (found != vectors_.end()) return found->second;
    const StageTimer timer(clock_, ms_[std::string(layer)]);
    return vectors_.emplace(std::string(layer), compute()).first->second;
  }

  // What computing it took; 0 if it was not computed.
  double ms(std::string_view layer) const {
    const auto found = ms_.find(layer);
    return found == ms_.end() ? 0 : found->second;
  }

 private:
  const Clock& clock_;
  std::map<std::string, Result<std::vector<float>>, std::less<>> vectors_;
  std::map<std::string, double, std::less<>> ms_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_VECTOR_MEMO_H_
