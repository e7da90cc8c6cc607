// Gallery: wrong answers to look at, with both pictures, both questions and both answers.
#ifndef AFTERIMAGE_PAGE_GALLERY_H_
#define AFTERIMAGE_PAGE_GALLERY_H_

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "page/picture_book.h"

namespace afterimage {

// So many different cases are shown on one page.
inline constexpr size_t kMaxCases = 80;

// What went wrong in one experiment.
struct WrongAnswers {
  size_t experiment = 0;                        // its number on the page
  std::string samples_file;                     // pictures may lie beside it
  std::vector<nlohmann::ordered_json> samples;  // lines of it, the worst first
  size_t total = 0;                             // with those that are not in `samples`
};

// {"cases", "pictures", "wrong", "left_out"}. Experiments take turns, so that the first does not fill the page. A case
// that happened in several is shown once: `seen` is [{"experiment", "passed"}], what let it pass in each. `wrong`
// counts requests, and `left_out` those of them that no case shows.
nlohmann::ordered_json MakeGallery(const std::vector<WrongAnswers>& experiments);

}  // namespace afterimage

#endif  // AFTERIMAGE_PAGE_GALLERY_H_
