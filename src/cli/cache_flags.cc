#include "cli/cache_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "afterimage/llama_text_encoder.h"
#include "cli/model_files.h"
#include "core/byte_size.h"
#include "embed/embedding_hook.h"
#include "embed/remembering_encoder.h"

namespace afterimage {
namespace {

using Json = OptionTable::Json;

constexpr const char* kShippedEncoder = "all-minilm-l6-v2";

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

// "10%" or "5ms".
Status ParseGain(const std::string& text, CacheOptions& options) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (status != std::errc() || !(number >= 0) || (unit != "%" && unit != "ms") || (unit == "%" && number > 100)) {
    return Wrong(fmt::format("'{}' is no gain: give a share such as 10%, or a time such as 5ms", text));
  }
  options.min_gain = unit == "%" ? number / 100 : 0;
  options.min_gain_ms = unit == "ms" ? number : 0;
  return {};
}

// exact, off, near, near:SCORE, near:SCORE,LOCAL.
Status ParseImageGate(const std::string& text, CacheOptions& options) {
  const std::string name = text.substr(0, text.find(':'));
  CacheOptions parsed;
  parsed.image_gate = name == "exact" ? ImageGate::kExact : name == "off" ? ImageGate::kOff : ImageGate::kNear;
  bool good = name == "near" || (name == text && (name == "exact" || name == "off"));
  if (good && name != text) {
    const std::string numbers = text.substr(name.size() + 1);
    const size_t comma = numbers.find(',');
    good = option_table_internal::ParseText(numbers.substr(0, comma), parsed.near_score).ok();
    if (good && comma != std::string::npos) {
      good = option_table_internal::ParseText(numbers.substr(comma + 1), parsed.near_local).ok();
    }
  }
  if (!good)
    return Wrong(fmt::format("'{}' is no image gate: give exact, near, near:0.98, near:0.98,0.4 or off", text));
  options.image_gate = parsed.image_gate;
  options.near_score = parsed.near_score;
  options.near_local = parsed.near_local;
  return {};
}

Json ShowImageGate(const CacheOptions& options) {
  if (options.image_gate == ImageGate::kExact) return "exact";
  if (options.image_gate == ImageGate::kOff) return "off";
  return fmt::format("near:{:g},{:g}", options.near_score, options.near_local);
}

// What `--compat original` stands for: no gates but thresholds, the donor's whole prompt, the best score wins, no
// prefixes. Each may be given otherwise, to see what one rule is worth.
constexpr const char* kOriginal = R"({
  "layers": ["exact", "embedding", "semantic", "fusion"],
  "image_gate": "off",
  "text_guard": "off",
  "license": "whole",
  "planner": "greedy"
})";

void AddNumber(OptionTable& table, const char* flag, double& value, const char* help) {
  table.AddParsed(
      flag, "NUMBER", [&value](const std::string& text) { return option_table_internal::ParseText(text, value); },
      [&value]() -> Json { return value; }, help);
}

Result<EmbeddingLayerOptions> ParseEmbeddingLayer(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  EmbeddingLayerOptions layer;
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) {
    return Wrong(
        fmt::format("--embedding-layer {}: give NAME:DIM or NAME:DIM:THRESHOLD, such as prompt:384:0.8.", text));
  }
  layer.name = parts[0];
  if (Status status = option_table_internal::ParseText(parts[1], layer.dim); !status.ok() || layer.dim < 1) {
    return Wrong(fmt::format("--embedding-layer {}: '{}' is no dimension.", text, parts[1]));
  }
  if (parts.size() == 3) {
    const Status status = option_table_internal::ParseText(parts[2], layer.threshold);
    if (!status.ok() || !(layer.threshold >= -1 && layer.threshold <= 1)) {
      return Wrong(fmt::format("--embedding-layer {}: '{}' is no cosine from -1 to 1.", text, parts[2]));
    }
  }
  return layer;
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

