// `afterimage store ls` and `store show`.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/store_commands.h"
#include "store/chunk_file.h"
#include "store/export.h"
#include "store/listing.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShortId = 12;

std::string Short(const Digest& id) { return id.Hex().substr(0, kShortId); }

const char* KindName(ChunkHeader::Kind kind) { return kind == ChunkHeader::Kind::kKv ? "kv" : "fusion"; }

// One line of at most `width` characters, without what a terminal would take for orders.
std::string OneLine(const std::string& text, size_t width) {
  std::string line;
  size_t n = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins = (byte & 0xc0) != 0x80;
    if (begins && n++ == width) return line + "...";
    line += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return line;
}

// A string of the payload, which the cache writes, and which may be anything.
std::string PayloadText(const RequestRow& row, const char* key) {
  const Json payload = Json::parse(row.payload, nullptr, false);
  if (!payload.is_object() || !payload.contains(key) || !payload[key].is_string()) return "";
  return payload[key].get<std::string>();
}

std::string QuestionOf(const RequestRow& row) {
  std::string question = PayloadText(row, "question");
  return question.empty() ? row.text_key : question;
}

Json TotalsJson(const StoreListing& listing) {
  const StoreStats& totals = listing.totals;
  return {{"chunks", totals.chunks},
          {"requests", listing.requests.size()},
          {"blocks", totals.blocks},
          {"bytes",
           {{"kv", totals.kv_bytes},
            {"fusion", totals.fusion_bytes},
            {"logits", totals.logits_bytes},
            {"overhead", totals.overhead_bytes},
            {"catalogue", listing.catalogue_bytes}}},
          {"quarantined_files", listing.quarantined_files},
          {"damaged_rows", listing.damaged_rows}};
}

void PrintTotals(const StoreListing& listing) {
  const StoreStats& totals = listing.totals;
  fmt::print("{} chunks, {} requests, {} blocks of 16 tokens\n", totals.chunks, listing.requests.size(), totals.blocks);
  fmt::print("kv {}, fusion {}, logits {}, overhead {}, catalogue {}\n", HumanBytes(totals.kv_bytes),
             HumanBytes(totals.fusion_bytes), HumanBytes(totals.logits_bytes), HumanBytes(totals.overhead_bytes),
             HumanBytes(listing.catalogue_bytes));
  if (listing.quarantined_files > 0) fmt::print("{} files in quarantine\n", listing.quarantined_files);
  if (listing.damaged_rows > 0) fmt::print("{} damaged rows left out; see store verify\n", listing.damaged_rows);
}

void PrintChunks(const StoreListing& listing) {
  const std::vector<TreeEntry> order = TreeOrder(listing.chunks);
  size_t depth = 0;
  for (const TreeEntry& entry : order) depth = std::max(depth, std::min<size_t>(entry.depth, 20));
  const size_t width = kShortId + 2 * depth;
  fmt::print("{:<{}}  {:<6} {:>7} {:>9} {:>6}  {:<19}  {:<19}  {}\n", "id", width, "kind", "tokens", "bytes", "hits",
             "created (UTC)", "last used", "parent");
  for (const TreeEntry& entry : order) {
    const ChunkRow& row = listing.chunks[entry.index];
    const std::string id = std::string(2 * std::min<size_t>(entry.depth, 20), ' ') + Short(row.id);
    fmt::print("{:<{}}  {:<6} {:>7} {:>9} {:>6}  {:<19}  {:<19}  {}\n", id, width, KindName(row.header.kind),
               row.header.n_tokens, HumanBytes(row.file_bytes), row.hits, DateText(row.created_ns),
               DateText(row.used_ns), row.header.parent == Digest() ? "" : Short(row.header.parent));
  }
}

