// Image: decoded pixels, and their digest.
//
// Two pictures are the same to the cache when their pixels and size are the same, however their files differ.
// Immutable once made; share it freely between threads.
#ifndef AFTERIMAGE_IMAGE_H_
#define AFTERIMAGE_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"

namespace afterimage {

class Image {
 public:
  // Takes RGB pixels, row by row, three bytes each. Errors: kInvalidArgument if `rgb` is not width * height * 3
  // bytes or a side is zero.
  static Result<std::shared_ptr<const Image>> FromRgb(uint32_t width, uint32_t height, std::vector<uint8_t> rgb);

  // A picture of which only this is known: it can be part of a request whose state is stored, and cannot be encoded.
  static std::shared_ptr<const Image> WithoutPixels(uint32_t width, uint32_t height, const Digest& digest);

  bool has_pixels() const { return !rgb_.empty(); }
  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  std::span<const uint8_t> rgb() const { return rgb_; }  // [height, width, 3]; or empty
  const Digest& digest() const { return digest_; }       // of width, height and pixels

 private:
  Image() = default;

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  std::vector<uint8_t> rgb_;
  Digest digest_;
};

// What a picture from outside may cost. Checked on the header, before pixels are allocated.
struct ImageLimits {
  uint64_t max_file_bytes = 32u << 20;
  uint64_t max_pixels = 64u << 20;
};

// Decodes PNG, JPEG or WebP, told apart by their first bytes. An alpha channel is dropped, EXIF orientation is not
// applied (as in the reference preprocessing of the models we run).
// Errors: kInvalidArgument (not such a file, or a damaged one), kTooLarge.
Result<std::shared_ptr<const Image>> DecodeImage(std::span<const uint8_t> file, const ImageLimits& limits = {});

// Reads and decodes a file. Errors: as above, kNotFound, kIo.
Result<std::shared_ptr<const Image>> ReadImage(const std::string& path, const ImageLimits& limits = {});

}  // namespace afterimage

#endif  // AFTERIMAGE_IMAGE_H_
