// DonorRecord: what is kept of an answered request so that it can be a donor, as the payload of its catalogue row.
#ifndef AFTERIMAGE_LAYERS_DONOR_RECORD_H_
#define AFTERIMAGE_LAYERS_DONOR_RECORD_H_

#include <optional>
#include <string>
#include <string_view>

#include "afterimage/report.h"

namespace afterimage {

struct DonorRecord {
  Donor donor;
  std::string text;        // its question as the model got it: what a text match puts in
  std::string chunk_text;  // its text key before it was normalised
  bool operator==(const DonorRecord&) const = default;
};

// JSON: {"id", "question", "chunk_text", "text", "image_paths": [...]}.
std::string EncodeDonor(const DonorRecord& record);

// nullopt if it is not such JSON.
std::optional<DonorRecord> DecodeDonor(std::string_view payload);

}  // namespace afterimage

#endif  // AFTERIMAGE_LAYERS_DONOR_RECORD_H_