void PrintRequests(const StoreListing& listing) {
  fmt::print("{:<14} {:<19}  {:>8}  {:<12}  {}\n", "id", "created (UTC)", "pictures", "last chunk", "question");
  for (const RequestRow& row : listing.requests) {
    fmt::print("{:<14} {:<19}  {:>8}  {:<12}  {}\n", fmt::format("request:{}", row.id), DateText(row.created_ns),
               row.pictures.size(), Short(row.leaf), OneLine(QuestionOf(row), 80));
  }
}

// The chunks from the root to this one.
std::vector<const ChunkRow*> ChainTo(const StoreListing& listing, const Digest& leaf) {
  std::vector<const ChunkRow*> chain;
  Digest id = leaf;
  while (id != Digest() && chain.size() <= listing.chunks.size()) {
    const auto row = std::ranges::find(listing.chunks, id, &ChunkRow::id);
    if (row == listing.chunks.end()) break;
    chain.insert(chain.begin(), &*row);
    id = row->header.parent;
  }
  return chain;
}

void Line(const char* name, const std::string& value) { fmt::print("{:<14} {}\n", name, value); }

std::string ChainText(const StoreListing& listing, const Digest& leaf) {
  std::string text;
  const std::vector<const ChunkRow*> chain = ChainTo(listing, leaf);
  if (chain.empty()) return "(gone)";
  if (chain.front()->header.parent != Digest()) text = Short(chain.front()->header.parent) + " (gone) > ";
  for (const ChunkRow* row : chain) {
    text += fmt::format("{}{} ({} tokens)", row == chain.front() ? "" : " > ", Short(row->id), row->header.n_tokens);
  }
  return text;
}

Json ChunkReport(const StoreListing& listing, const DiskLayout& layout, const ChunkRow& row) {
  Json json = ToJson(row);
  const std::string path = layout.PathOf(row.header.kind, row.id);
  json["file"] = std::filesystem::absolute(path).string();
  const auto file = ChunkFile::Open(PosixFileSystem(), path);
  json["file_state"] = file.ok() ? "there, its header is sound" : file.error().message;
  if (file.ok() && !(*file)->header().tensors.empty()) {
    json["provider"] = (*file)->header().provider;
    for (const ChunkHeader::Tensor& tensor : (*file)->header().tensors) {
      json["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape}});
    }
  }
  json["chain"] = Json::array();
  for (const ChunkRow* link : ChainTo(listing, row.id)) json["chain"].push_back(link->id.Hex());
  json["children"] =
      std::ranges::count_if(listing.chunks, [&](const ChunkRow& other) { return other.header.parent == row.id; });
  json["requests"] = Json::array();
  for (const RequestRow& request : listing.requests) {
    if (request.leaf == row.id) json["requests"].push_back({{"id", request.id}, {"question", QuestionOf(request)}});
  }
  json["metadata"] = row.metadata;
  return json;
}

void PrintChunk(const StoreListing& listing, const ChunkRow& row, const Json& report) {
  const ChunkHeader& h = row.header;
  Line("chunk", row.id.Hex());
  Line("kind", KindName(h.kind));
  Line("tenant", h.tenant.empty() ? "(none)" : OneLine(h.tenant, 80));
  Line("tokens", fmt::format("{}, positions {} to {}", h.n_tokens, h.first_position,
                             h.first_position + std::max(h.n_positions, 1) - 1));
  Line("bytes", fmt::format("{} in all: rows {}, logits {}, the rest {}", row.file_bytes, h.rows_bytes, h.logits_bytes,
                            row.file_bytes - h.rows_bytes - h.logits_bytes));
  Line("created", DateText(row.created_ns));
  Line("last used", fmt::format("{}, {} hits", DateText(row.used_ns), row.hits));
  Line("took", fmt::format("{:.1f} ms to compute", row.compute_ms));
  Line("compatibility", h.compatibility.Hex());
  Line("numerics", h.numerics.Hex());
  Line("content", h.content.Hex());
  Line("parent", h.parent == Digest() ? "(none)" : h.parent.Hex());
  Line("chain", ChainText(listing, row.id));
  Line("children", fmt::format("{}", report["children"].get<int64_t>()));
  Line("file", report["file"].get<std::string>());
  Line("", report["file_state"].get<std::string>());
  if (report.contains("provider")) {
    Line("provider", report["provider"].get<std::string>());
    for (const Json& tensor : report["tensors"]) {
      Line("tensor", tensor["name"].get<std::string>() + " " + tensor["shape"].dump());
    }
  }
  if (!row.metadata.empty()) Line("metadata", OneLine(row.metadata, 200));
  for (const Json& request : report["requests"]) {
    Line("request", fmt::format("request:{}  {}", request["id"].get<int64_t>(),
                                OneLine(request["question"].get<std::string>(), 80)));
  }
  if (!h.tokens.empty()) Line("token ids", fmt::format("{}", Json(h.tokens).dump()));
}

void PrintRequest(const StoreListing& listing, const RequestRow& row, const Json& report) {
  Line("request", fmt::format("request:{}", row.id));
  Line("tenant", row.tenant.empty() ? "(none)" : OneLine(row.tenant, 80));
  Line("text key", OneLine(row.text_key, 200));
  Line("created", DateText(row.created_ns));
  Line("compatibility", row.compatibility.Hex());
  for (const Digest& picture : row.pictures) Line("picture", picture.Hex());
  Line("last chunk", row.leaf.Hex());
  Line("chain", ChainText(listing, row.leaf));
  fmt::print("payload {}\n", Dump(report["payload"], 2));
}

Result<const RequestRow*> FindRequest(const StoreListing& listing, const std::string& number) {
  for (const RequestRow& row : listing.requests) {
    if (std::to_string(row.id) == number) return &row;
  }
  return Error{Errc::kNotFound, "no request:" + number + "; store ls --requests lists them"};
}

}  // namespace

