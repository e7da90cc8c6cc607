#include "afterimage/image.h"

#include <gtest/gtest.h>
#include <spng.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <turbojpeg.h>
#include <webp/encode.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "core/sha256.h"

namespace afterimage {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kWidth = 13;  // not a multiple of anything, so that padding shows
constexpr uint32_t kHeight = 9;

Bytes Noise(size_t n) {
  Bytes bytes(n);
  uint32_t state = 2463534242u;
  for (uint8_t& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    byte = static_cast<uint8_t>(state);
  }
  return bytes;
}

Bytes NoiseRgb() { return Noise(kWidth * kHeight * 3); }

Bytes Gradient(uint32_t width, uint32_t height) {
  Bytes rgb;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      rgb.push_back(static_cast<uint8_t>(x * 255 / width));
      rgb.push_back(static_cast<uint8_t>(y * 255 / height));
      rgb.push_back(128);
    }
  }
  return rgb;
}

struct PngKind {
  uint8_t color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  uint8_t bit_depth = 8;
  uint8_t interlace = SPNG_INTERLACE_NONE;
  size_t comment_bytes = 0;  // of compressed text
};

Bytes EncodePng(const Bytes& samples, PngKind kind = {}, spng_plte* palette = nullptr) {
  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_ihdr header{kWidth, kHeight, kind.bit_depth, kind.color_type, 0, 0, kind.interlace};
  EXPECT_EQ(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1), 0);
  EXPECT_EQ(spng_set_ihdr(context, &header), 0);
  if (palette != nullptr) {
    EXPECT_EQ(spng_set_plte(context, palette), 0);
  }
  std::string comment(kind.comment_bytes, 'x');
  spng_text text{};
  std::strcpy(text.keyword, "Comment");
  text.type = SPNG_ZTXT;
  text.text = comment.data();
  text.length = comment.size();
  if (kind.comment_bytes != 0) {
    EXPECT_EQ(spng_set_text(context, &text, 1), 0);
  }
  EXPECT_EQ(spng_encode_image(context, samples.data(), samples.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE), 0);
  size_t size = 0;
  int error = 0;
  void* buffer = spng_get_png_buffer(context, &size, &error);
  EXPECT_EQ(error, 0);
  Bytes file(size);
  std::memcpy(file.data(), buffer, size);
  free(buffer);
  spng_ctx_free(context);
  return file;
}

Bytes EncodeJpeg(const Bytes& pixels, uint32_t width, uint32_t height, int format = TJPF_RGB, int sampling = TJSAMP_444,
                 int flags = 0) {
  tjhandle handle = tjInitCompress();
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(tjCompress2(handle, pixels.data(), static_cast<int>(width), 0, static_cast<int>(height), format, &buffer,
                        &size, sampling, 95, flags),
            0);
  Bytes file(buffer, buffer + size);
  tjFree(buffer);
  tjDestroy(handle);
  return file;
}

Bytes TakeWebp(uint8_t* buffer, size_t size) {
  EXPECT_GT(size, 0u);
  Bytes file(buffer, buffer + size);
  WebPFree(buffer);
  return file;
}

Bytes EncodeLosslessWebp(const Bytes& rgb) {
  uint8_t* buffer = nullptr;
  const size_t size = WebPEncodeLosslessRGB(rgb.data(), kWidth, kHeight, kWidth * 3, &buffer);
  return TakeWebp(buffer, size);
}

Bytes EncodeLossyWebp(const Bytes& rgb) {
  uint8_t* buffer = nullptr;
  const size_t size = WebPEncodeRGB(rgb.data(), kWidth, kHeight, kWidth * 3, 90, &buffer);
  return TakeWebp(buffer, size);
}

