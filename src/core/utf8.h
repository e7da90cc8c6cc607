// Utf8Stream: turns pieces of bytes into pieces of valid UTF-8.
//
// A model's tokens may end in the middle of a character. Bytes are held back until the character is whole; bytes that
// can never become one are replaced by U+FFFD.
#ifndef AFTERIMAGE_CORE_UTF8_H_
#define AFTERIMAGE_CORE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace afterimage {

class Utf8Stream {
 public:
  // The characters completed by these bytes.
  std::string Push(std::string_view bytes);
  // What is left when no more bytes will come.
  std::string Finish();

 private:
  std::string pending_;
};

bool IsValidUtf8(std::string_view bytes);

// The first `n` characters; a character is never cut. Of bytes that are not UTF-8, at most what would be n characters.
std::string_view FirstCharacters(std::string_view text, size_t n);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_UTF8_H_
