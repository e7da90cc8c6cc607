// Utf8Stream: turns pieces of bytes into pieces of valid UTF-8.
//
// A model's tokens may end in the middle of a character. Bytes are held back until the character is whole; bytes that
// can never become one are replaced by U+FFFD.
#ifndef AFTERIMAGE_CORE_UTF8_H_
#define AFTERIMAGE_CORE_UTF8_H_

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

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_UTF8_H_