// The same picture in the extended format, with metadata after the pixels.
Bytes WithExif(const Bytes& webp) {
  Bytes file = {'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'X', 10, 0, 0, 0};
  file.insert(file.end(), {8, 0, 0, 0, kWidth - 1, 0, 0, kHeight - 1, 0, 0});
  file.insert(file.end(), webp.begin() + 12, webp.end());
  file.insert(file.end(), {'E', 'X', 'I', 'F', 4, 0, 0, 0, 'M', 'M', 0, 42});
  const size_t riff_bytes = file.size() - 8;
  file[4] = static_cast<uint8_t>(riff_bytes);
  file[5] = static_cast<uint8_t>(riff_bytes >> 8);
  return file;
}

struct Sample {
  std::string name;
  Bytes file;
};

std::vector<Sample> SmallFiles() {
  const Bytes gradient = Gradient(kWidth, kHeight);
  return {{"png", EncodePng(gradient)},
          {"interlaced png", EncodePng(gradient, {.interlace = SPNG_INTERLACE_ADAM7})},
          {"commented png", EncodePng(gradient, {.comment_bytes = 20})},
          {"jpeg", EncodeJpeg(gradient, kWidth, kHeight)},
          {"jpeg 4:2:0", EncodeJpeg(gradient, kWidth, kHeight, TJPF_RGB, TJSAMP_420)},
          {"progressive jpeg", EncodeJpeg(gradient, kWidth, kHeight, TJPF_RGB, TJSAMP_420, TJFLAG_PROGRESSIVE)},
          {"lossless webp", EncodeLosslessWebp(gradient)},
          {"webp with exif", WithExif(EncodeLosslessWebp(gradient))},
          {"lossy webp", EncodeLossyWebp(gradient)}};
}

void ExpectPixels(const Bytes& file, const Bytes& rgb) {
  const auto image = DecodeImage(file);
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ((*image)->width(), kWidth);
  EXPECT_EQ((*image)->height(), kHeight);
  EXPECT_TRUE(std::ranges::equal((*image)->rgb(), rgb));
}

void ExpectNear(const Bytes& file, const Bytes& rgb, uint32_t width, uint32_t height, int tolerance) {
  const auto image = DecodeImage(file);
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ((*image)->width(), width);
  EXPECT_EQ((*image)->height(), height);
  ASSERT_EQ((*image)->rgb().size(), rgb.size());
  for (size_t i = 0; i < rgb.size(); ++i) ASSERT_NEAR((*image)->rgb()[i], rgb[i], tolerance) << "at byte " << i;
}

void ExpectError(const Result<std::shared_ptr<const Image>>& image, Errc code, std::string_view part = "") {
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code, code) << image.error().message;
  EXPECT_NE(image.error().message.find(part), std::string::npos) << image.error().message;
}

void PutBigEndian(Bytes& file, size_t offset, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) file[offset + i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

long PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class ImageFileTest : public testing::Test {
 protected:
  ImageFileTest() {
    std::string folder = testing::TempDir() + "image_test.XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~ImageFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const Bytes& bytes) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  std::filesystem::path folder_;
};

TEST(ImageTest, FromRgbRefusesPixelsThatDoNotFillTheSize) {
  EXPECT_TRUE(Image::FromRgb(2, 3, Bytes(18)).ok());
  ExpectError(Image::FromRgb(2, 3, Bytes(17)), Errc::kInvalidArgument, "2x3");
  ExpectError(Image::FromRgb(2, 3, Bytes(21)), Errc::kInvalidArgument, "21");
  ExpectError(Image::FromRgb(0, 3, {}), Errc::kInvalidArgument);
  ExpectError(Image::FromRgb(3, 0, {}), Errc::kInvalidArgument);
  // Three times this many pixels is 2 modulo 2^64.
  ExpectError(Image::FromRgb(0xffffffff, 0xffffffff, Bytes(3)), Errc::kInvalidArgument);
}

TEST(ImageTest, TheDigestIsOfSizeAndPixels) {
  const Bytes rgb = Noise(18);
  const auto wide = Image::FromRgb(3, 2, rgb);
  const auto tall = Image::FromRgb(2, 3, rgb);
  EXPECT_NE((*wide)->digest(), (*tall)->digest());
  EXPECT_EQ((*wide)->digest(), (*Image::FromRgb(3, 2, rgb))->digest());
  EXPECT_NE((*wide)->digest(), (*Image::FromRgb(3, 2, Bytes(18)))->digest());
  // Stored caches depend on this value: what goes into it, and in which order, is a format.
  const Digest expected =
      Sha256().Add("image").Add(uint32_t{3}).Add(uint32_t{2}).Add(std::span<const uint8_t>(rgb)).Finish();
  EXPECT_EQ((*wide)->digest(), expected);
}

TEST(ImageTest, TheSamePixelsInPngAndWebpHaveEqualDigests) {
  const Bytes rgb = NoiseRgb();
  const auto png = DecodeImage(EncodePng(rgb));
  const auto webp = DecodeImage(EncodeLosslessWebp(rgb));
  ASSERT_TRUE(png.ok() && webp.ok());
  EXPECT_EQ((*png)->digest(), (*webp)->digest());
}

TEST(ImageTest, PngOfRgbKeepsItsPixels) {
  const Bytes rgb = NoiseRgb();
  ExpectPixels(EncodePng(rgb), rgb);
  ExpectPixels(EncodePng(rgb, {.interlace = SPNG_INTERLACE_ADAM7}), rgb);
}

TEST(ImageTest, PngOfRgbaKeepsItsColoursUnderTheDroppedAlpha) {
  const Bytes rgb = NoiseRgb();
  Bytes rgba;
  for (size_t i = 0; i < rgb.size(); i += 3) {
    rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], static_cast<uint8_t>(i % 2 == 0 ? 0 : i)});
  }
  ExpectPixels(EncodePng(rgba, {.color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA}), rgb);
}

