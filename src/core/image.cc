#include "afterimage/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spng.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <unistd.h>
#include <webp/decode.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/posix_file.h"
#include "core/sha256.h"

namespace afterimage {
namespace {

using ImageResult = Result<std::shared_ptr<const Image>>;

// Text, colour profile and EXIF, inflated: they are parsed although nobody reads them, so they must not be a bomb.
constexpr size_t kMaxPngMetadataBytes = 16u << 20;
constexpr int kMaxPngMetadataChunks = 1000;  // what libspng comes with; 0.7 refuses any attempt to set it
constexpr uint64_t kMaxPngSide = 0x7fffffff;

Error Invalid(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }
Error TooLarge(std::string message) { return Error{Errc::kTooLarge, std::move(message)}; }

Error TooManyPixels(uint64_t width, uint64_t height, const ImageLimits& limits) {
  return TooLarge(fmt::format("The picture is {}x{}, {} pixels; the limit is {} (max_pixels).", width, height,
                              width * height, limits.max_pixels));
}

Error TooManyBytes(uint64_t bytes, const ImageLimits& limits) {
  return TooLarge(
      fmt::format("The picture file has {} bytes; the limit is {} (max_file_bytes).", bytes, limits.max_file_bytes));
}

// The limits are the caller's and may be above what the machine has; no exception may tell them so.
Result<std::vector<uint8_t>> Allocate(uint64_t bytes) {
  try {
    return std::vector<uint8_t>(bytes);
  } catch (const std::exception&) {
    return TooLarge(fmt::format("The picture needs {} bytes of memory, which this machine does not have.", bytes));
  }
}

// Room for the pixels, or why they may not be decoded.
Result<std::vector<uint8_t>> AllocatePixels(uint64_t width, uint64_t height, const ImageLimits& limits) {
  // Sides have 31 bits at most, so neither product wraps.
  if (width * height > limits.max_pixels) return TooManyPixels(width, height, limits);
  return Allocate(width * height * 3);
}

Error PngError(int error) {
  if (error == SPNG_IO_ERROR) return Invalid("The PNG is cut short.");
  if (error == SPNG_EMEM || error == SPNG_EOVERFLOW) return TooLarge("The PNG is larger than this machine can decode.");
  if (error == SPNG_ECHUNK_LIMITS) {
    return TooLarge(fmt::format("The PNG carries too much metadata; the limit is {} bytes in {} chunks.",
                                kMaxPngMetadataBytes, kMaxPngMetadataChunks));
  }
  return Invalid(fmt::format("The PNG is damaged: {}.", spng_strerror(error)));
}

uint32_t BigEndian32(std::span<const uint8_t> file, size_t offset) {
  return uint32_t{file[offset]} << 24 | uint32_t{file[offset + 1]} << 16 | uint32_t{file[offset + 2]} << 8 |
         uint32_t{file[offset + 3]};
}

// Why not spng_set_png_buffer: libspng 0.7 gives the end of a buffer the number (-1) of a checksum it may skip, and so
// takes a file that ends inside IEND for a whole one. A stream can say SPNG_IO_ERROR instead.
int ReadPngBytes(spng_ctx* /*context*/, void* user, void* out, size_t size) {
  auto& rest = *static_cast<std::span<const uint8_t>*>(user);
  if (size > rest.size()) return SPNG_IO_ERROR;
  std::memcpy(out, rest.data(), size);
  rest = rest.subspan(size);
  return 0;
}

struct PngDeleter {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

ImageResult DecodePng(std::span<const uint8_t> file, const ImageLimits& limits) {
  const std::unique_ptr<spng_ctx, PngDeleter> context(spng_ctx_new(0));
  if (context == nullptr) return PngError(SPNG_EMEM);
  const auto max_side = static_cast<uint32_t>(std::min(limits.max_pixels, kMaxPngSide));
  int error = spng_set_image_limits(context.get(), max_side, max_side);
  if (error == 0) error = spng_set_chunk_limits(context.get(), kMaxPngMetadataBytes, kMaxPngMetadataBytes);
  // By default a bad checksum in metadata is let through; a file damaged there may be damaged elsewhere.
  if (error == 0) error = spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR);
  std::span<const uint8_t> rest = file;
  if (error == 0) error = spng_set_png_stream(context.get(), ReadPngBytes, &rest);
  spng_ihdr header{};
  if (error == 0) error = spng_get_ihdr(context.get(), &header);
  if (error == SPNG_EUSER_WIDTH || error == SPNG_EUSER_HEIGHT) {
    // spng keeps the size it refused to itself; the format puts it right after the signature and the chunk's name.
    return TooManyPixels(BigEndian32(file, 16), BigEndian32(file, 20), limits);
  }
  if (error != 0) return PngError(error);