void AddRules(OptionTable& table, CacheFlags& flags) {
  CacheOptions& options = flags.options;
  table.SetGroup("Rules for substitutions");
  AddGateOptions(table, flags);
  table.AddChoice("--license", options.license_whole, {{"matched", false}, {"whole", true}},
                  "What a match puts in: what was matched, or the donor's whole request");
  table.AddChoice("--planner", options.greedy, {{"exact-first", false}, {"greedy", true}},
                  "Whether stored exact state comes before a better score");
  table.AddParsed(
      "--min-gain", "SHARE|MS", [&options](const std::string& text) { return ParseGain(text, options); },
      [&options]() -> Json {
        return options.min_gain_ms > 0 ? fmt::format("{:g}ms", options.min_gain_ms)
                                       : fmt::format("{:g}%", options.min_gain * 100);
      },
      "A substitution must save this share of the best exact plan's time, or this much time");
  table.AddChoice("--compat", flags.compat, {{"none", std::string("none")}, {"original", std::string("original")}},
                  "original: as the program this one follows does; the rules above that are not given are off");
}

}  // namespace

Result<CacheOptions> CacheFlags::Resolve() const {
  CacheOptions resolved = options;
  resolved.mode = resolved_mode();
  if (resolved.mode != CacheMode::kOff && resolved.folder.empty()) {
    return Wrong("--cache-mode live and dry-run need a folder: give --cache-dir.");
  }
  const auto has = [&](const char* layer) { return std::ranges::find(layers, layer) != layers.end(); };
  for (const std::string& layer : layers) {
    if (layer != "exact" && layer != "embedding" && layer != "semantic" && layer != "prefix" && layer != "fusion") {
      return Wrong(fmt::format(
          "--layers: there is no layer '{}'; give some of exact, embedding, semantic, prefix, fusion.", layer));
    }
  }
  resolved.exact_layer = has("exact");
  resolved.semantic_layer = has("semantic") && !disable_semantic_cache;
  resolved.prefix_layer = has("prefix");
  resolved.fusion_layer = has("fusion") && fusion_cache;
  for (const std::string& text : embedding_layers) {
    const Result<EmbeddingLayerOptions> layer = ParseEmbeddingLayer(text);
    if (!layer.ok()) return layer.error();
    if (has("embedding")) resolved.embedding_layers.push_back(*layer);
  }
  if (!resolved.embedding_layers.empty() && embedding_hook == "none") {
    return Wrong("--embedding-layer needs vectors: give --embedding-hook prompt, vision, prompt_vision or your own.");
  }
  return resolved;
}

Result<std::unique_ptr<Cache>> CacheFlags::Open(CacheOptions resolved, Engine& engine) const {
  if (resolved.mode != CacheMode::kOff && resolved.loosest == ReuseClass::kApproximate) {
    if (Status status = AddEncoders(engine.info(), resolved); !status.ok()) return status.error();
  }
  return Cache::Open(resolved, engine);
}

Status CacheFlags::AddEncoders(const EngineInfo& engine, CacheOptions& resolved) const {
  const Result<ModelFiles> file = FindModel(index_encoder.empty() ? kShippedEncoder : index_encoder);
  std::shared_ptr<TextEncoder> encoder;
  const auto text_encoder = [&]() -> Result<std::shared_ptr<TextEncoder>> {
    if (encoder != nullptr) return encoder;
    if (!file.ok()) return file.error();
    Result<std::unique_ptr<TextEncoder>> loaded = NewLlamaTextEncoder(file->model);
    if (!loaded.ok()) return loaded.error();
    encoder = std::make_shared<RememberingEncoder>(std::move(*loaded));
    return encoder;
  };
  const bool not_fetched = index_encoder.empty() && !file.ok() && file.error().code == Errc::kNotFound;
  if (resolved.semantic_layer && !not_fetched) {
    const Result<std::shared_ptr<TextEncoder>> loaded = text_encoder();
    if (!loaded.ok()) return loaded.error();
    resolved.text_encoder = *loaded;
  }
  std::string hook_name = embedding_hook;
  size_t layers_off = 0;
  if (not_fetched && (hook_name == "prompt" || hook_name == "prompt_vision")) {
    layers_off = std::erase_if(resolved.embedding_layers, [](const auto& layer) { return layer.name == "prompt"; });
    hook_name = "vision";
  }
  if (not_fetched && (resolved.semantic_layer || layers_off > 0)) {
    fmt::print(stderr,
               "afterimage: warning: there is no sentence encoder, so questions in other words are not found; "
               "scripts/fetch-model encoder gets it\n");
  }
  if (resolved.embedding_layers.empty()) return {};
  HookParts parts;
  parts.new_text_encoder = text_encoder;
  parts.vision = vision_source;
  parts.encoder_identity = engine.identity.compatibility.digest().Hex();
  parts.encoder_dim = engine.encoder_dim;
  Result<std::unique_ptr<EmbeddingHook>> hook = NewEmbeddingHook(hook_name, parts);
  if (!hook.ok()) return hook.error();
  resolved.embedding_hook = std::move(*hook);
  return {};
}

