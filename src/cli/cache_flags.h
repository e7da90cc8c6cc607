// The options of the cache, the same for every command that has one.
#ifndef AFTERIMAGE_CLI_CACHE_FLAGS_H_
#define AFTERIMAGE_CLI_CACHE_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "afterimage/cache.h"
#include "cli/option_table.h"

namespace afterimage {

// What a command starts from; its folder and loosest class are what the commands differ in.
struct CacheFlags {
  CacheOptions options;           // its mode and layers are set by Resolve
  std::optional<CacheMode> mode;  // nullopt: live where there is a folder, else off
  std::vector<std::string> layers = {"exact", "prefix", "fusion"};
  bool fusion_cache = true;

  CacheMode resolved_mode() const { return mode.value_or(options.folder.empty() ? CacheMode::kOff : CacheMode::kLive); }
  // Errors: kInvalidArgument (layers there are not, a cache without a folder).
  Result<CacheOptions> Resolve() const;
};

void AddCacheOptions(OptionTable& table, CacheFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_CACHE_FLAGS_H_