TEST(ImageTest, PngOfGrayscaleHasThreeEqualChannels) {
  const Bytes gray = Noise(kWidth * kHeight);
  Bytes gray_alpha;
  Bytes rgb;
  for (const uint8_t value : gray) {
    gray_alpha.insert(gray_alpha.end(), {value, 7});
    rgb.insert(rgb.end(), 3, value);
  }
  ExpectPixels(EncodePng(gray, {.color_type = SPNG_COLOR_TYPE_GRAYSCALE}), rgb);
  ExpectPixels(EncodePng(gray_alpha, {.color_type = SPNG_COLOR_TYPE_GRAYSCALE_ALPHA}), rgb);
}

TEST(ImageTest, PngOfOneBitGrayscaleIsBlackAndWhite) {
  constexpr size_t kRowBytes = (kWidth + 7) / 8;
  const Bytes bits = Noise(kRowBytes * kHeight);
  Bytes rgb;
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const bool white = (bits[y * kRowBytes + x / 8] >> (7 - x % 8) & 1) != 0;
      rgb.insert(rgb.end(), 3, static_cast<uint8_t>(white ? 255 : 0));
    }
  }
  ExpectPixels(EncodePng(bits, {.color_type = SPNG_COLOR_TYPE_GRAYSCALE, .bit_depth = 1}), rgb);
}

TEST(ImageTest, PngOfAPaletteHasThePalettesColours) {
  const Bytes colours = Noise(3 * 256);
  spng_plte palette{};
  palette.n_entries = 256;
  for (size_t i = 0; i < 256; ++i) {
    palette.entries[i] = {colours[3 * i], colours[3 * i + 1], colours[3 * i + 2], 255};
  }
  Bytes indices(kWidth * kHeight);
  Bytes rgb;
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<uint8_t>(i * 7);
    rgb.insert(rgb.end(), &colours[3 * indices[i]], &colours[3 * indices[i]] + 3);
  }
  ExpectPixels(EncodePng(indices, {.color_type = SPNG_COLOR_TYPE_INDEXED}, &palette), rgb);
}

TEST(ImageTest, PngOfSixteenBitsKeepsTheHighByte) {
  const Bytes rgb = NoiseRgb();
  Bytes samples;  // little-endian, as spng takes them on this machine
  for (const uint8_t value : rgb) samples.insert(samples.end(), {0xff, value});
  ExpectPixels(EncodePng(samples, {.bit_depth = 16}), rgb);
}

TEST(ImageTest, LosslessWebpKeepsItsPixelsAndDropsItsAlpha) {
  const Bytes rgb = NoiseRgb();
  ExpectPixels(EncodeLosslessWebp(rgb), rgb);
  Bytes rgba;
  for (size_t i = 0; i < rgb.size(); i += 3) rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 9});
  uint8_t* buffer = nullptr;
  const size_t size = WebPEncodeLosslessRGBA(rgba.data(), kWidth, kHeight, kWidth * 4, &buffer);
  ExpectPixels(TakeWebp(buffer, size), rgb);
}