Status ApplyCompat(OptionTable& table, const CacheFlags& flags) {
  return flags.compat == "original" ? table.Default(Json::parse(kOriginal)) : Status();
}

void AddVectorOptions(OptionTable& table, CacheFlags& flags) {
  CacheOptions& options = flags.options;
  AddNumber(table, "--similarity-threshold", options.similarity_threshold,
            "Least cosine of a question the semantic layer takes for this one");
  table.Add("--chunk-window", options.chunk_window, "Characters of the text key the semantic layer looks at");
  table
      .AddList("--embedding-layer", flags.embedding_layers,
               "NAME:DIM[:THRESHOLD]: a layer over vectors of the hook; may be given again")
      .key = "embedding_layers";
  table.Add("--embedding-hook", flags.embedding_hook,
            "Makes the vectors: none, prompt, vision, prompt_vision, libx.so:factory or package.module:Factory");
  table.Add("--vision-source", flags.vision_source,
            "What the vision hook looks at: pixels (a millisecond, no model), or encoder (the model's own)");
  table.Add("--index-encoder", flags.index_encoder,
            "Sentence encoder (GGUF) of the semantic layer and the prompt hook; empty: all-MiniLM-L6-v2");
  table.AddFlag("--disable-semantic-cache", flags.disable_semantic_cache, "Without the semantic layer");
}

void AddGateOptions(OptionTable& table, CacheFlags& flags) {
  CacheOptions& options = flags.options;
  table.AddParsed(
      "--image-gate", "exact|near[:SCORE[,LOCAL]]|off",
      [&options](const std::string& text) { return ParseImageGate(text, options); },
      [&options] { return ShowImageGate(options); },
      "When another picture may stand for this one: never; where it scores SCORE and no place differs by more than "
      "LOCAL; always");
  table.AddChoice("--text-guard", options.text_guard, {{"on", true}, {"off", false}},
                  "Refuse questions that differ in a word that matters");
  table.Add("--guard-lexicon", options.guard_lexicon, "File that extends the words the text guard knows");
}

void AddCacheOptions(OptionTable& table, CacheFlags& flags) {
  CacheOptions& options = flags.options;
  table.SetGroup("Cache");
  table.Add("--cache-dir", options.folder, "Folder of the cache; made if absent");
  AddMode(table, flags);
  table.AddList("--layers", flags.layers, "Layers to use, of those that are configured").separator = ',';
  table.AddChoice("--reuse", options.loosest,
                  {{"exact", ReuseClass::kExact},
                   {"normalized", ReuseClass::kNormalized},
                   {"approximate", ReuseClass::kApproximate}},
                  "The loosest class of reuse allowed");
  AddVectorOptions(table, flags);
  table.Add("--vector-index", options.vector_index, "How vectors are searched: flat");
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
  table.Add("--tenant", options.tenant, "Part of every key: tenants do not see each other's state");
  table.Add("--planner-rates", options.planner_rates, "File with frozen rates; empty: measured");
  AddRules(table, flags);
}

}  // namespace afterimage
