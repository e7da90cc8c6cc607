// DonorRecord: what is kept of an answered request so that it can be a donor, as the payload of its catalogue row.
#ifndef AFTERIMAGE_LAYERS_DONOR_RECORD_H_
#define AFTERIMAGE_LAYERS_DONOR_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterimage/report.h"

namespace afterimage {

struct PictureSize {
  uint32_t width = 0;
  uint32_t height = 0;
  bool operator==(const PictureSize&) const = default;
};

struct DonorRecord {
  Donor donor;
  std::string text;                // its question as the model got it: what a text match puts in
  std::string chunk_text;          // its text key before it was normalised
  std::vector<PictureSize> sizes;  // of its pictures: with their digests all that a prompt with them needs
  bool operator==(const DonorRecord&) const = default;
};

// JSON: {"id", "question", "chunk_text", "text", "image_paths": [...], "image_sizes": [[width, height]...]}.
std::string EncodeDonor(const DonorRecord& record);

// nullopt if it is not such JSON.
std::optional<DonorRecord> DecodeDonor(std::string_view payload);

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_DONOR_RECORD_H_
