#include "cache/make_layers.h"

#include "layers/exact_text.h"
#include "layers/vector_layer.h"
#include "layers/vector_sources.h"

namespace afterimage {
namespace {

constexpr const char* kSwitchedOff = "switched off";

Result<LayerSlot> ExactText(const LayerSetup& setup) {
  if (!setup.options.exact_layer) return LayerSlot{"exact_text", kSwitchedOff, nullptr};
  auto layer = std::make_unique<ExactTextLayer>(setup.store, setup.options.tenant, setup.compatibility);
  return LayerSlot{"exact_text", "", std::move(layer)};
}

// Vectors find other requests than the one asked, so there is no use for them where nothing may be substituted.
std::string WhyNoVectors(const CacheOptions& options) {
  return options.loosest == ReuseClass::kApproximate ? "" : "--reuse allows no other question or picture";
}

Result<LayerSlot> Vectors(const LayerSetup& setup, VectorLayerOptions options, std::unique_ptr<VectorSource> source) {
  options.index = setup.options.vector_index;
  options.tenant = setup.options.tenant;
  options.compatibility = setup.compatibility;
  const std::string key = options.key;
  Result<std::unique_ptr<Layer>> layer = VectorLayer::Open(setup.store, std::move(options), std::move(source));
  if (!layer.ok()) return layer.error();
  return LayerSlot{key, "", std::move(*layer)};
}

Result<LayerSlot> SemanticText(const LayerSetup& setup) {
  const CacheOptions& options = setup.options;
  std::string off = WhyNoVectors(options);
  if (options.text_encoder == nullptr) off = "no sentence encoder";
  if (!options.semantic_layer) off = kSwitchedOff;
  if (!off.empty()) return LayerSlot{"semantic_text", off, nullptr};
  return Vectors(setup,
                 {.key = "semantic_text", .provenance = "text:semantic", .threshold = options.similarity_threshold},
                 NewChunkTextSource(options.text_encoder, options.chunk_window));
}

LayerFactory Embedding(const EmbeddingLayerOptions& layer) {
  return [layer](const LayerSetup& setup) -> Result<LayerSlot> {
    const std::string key = "embedding:" + layer.name;
    if (const std::string off = WhyNoVectors(setup.options); !off.empty()) return LayerSlot{key, off, nullptr};
    if (setup.options.embedding_hook == nullptr) return LayerSlot{key, "no embedding hook", nullptr};
    Result<std::unique_ptr<VectorSource>> source = NewHookSource(setup.options.embedding_hook, layer.name, layer.dim);
    if (!source.ok()) return source.error();
    return Vectors(setup, {.key = key, .provenance = key, .threshold = layer.threshold}, std::move(*source));
  };
}

}  // namespace

std::vector<LayerSlot> EmptySlots(const CacheOptions& options, const std::string& reason) {
  std::vector<LayerSlot> slots;
  const auto add = [&](std::string key) { slots.push_back({std::move(key), reason, nullptr}); };
  add("exact_text");
  for (const EmbeddingLayerOptions& layer : options.embedding_layers) add("embedding:" + layer.name);
  add("semantic_text");
  return slots;
}

Result<std::vector<LayerSlot>> MakeLayers(const LayerSetup& setup, const std::vector<LayerFactory>& more) {
  std::vector<LayerFactory> factories;
  factories.emplace_back(ExactText);
  for (const EmbeddingLayerOptions& layer : setup.options.embedding_layers) factories.push_back(Embedding(layer));
  factories.emplace_back(SemanticText);
  factories.insert(factories.end(), more.begin(), more.end());
  std::vector<LayerSlot> slots;
  for (const LayerFactory& factory : factories) {
    Result<LayerSlot> slot = factory(setup);
    if (!slot.ok()) return slot.error();
    slots.push_back(std::move(*slot));
  }
  return slots;
}

}  // namespace afterimage
