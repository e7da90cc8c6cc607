#include "data/world/picture.h"

#include <spng.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "data/world/render.h"

namespace afterimage::world {
namespace {

struct Square {
  int side = 0;
  std::vector<uint8_t> rgb;  // [side, side, 3]

  const uint8_t* at(int x, int y) const {
    return &rgb[(static_cast<size_t>(y) * static_cast<size_t>(side) + static_cast<size_t>(x)) * 3];
  }
};

// Bilinear between pixel centres, in integers, so that every machine writes the same file.
Square Resize(const Square& from, int side) {
  Square to{side, {}};
  to.rgb.reserve(static_cast<size_t>(side) * static_cast<size_t>(side) * 3);
  constexpr int kOne = 256;
  const auto source = [&](int at) {
    return std::clamp(((2 * at + 1) * from.side * kOne / side - kOne) / 2, 0, (from.side - 1) * kOne);
  };
  for (int y = 0; y < side; ++y) {
    const int sy = source(y);
    const int y0 = sy / kOne;
    const int y1 = std::min(y0 + 1, from.side - 1);
    for (int x = 0; x < side; ++x) {
      const int sx = source(x);
      const int x0 = sx / kOne;
      const int x1 = std::min(x0 + 1, from.side - 1);
      for (int c = 0; c < 3; ++c) {
        const int upper = from.at(x0, y0)[c] * (kOne - sx % kOne) + from.at(x1, y0)[c] * (sx % kOne);
        const int lower = from.at(x0, y1)[c] * (kOne - sx % kOne) + from.at(x1, y1)[c] * (sx % kOne);
        const int level = upper * (kOne - sy % kOne) + lower * (sy % kOne);
        to.rgb.push_back(static_cast<uint8_t>((level + kOne * kOne / 2) / (kOne * kOne)));
      }
    }
  }
  return to;
}

Square Crop(const Square& from, int margin) {
  Square to{from.side - 2 * margin, {}};
  for (int y = 0; y < to.side; ++y) {
    const uint8_t* row = from.at(margin, y + margin);
    to.rgb.insert(to.rgb.end(), row, row + static_cast<size_t>(to.side) * 3);
  }
  return to;
}

Result<std::vector<uint8_t>> Png(const Square& square) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> encoder(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  spng_ihdr header = {};
  header.width = static_cast<uint32_t>(square.side);
  header.height = static_cast<uint32_t>(square.side);
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  if (encoder == nullptr || spng_set_option(encoder.get(), SPNG_ENCODE_TO_BUFFER, 1) != 0 ||
      spng_set_ihdr(encoder.get(), &header) != 0 ||
      spng_encode_image(encoder.get(), square.rgb.data(), square.rgb.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE) != 0) {
    return Error{Errc::kInternal, "A picture could not be encoded as PNG."};
  }
  size_t size = 0;
  int error = 0;
  const std::unique_ptr<void, void (*)(void*)> bytes(spng_get_png_buffer(encoder.get(), &size, &error), std::free);
  if (bytes == nullptr) return Error{Errc::kInternal, "A picture could not be encoded as PNG."};
  const auto* begin = static_cast<const uint8_t*>(bytes.get());
  return std::vector<uint8_t>(begin, begin + size);
}

Result<std::vector<uint8_t>> Jpeg(const Square& square, int quality) {
  const std::unique_ptr<void, int (*)(void*)> encoder(tjInitCompress(), tjDestroy);
  unsigned char* raw = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): turbojpeg's type
  const int failed = encoder == nullptr ? -1
                                        : tjCompress2(encoder.get(), square.rgb.data(), square.side, 0, square.side,
                                                      TJPF_RGB, &raw, &size, TJSAMP_420, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> bytes(raw, tjFree);
  if (failed != 0) return Error{Errc::kInternal, "A picture could not be encoded as JPEG."};
  return std::vector<uint8_t>(bytes.get(), bytes.get() + size);
}

}  // namespace

Result<EncodedPicture> Encode(const Picture& picture, const Vocabulary& words) {
  Square square{kPictureSide, Render(picture.scene, words)};
  if (picture.edit.kind == Edit::Kind::kResized) square = Resize(square, picture.edit.amount);
  if (picture.edit.kind == Edit::Kind::kCropped) square = Crop(square, picture.edit.amount);
  const bool jpeg = picture.edit.kind == Edit::Kind::kJpeg;
  Result<std::vector<uint8_t>> bytes = jpeg ? Jpeg(square, picture.edit.amount) : Png(square);
  if (!bytes.ok()) return bytes.error();
  return EncodedPicture{jpeg ? "jpg" : "png", std::move(*bytes)};
}

}  // namespace afterimage::world
