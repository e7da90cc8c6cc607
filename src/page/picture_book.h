// PictureBook: the pictures of a page, each once, however often it is shown.
#ifndef AFTERIMAGE_PAGE_PICTURE_BOOK_H_
#define AFTERIMAGE_PAGE_PICTURE_BOOK_H_

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace afterimage {

// A larger picture is left out: a page is to be mailed and opened anywhere.
inline constexpr size_t kMaxPictureBytes = 200 * 1000;

class PictureBook {
 public:
  // The picture's number. A file that is absent, too large or neither PNG nor JPEG gets one too: its name is shown.
  size_t Add(const std::string& path);

  // [{"name", "uri", "left_out"}], by number: a data: URI, or why there is none.
  const nlohmann::ordered_json& json() const { return pictures_; }

 private:
  nlohmann::ordered_json pictures_ = nlohmann::ordered_json::array();
  std::map<std::string, size_t> numbers_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_PAGE_PICTURE_BOOK_H_