TEST(ImageTest, JpegAndLossyWebpComeClose) {
  const Bytes rgb = Gradient(61, 47);
  ExpectNear(EncodeJpeg(rgb, 61, 47), rgb, 61, 47, 8);
  ExpectNear(EncodeJpeg(rgb, 61, 47, TJPF_RGB, TJSAMP_420, TJFLAG_PROGRESSIVE), rgb, 61, 47, 16);
  ExpectNear(EncodeLossyWebp(Gradient(kWidth, kHeight)), Gradient(kWidth, kHeight), kWidth, kHeight, 48);
}

TEST(ImageTest, JpegOfGrayscaleHasThreeEqualChannels) {
  const auto image = DecodeImage(EncodeJpeg(Gradient(kWidth, kHeight), kWidth, kHeight, TJPF_RGB, TJSAMP_GRAY));
  ASSERT_TRUE(image.ok()) << image.error().message;
  const std::span<const uint8_t> rgb = (*image)->rgb();
  for (size_t i = 0; i < rgb.size(); i += 3) ASSERT_TRUE(rgb[i] == rgb[i + 1] && rgb[i] == rgb[i + 2]);
}

TEST(ImageTest, CmykJpegIsRefusedByName) {
  const Bytes cmyk = Noise(kWidth * kHeight * 4);
  ExpectError(DecodeImage(EncodeJpeg(cmyk, kWidth, kHeight, TJPF_CMYK)), Errc::kInvalidArgument, "CMYK");
}

TEST(ImageTest, AnimatedWebpIsRefusedByName) {
  Bytes file = {'R', 'I', 'F', 'F', 22, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'X', 10, 0, 0, 0};
  file.insert(file.end(), {2, 0, 0, 0, kWidth - 1, 0, 0, kHeight - 1, 0, 0});
  ExpectError(DecodeImage(file), Errc::kInvalidArgument, "animated");
}

TEST(ImageTest, OtherFilesAreRefused) {
  const Bytes gif = {'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0};
  ExpectError(DecodeImage(gif), Errc::kInvalidArgument, "not a PNG, JPEG or WebP file");
  ExpectError(DecodeImage({}), Errc::kInvalidArgument, "not a PNG, JPEG or WebP file");
}

TEST(ImageTest, EveryTruncationIsAnError) {
  for (const auto& [name, file] : SmallFiles()) {
    ASSERT_TRUE(DecodeImage(file).ok()) << name;
    for (size_t size = 0; size < file.size(); ++size) {
      const Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));  // a copy, for the sanitizer to guard
      const auto image = DecodeImage(cut);
      ASSERT_FALSE(image.ok()) << name << " cut to " << size << " of " << file.size() << " bytes";
      ASSERT_EQ(image.error().code, Errc::kInvalidArgument) << name << " cut to " << size << " bytes";
    }
  }
}

TEST(ImageTest, EveryBitFlipIsAnErrorOrAnImageWithinTheLimits) {
  const ImageLimits limits{.max_file_bytes = 1u << 20, .max_pixels = 1u << 14};
  for (auto& [name, file] : SmallFiles()) {
    for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
      file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      const auto image = DecodeImage(file, limits);
      file[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      if (!image.ok()) {
        const Errc code = image.error().code;
        ASSERT_TRUE(code == Errc::kInvalidArgument || code == Errc::kTooLarge) << name << " bit " << bit;
        continue;
      }
      // Every byte of a PNG is under a checksum or has one right value; the others have no such thing.
      ASSERT_FALSE(name.ends_with("png")) << name << " bit " << bit;
      const uint64_t pixels = uint64_t{(*image)->width()} * (*image)->height();
      ASSERT_LE(pixels, limits.max_pixels) << name << " bit " << bit;
      ASSERT_EQ((*image)->rgb().size(), 3 * pixels) << name << " bit " << bit;
    }
  }
}

