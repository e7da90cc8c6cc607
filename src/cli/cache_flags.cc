#include "cli/cache_flags.h"

#include <fmt/core.h>

#include <charconv>

#include "core/byte_size.h"

namespace afterimage {
namespace {

using Json = OptionTable::Json;

Error Wrong(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }

void AddSize(OptionTable& table, const char* flag, uint64_t& bytes, const char* help) {
  table.AddParsed(
      flag, "SIZE",
      [&bytes](const std::string& text) -> Status {
        const Result<uint64_t> size = ParseByteSize(text);
        if (!size.ok()) return size.error();
        bytes = *size;
        return {};
      },
      [&bytes]() -> Json { return bytes; }, help);
}

Status ParseShare(const std::string& text, double& share) {
  double percent = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool is_percent = status == std::errc() && std::string_view(end, text.data() + text.size()) == "%";
  if (!is_percent || !(percent >= 0 && percent <= 100)) {
    return Wrong(fmt::format("'{}' is not a share: give a percentage such as 10%", text));
  }
  share = percent / 100;
  return {};
}

const std::vector<std::pair<std::string, std::optional<CacheMode>>>& Modes() {
  static const std::vector<std::pair<std::string, std::optional<CacheMode>>> modes = {
      {"live", CacheMode::kLive}, {"dry-run", CacheMode::kDryRun}, {"off", CacheMode::kOff}};
  return modes;
}

void AddMode(OptionTable& table, CacheFlags& flags) {
  OptionTable::Row& row = table.AddChoice("--cache-mode", flags.mode, Modes(),
                                          "live: the default with a folder; dry-run: looks up, plans and reports, puts "
                                          "nothing back and writes nothing; off: computes everything");
  row.get = [&flags]() -> Json {
    for (const auto& [name, mode] : Modes()) {
      if (mode == flags.resolved_mode()) return name;
    }
    return {};
  };
}

}  // namespace

Result<CacheOptions> CacheFlags::Resolve() const {
  CacheOptions resolved = options;
  resolved.mode = resolved_mode();
  if (resolved.mode != CacheMode::kOff && resolved.folder.empty()) {
    return Wrong("--cache-mode live and dry-run need a folder: give --cache-dir.");
  }
  resolved.exact_layer = resolved.prefix_layer = resolved.fusion_layer = false;
  for (const std::string& layer : layers) {
    if (layer == "exact") {
      resolved.exact_layer = true;
    } else if (layer == "prefix") {
      resolved.prefix_layer = true;
    } else if (layer == "fusion") {
      resolved.fusion_layer = fusion_cache;
    } else if (layer == "embedding" || layer == "semantic") {
      return Wrong(fmt::format("--layers {}: this layer is not built yet; give exact, prefix or fusion.", layer));
    } else {
      return Wrong(fmt::format("--layers: there is no layer '{}'; give exact, prefix or fusion.", layer));
    }
  }
  return resolved;
}

void AddCacheOptions(OptionTable& table, CacheFlags& flags) {
  CacheOptions& options = flags.options;
  table.SetGroup("Cache");
  table.Add("--cache-dir", options.folder, "Folder of the cache; made if absent");
  AddMode(table, flags);
  table.AddList("--layers", flags.layers, "Layers to use, of exact, prefix, fusion").separator = ',';
  table.AddChoice("--reuse", options.loosest,
                  {{"exact", ReuseClass::kExact},
                   {"normalized", ReuseClass::kNormalized},
                   {"approximate", ReuseClass::kApproximate}},
                  "The loosest class of reuse allowed");
  table.Add("--max-cached-blocks", options.max_blocks, "Most blocks of 16 tokens kept; 0: no limit");
  AddSize(table, "--max-bytes", options.max_bytes, "Most bytes kept on disk (2GB, 500MiB); 0: no limit");
  AddSize(table, "--memory-bytes", options.memory_bytes, "Most bytes also kept in memory; 0: none");
  table.AddChoice("--durability", options.durability,
                  {{"power", Durability::kPower}, {"process", Durability::kProcess}},
                  "What committed state survives: a power cut, or only the end of the process");
  table.AddFlag("--fusion-cache,--no-fusion-cache", flags.fusion_cache,
                "Keep the vision encoder's output; the default");
  table.Add("--fusion-cache-dir", options.fusion_folder, "Folder of encoder output; empty: in the cache's");
  table.Add("--min-prefix-tokens", options.min_prefix_tokens, "Shortest prefix without a picture worth putting back");
  table.AddParsed(
      "--min-gain", "SHARE", [&options](const std::string& text) { return ParseShare(text, options.min_gain); },
      [&options]() -> Json { return fmt::format("{:g}%", options.min_gain * 100); },
      "A substitution must save this share of the best exact plan's time");
  table.Add("--tenant", options.tenant, "Part of every key: tenants do not see each other's state");
  table.Add("--planner-rates", options.planner_rates, "File with frozen rates; empty: measured");
}

}  // namespace afterimage