  Result<std::vector<uint8_t>> rgb = AllocatePixels(header.width, header.height, limits);
  if (!rgb.ok()) return rgb.error();
  error = spng_decode_image(context.get(), rgb->data(), rgb->size(), SPNG_FMT_RGB8, 0);
  // Decoding stops at the last pixel. The chunks after it, up to IEND, tell a whole file from one cut short.
  if (error == 0) error = spng_decode_chunks(context.get());
  if (error != 0) return PngError(error);
  return Image::FromRgb(header.width, header.height, std::move(*rgb));
}

struct JpegDeleter {
  void operator()(void* handle) const { tjDestroy(handle); }
};

ImageResult DecodeJpeg(std::span<const uint8_t> file, const ImageLimits& limits) {
  const std::unique_ptr<void, JpegDeleter> handle(tjInitDecompress());
  if (handle == nullptr) return TooLarge("The JPEG needs more memory than this machine has.");
  const auto damaged = [&] {
    return Invalid(fmt::format("The JPEG is damaged or of an unusual kind: {}.", tjGetErrorStr2(handle.get())));
  };
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colorspace = 0;
  if (tjDecompressHeader3(handle.get(), file.data(), file.size(), &width, &height, &subsampling, &colorspace) != 0) {
    return damaged();
  }
  // A file of tables alone passes as a header, and leaves the size as it was.
  if (width < 1 || height < 1) return Invalid("The JPEG holds no picture.");
  if (colorspace == TJCS_CMYK || colorspace == TJCS_YCCK) {
    return Invalid("The JPEG is in CMYK colours, which have no one RGB value; convert it to RGB first.");
  }
  Result<std::vector<uint8_t>> rgb =
      AllocatePixels(static_cast<uint64_t>(width), static_cast<uint64_t>(height), limits);
  if (!rgb.ok()) return rgb.error();
  // libjpeg only warns of missing or senseless data, and paints it grey: such pixels are not the picture.
  constexpr int kFlags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS | TJFLAG_ACCURATEDCT;
  if (tjDecompress2(handle.get(), file.data(), file.size(), rgb->data(), width, width * 3, height, TJPF_RGB, kFlags) !=
      0) {
    return damaged();
  }
  return Image::FromRgb(static_cast<uint32_t>(width), static_cast<uint32_t>(height), std::move(*rgb));
}

ImageResult DecodeWebp(std::span<const uint8_t> file, const ImageLimits& limits) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) {
    return Invalid("The WebP is damaged or cut short.");
  }
  if (features.has_animation != 0) return Invalid("The WebP is animated; give one picture of it.");
  Result<std::vector<uint8_t>> rgb =
      AllocatePixels(static_cast<uint64_t>(features.width), static_cast<uint64_t>(features.height), limits);
  if (!rgb.ok()) return rgb.error();
  if (WebPDecodeRGBInto(file.data(), file.size(), rgb->data(), rgb->size(), features.width * 3) == nullptr) {
    return Invalid("The WebP is damaged or cut short.");
  }
  return Image::FromRgb(static_cast<uint32_t>(features.width), static_cast<uint32_t>(features.height), std::move(*rgb));
}

Result<std::vector<uint8_t>> ReadFile(const std::string& path, const ImageLimits& limits) {
  // Without O_NONBLOCK, opening a pipe would wait for someone to write to it.
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.number < 0 || fstat(file.number, &info) != 0) return ReadError(path, errno);
  if (!S_ISREG(info.st_mode)) return Invalid("It is a directory or a device, not a picture file.");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > limits.max_file_bytes) return TooManyBytes(size, limits);

  Result<std::vector<uint8_t>> bytes = Allocate(size);
  if (!bytes.ok()) return bytes.error();
  size_t filled = 0;
  while (filled < size) {
    const ssize_t n = read(file.number, bytes->data() + filled, size - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ReadError(path, errno);
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  bytes->resize(filled);
  return bytes;
}

}  // namespace

std::shared_ptr<const Image> Image::WithoutPixels(uint32_t width, uint32_t height, const Digest& digest) {
  std::shared_ptr<Image> image(new Image());
  image->width_ = width;
  image->height_ = height;
  image->digest_ = digest;
  return image;
}

ImageResult Image::FromRgb(uint32_t width, uint32_t height, std::vector<uint8_t> rgb) {
  const uint64_t pixels = uint64_t{width} * height;
  if (pixels == 0) return Invalid(fmt::format("A picture of {}x{} has no pixels.", width, height));
  if (rgb.size() % 3 != 0 || rgb.size() / 3 != pixels) {
    return Invalid(
        fmt::format("A picture of {}x{} needs three bytes for each pixel, not {} in all.", width, height, rgb.size()));
  }
  const std::shared_ptr<Image> image(new Image());
  image->width_ = width;
  image->height_ = height;
  image->rgb_ = std::move(rgb);
  image->digest_ = Sha256().Add(std::string_view("image")).Add(width).Add(height).Add(image->rgb()).Finish();
  return std::shared_ptr<const Image>(image);
}

ImageResult DecodeImage(std::span<const uint8_t> file, const ImageLimits& limits) {
  if (file.size() > limits.max_file_bytes) return TooManyBytes(file.size(), limits);
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return DecodePng(file, limits);
  if (bytes.starts_with("\xff\xd8\xff")) return DecodeJpeg(file, limits);
  if (bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return DecodeWebp(file, limits);
  return Invalid("not a PNG, JPEG or WebP file");
}

ImageResult ReadImage(const std::string& path, const ImageLimits& limits) {
  const Result<std::vector<uint8_t>> bytes = ReadFile(path, limits);
  ImageResult image = bytes.ok() ? DecodeImage(*bytes, limits) : ImageResult(bytes.error());
  if (image.ok() || image.error().code == Errc::kNotFound || image.error().code == Errc::kIo) return image;
  return Error{image.error().code, fmt::format("{}: {}", path, image.error().message)};
}

}  // namespace afterimage
