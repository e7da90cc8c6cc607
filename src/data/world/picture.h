// Pictures as files.
#ifndef AFTERIMAGE_DATA_WORLD_PICTURE_H_
#define AFTERIMAGE_DATA_WORLD_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "afterimage/result.h"
#include "data/world/split.h"

namespace afterimage::world {

struct EncodedPicture {
  std::string extension;  // "png" or "jpg"
  std::vector<uint8_t> bytes;
};

// Draws, edits and encodes. Errors: kInternal, when an encoder fails.
Result<EncodedPicture> Encode(const Picture& picture, const Vocabulary& words);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_PICTURE_H_
