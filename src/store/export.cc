#include "store/export.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

const char* KindName(ChunkHeader::Kind kind) { return kind == ChunkHeader::Kind::kKv ? "kv" : "fusion"; }

std::string Lines(const auto& rows) {
  std::string text;
  for (const auto& row : rows) text += JsonText(ToJson(row), -1) + "\n";
  return text;
}

}  // namespace

std::string DateText(int64_t time_ns) {
  constexpr int64_t kCentury = 946'684'800;  // 2000-01-01
  const std::time_t seconds = time_ns / 1'000'000'000;
  if (seconds < kCentury) return "-";
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), n};
}

Json ToJson(const ChunkRow& row) {
  const ChunkHeader& h = row.header;
  return {{"id", row.id.Hex()},
          {"kind", KindName(h.kind)},
          {"tenant", h.tenant},
          {"parent", h.parent == Digest() ? Json() : Json(h.parent.Hex())},
          {"content", h.content.Hex()},
          {"compatibility", h.compatibility.Hex()},
          {"numerics", h.numerics.Hex()},
          {"first_position", h.first_position},
          {"positions", h.n_positions},
          {"tokens", h.n_tokens},
          {"token_ids", h.tokens},
          {"bytes", {{"rows", h.rows_bytes}, {"logits", h.logits_bytes}, {"file", row.file_bytes}}},
          {"hits", row.hits},
          {"compute_ms", row.compute_ms},
          {"created", DateText(row.created_ns)},
          {"created_ns", row.created_ns},
          {"used", DateText(row.used_ns)},
          {"used_ns", row.used_ns}};
}

Json ToJson(const RequestRow& row) {
  std::vector<std::string> pictures;
  for (const Digest& picture : row.pictures) pictures.push_back(picture.Hex());
  std::vector<std::string> vectors;
  for (const VectorRef& ref : row.vectors) vectors.push_back(ref.key.Hex());
  Json payload = Json::parse(row.payload, nullptr, false);
  if (payload.is_discarded()) payload = row.payload;
  return {{"id", row.id},
          {"tenant", row.tenant},
          {"text_key", row.text_key},
          {"leaf", row.leaf.Hex()},
          {"pictures", pictures},
          {"vectors", vectors},
          {"compatibility", row.compatibility.Hex()},
          {"created", DateText(row.created_ns)},
          {"created_ns", row.created_ns},
          {"payload", std::move(payload)}};
}

Json ToJson(const VectorRow& row) {
  return {{"layer", row.layer}, {"space", row.ref.space.Hex()}, {"key", row.ref.key.Hex()}, {"vector", row.values}};
}

Json ToJson(const std::vector<Rate>& rates) {
  Json json = {{"rates", Json::object()}};
  for (const Rate& rate : rates) {
    json["rates"][rate.key] = {{"n", rate.n}, {"x", rate.x}, {"y", rate.y}, {"xx", rate.xx}, {"xy", rate.xy}};
  }
  return json;
}

Json TextIndex(const std::vector<RequestRow>& requests) {
  Json index = Json::object();
  for (const RequestRow& row : requests) {
    Json& ids = index[row.text_key];
    const std::string id = row.leaf.Hex();
    if (std::ranges::find(ids, Json(id)) == ids.end()) ids.push_back(id);
  }
  return index;
}

Result<std::vector<std::string>> ExportListing(const StoreListing& listing, FileSystem& files,
                                               const std::string& folder) {
  if (Status status = files.MakeFolders(folder); !status.ok()) return status.error();
  const std::array<std::pair<const char*, std::string>, 5> texts = {{
      {"text_index.json", JsonText(TextIndex(listing.requests), 2) + "\n"},
      {"chunks.jsonl", Lines(listing.chunks)},
      {"requests.jsonl", Lines(listing.requests)},
      {"vectors.jsonl", Lines(listing.vectors)},
      {"rates.json", JsonText(ToJson(listing.rates), 2) + "\n"},
  }};
  std::vector<std::string> paths;
  for (const auto& [name, text] : texts) {
    paths.push_back(folder + "/" + name);
    const std::array parts = {std::as_bytes(std::span(text))};
    if (Status status = files.WriteFile(paths.back(), parts, false); !status.ok()) return status.error();
  }
  return paths;
}

}  // namespace afterimage
