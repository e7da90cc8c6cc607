#include "layers/donor_record.h"

#include "core/json_text.h"

namespace afterimage {

std::string EncodeDonor(const DonorRecord& record) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const PictureSize& size : record.sizes) sizes.push_back({size.width, size.height});
  const nlohmann::ordered_json json = {
      {"id", record.donor.id}, {"question", record.donor.question},       {"chunk_text", record.chunk_text},
      {"text", record.text},   {"image_paths", record.donor.image_paths}, {"image_sizes", std::move(sizes)}};
  return JsonText(json);
}

std::optional<DonorRecord> DecodeDonor(std::string_view payload) {
  try {
    const nlohmann::json json = nlohmann::json::parse(payload);
    DonorRecord record;
    json.at("id").get_to(record.donor.id);
    json.at("question").get_to(record.donor.question);
    json.at("chunk_text").get_to(record.chunk_text);
    json.at("text").get_to(record.text);
    json.at("image_paths").get_to(record.donor.image_paths);
    for (const nlohmann::json& size : json.at("image_sizes")) {
      record.sizes.push_back({size.at(0).get<uint32_t>(), size.at(1).get<uint32_t>()});
    }
    return record;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace afterimage
