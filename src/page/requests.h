// Requests: what a samples file says, as a page draws it: a few numbers a request, and in full only what went wrong.
#ifndef AFTERIMAGE_PAGE_REQUESTS_H_
#define AFTERIMAGE_PAGE_REQUESTS_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

// So many requests of an experiment are drawn one by one; more could not be told apart.
inline constexpr size_t kMaxRequestsDrawn = 2000;
// So many wrong answers of an experiment are shown.
inline constexpr size_t kMaxWrongShown = 8;

struct Requests {
  // {"total", "failed", "damaged", "classes": [names], "sources": [names], and by request, of the first
  // kMaxRequestsDrawn: "class" and "source" (places in these; null: no source), "ttft_ms", "baseline_ttft_ms" (or
  // null), "marks"}. A mark is the sum of 1 (stored KV state was put back), 2 (false hit) and 4 (wrong donor).
  nlohmann::ordered_json columns;
  // Lines of false hits and wrong donors: of every donor one before any has two, since its others are much the same;
  // and the worst first, which are both, then false hits, then wrong donors.
  std::vector<nlohmann::ordered_json> wrong;
  size_t wrong_total = 0;
};

// Reads line by line. A line that is no sample is passed over and counted (`damaged`); a request that was not answered
// is counted (`failed`). Errors: kNotFound, kIo.
Result<Requests> ReadRequests(const std::string& samples_file);

// Whether a hit's answer differs from the one without the cache, and whether the labels call the donor wrong.
bool IsFalseHit(const nlohmann::ordered_json& sample);
bool IsWrongDonor(const nlohmann::ordered_json& sample);

}  // namespace afterimage

#endif  // AFTERIMAGE_PAGE_REQUESTS_H_
