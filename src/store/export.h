// What a cache folder holds, as JSON: for other programs, and for people who like to read it.
#ifndef AFTERIMAGE_STORE_EXPORT_H_
#define AFTERIMAGE_STORE_EXPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterimage/result.h"
#include "core/json_text.h"
#include "store/file_system.h"
#include "store/listing.h"

namespace afterimage {

// Digests in hex; times in nanoseconds since the Unix epoch, and as text.
nlohmann::ordered_json ToJson(const ChunkRow& row);
// With the payload as an object, or as a string where it is no JSON.
nlohmann::ordered_json ToJson(const RequestRow& row);

nlohmann::ordered_json ToJson(const VectorRow& row);

// The form that is read back as frozen rates: {"rates": {"<key>": {"n", "x", "y", "xx", "xy"}, ...}}.
nlohmann::ordered_json ToJson(const std::vector<Rate>& rates);

// {"<text key>": ["<id of a prompt's last chunk>", ...], ...}, the oldest first: one key leads to all its donors.
nlohmann::ordered_json TextIndex(const std::vector<RequestRow>& requests);

// "2026-11-15 09:30:12", in UTC; "-" for what is no time of this century, as of a clock that counts from the boot.
std::string DateText(int64_t time_ns);

// Writes text_index.json, chunks.jsonl, requests.jsonl, vectors.jsonl and rates.json into a folder, made if need be;
// their paths.
// Errors: kIo.
Result<std::vector<std::string>> ExportListing(const StoreListing& listing, FileSystem& files,
                                               const std::string& folder);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_EXPORT_H_