int StoreLs(const std::string& folder, bool requests, bool json) {
  const Result<StoreListing> listing = ReadListing(PosixFileSystem(), FindLayout(folder));
  if (!listing.ok()) return Fail(listing.error());
  if (json) {
    Json report = {{"folder", folder}};
    Json& rows = report[requests ? "requests" : "chunks"] = Json::array();
    if (requests) {
      for (const RequestRow& row : listing->requests) rows.push_back(ToJson(row));
    } else {
      for (const TreeEntry& entry : TreeOrder(listing->chunks)) rows.push_back(ToJson(listing->chunks[entry.index]));
    }
    report["totals"] = TotalsJson(*listing);
    fmt::print("{}\n", Dump(report, 2));
    return kExitOk;
  }
  requests ? PrintRequests(*listing) : PrintChunks(*listing);
  fmt::print("\n");
  PrintTotals(*listing);
  return kExitOk;
}

int StoreShow(const std::string& folder, const std::string& what, bool json) {
  const DiskLayout layout = FindLayout(folder);
  const Result<StoreListing> listing = ReadListing(PosixFileSystem(), layout);
  if (!listing.ok()) return Fail(listing.error());
  constexpr std::string_view kRequest = "request:";
  if (what.starts_with(kRequest)) {
    const Result<const RequestRow*> row = FindRequest(*listing, what.substr(kRequest.size()));
    if (!row.ok()) return Fail(row.error());
    Json report = ToJson(**row);
    report["chain"] = Json::array();
    for (const ChunkRow* link : ChainTo(*listing, (*row)->leaf)) report["chain"].push_back(link->id.Hex());
    if (json) {
      fmt::print("{}\n", Dump(report, 2));
    } else {
      PrintRequest(*listing, **row, report);
    }
    return kExitOk;
  }
  const Result<const ChunkRow*> row = FindByPrefix(listing->chunks, what);
  if (!row.ok()) return Fail(row.error());
  const Json report = ChunkReport(*listing, layout, **row);
  if (json) {
    fmt::print("{}\n", Dump(report, 2));
  } else {
    PrintChunk(*listing, **row, report);
  }
  return kExitOk;
}

}  // namespace afterimage