TEST(ImageTest, AHeaderOverThePixelLimitIsRefusedBeforeAllocation) {
  Bytes png = EncodePng(NoiseRgb());
  PutBigEndian(png, 16, 60000, 4);
  PutBigEndian(png, 20, 60000, 4);
  Bytes one_huge_side = png;
  PutBigEndian(one_huge_side, 16, 2'000'000'000, 4);
  Bytes jpeg = EncodeJpeg(NoiseRgb(), kWidth, kHeight);
  const Bytes start_of_frame = {0xff, 0xc0};
  const auto frame = std::search(jpeg.begin(), jpeg.end(), start_of_frame.begin(), start_of_frame.end());
  ASSERT_NE(frame, jpeg.end());
  PutBigEndian(jpeg, static_cast<size_t>(frame - jpeg.begin()) + 5, 60000, 2);
  PutBigEndian(jpeg, static_cast<size_t>(frame - jpeg.begin()) + 7, 60000, 2);
  Bytes webp = EncodeLosslessWebp(NoiseRgb());  // can claim 16384 a side: two times 14 bits after the signature
  PutBigEndian(webp, 21, 0xffffff, 3);
  webp[24] |= 0x0f;

  const long before = PeakKilobytes();
  ExpectError(DecodeImage(png), Errc::kTooLarge, "60000x60000, 3600000000 pixels; the limit is 67108864");
  ExpectError(DecodeImage(one_huge_side), Errc::kTooLarge, "2000000000x60000");
  ExpectError(DecodeImage(jpeg), Errc::kTooLarge, "60000x60000");
  ExpectError(DecodeImage(webp), Errc::kTooLarge, "16384x16384");
  EXPECT_LT(PeakKilobytes() - before, 100 << 10);
}

TEST(ImageTest, APngThatUnpacksToTooMuchTextIsTooLarge) {
  const Bytes png = EncodePng(NoiseRgb(), {.comment_bytes = 17u << 20});
  ASSERT_LT(png.size(), 1u << 20);
  ExpectError(DecodeImage(png), Errc::kTooLarge, "metadata; the limit is 16777216 bytes");
}

TEST(ImageTest, ThePixelLimitIsInclusive) {
  const Bytes png = EncodePng(NoiseRgb());
  EXPECT_TRUE(DecodeImage(png, {.max_pixels = kWidth * kHeight}).ok());
  ExpectError(DecodeImage(png, {.max_pixels = kWidth * kHeight - 1}), Errc::kTooLarge, "the limit is 116");
}

TEST(ImageTest, ALimitAboveTheMachinesMemoryIsAnErrorNotAnException) {
  Bytes png = EncodePng(Noise(kWidth * kHeight), {.color_type = SPNG_COLOR_TYPE_GRAYSCALE});
  PutBigEndian(png, 16, 0x7fffffff, 4);
  PutBigEndian(png, 20, 0x7fffffff, 4);
  ExpectError(DecodeImage(png, {.max_pixels = std::numeric_limits<uint64_t>::max()}), Errc::kTooLarge, "memory");
}

TEST_F(ImageFileTest, ReadImageDecodesAFile) {
  const auto image = ReadImage(Write("a.png", EncodePng(NoiseRgb())));
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ((*image)->width(), kWidth);
}

TEST_F(ImageFileTest, AFileOverTheByteLimitIsTooLarge) {
  const Bytes png = EncodePng(NoiseRgb());
  const std::string path = Write("a.png", png);
  EXPECT_TRUE(ReadImage(path, {.max_file_bytes = png.size()}).ok());
  const ImageLimits limits{.max_file_bytes = png.size() - 1};
  ExpectError(ReadImage(path, limits), Errc::kTooLarge, std::to_string(png.size()));
  ExpectError(DecodeImage(png, limits), Errc::kTooLarge, std::to_string(png.size() - 1));
}

TEST_F(ImageFileTest, WhatCannotBeReadIsNamed) {
  const std::string absent = folder_ / "absent.png";
  ExpectError(ReadImage(absent), Errc::kNotFound, absent);
  const std::string below_a_file = Write("file", {}) + "/a.png";
  ExpectError(ReadImage(below_a_file), Errc::kNotFound, below_a_file);
  ExpectError(ReadImage(folder_), Errc::kInvalidArgument, folder_.string());
  ExpectError(ReadImage(folder_ / std::string(300, 'x')), Errc::kIo, "xxx");
  ExpectError(ReadImage(folder_ / "file"), Errc::kInvalidArgument, (folder_ / "file").string());
}

}  // namespace
}  // namespace afterimage
