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
  CacheOptions options;           // its mode, layers and hooks are set by Resolve and Open
  std::optional<CacheMode> mode;  // nullopt: live where there is a folder, else off
  std::vector<std::string> layers = {"exact", "embedding", "semantic", "prefix", "fusion"};
  std::vector<std::string> embedding_layers;  // NAME:DIM[:THRESHOLD]
  std::string embedding_hook = "none";
  std::string vision_source = "pixels";
  std::string index_encoder;  // empty: the shipped one
  bool disable_semantic_cache = false;
  bool fusion_cache = true;
  std::string compat = "none";

  CacheMode resolved_mode() const { return mode.value_or(options.folder.empty() ? CacheMode::kOff : CacheMode::kLive); }
  // Errors: kInvalidArgument (layers there are not, a cache without a folder).
  Result<CacheOptions> Resolve() const;

  // The cache with these options, resolved, and with the sentence encoder and the embedding hook its layers need; where
  // no layer needs one, none is loaded. A missing encoder that was not asked for by name is only warned of, on stderr.
  // Errors: the hook's, the encoder's, and Cache::Open's.
  Result<std::unique_ptr<Cache>> Open(CacheOptions resolved, Engine& engine) const;

  // Gives the options the sentence encoder and the embedding hook, as Open does. Errors: the hook's, the encoder's.
  Status AddEncoders(const EngineInfo& engine, CacheOptions& resolved) const;
};

void AddCacheOptions(OptionTable& table, CacheFlags& flags);
// Those of them that say which vectors there are, and those that say which pictures and questions are alike.
void AddVectorOptions(OptionTable& table, CacheFlags& flags);
void AddGateOptions(OptionTable& table, CacheFlags& flags);

// Gives the options of the table that were not given what --compat says. Called once all that is given is set.
Status ApplyCompat(OptionTable& table, const CacheFlags& flags);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_CACHE_FLAGS_H_
