#include "embed/plugin_hook.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "afterimage/embedding_plugin.h"
#include "embed/sources.h"

namespace afterimage {
namespace {

using Vector = std::vector<float>;
using ErrorText = std::array<char, 1024>;

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

afterimage_text TextOf(std::string_view text) { return {text.data(), text.size()}; }

// A plugin may fill the buffer to its last byte, or leave it alone.
std::string Sentence(ErrorText& text, const char* otherwise) {
  text.back() = '\0';
  return text[0] == '\0' ? otherwise : text.data();
}

// The request's encoder output, kept in the form the plugin reads while its call lasts.
struct EncoderOutput {
  const EmbeddingInput& input;
  std::vector<NamedTensor> tensors;
  std::vector<afterimage_tensor> views;

  static int32_t Get(void* context, const afterimage_tensor** tensors, size_t* n_tensors, char* error,
                     size_t error_size) {
    auto& self = *static_cast<EncoderOutput*>(context);
    Result<std::vector<NamedTensor>> output = self.input.encoder_output();
    if (!output.ok()) {
      if (error_size > 0) *fmt::format_to_n(error, error_size - 1, "{}", output.error().message).out = '\0';
      return AFTERIMAGE_FAILED;
    }
    self.tensors = std::move(*output);
    self.views.clear();
    for (const NamedTensor& tensor : self.tensors) {
      self.views.push_back(
          {TextOf(tensor.name), tensor.shape.data(), tensor.shape.size(), tensor.values.data(), tensor.values.size()});
    }
    *tensors = self.views.data();
    *n_tensors = self.views.size();
    return AFTERIMAGE_OK;
  }
};

class PluginHook : public EmbeddingHook {
 public:
  PluginHook(std::string name, Library library, const afterimage_embedding_hook& plugin,
             std::vector<EmbeddingSource> sources)
      : name_(std::move(name)), library_(std::move(library)), plugin_(plugin), sources_(std::move(sources)) {}
  ~PluginHook() override {
    if (plugin_.destroy != nullptr) plugin_.destroy(plugin_.state);
  }
  PluginHook(const PluginHook&) = delete;
  PluginHook& operator=(const PluginHook&) = delete;

  std::span<const EmbeddingSource> sources() const override { return sources_; }

  Result<std::vector<Vector>> Embed(std::span<const std::string> names, const EmbeddingInput& input) override {
    std::vector<uint32_t> wanted;
    std::vector<Vector> vectors;
    std::vector<float*> places;
    for (const std::string& name : names) {
      const EmbeddingSource& source = SourceOf(sources_, name);
      wanted.push_back(static_cast<uint32_t>(&source - sources_.data()));
      // What the plugin does not write stays what no vector may hold.
      vectors.emplace_back(static_cast<size_t>(source.dim), std::numeric_limits<float>::quiet_NaN());
      places.push_back(vectors.back().data());
    }
    std::vector<afterimage_picture> pictures;
    for (size_t i = 0; i < input.images.size(); ++i) {
      const Image& image = *input.images[i];
      const std::string_view path = i < input.image_paths.size() ? input.image_paths[i] : std::string_view();
      pictures.push_back({image.width(), image.height(), image.rgb().data(), TextOf(path)});
    }
    EncoderOutput encoder_output{input, {}, {}};
    const afterimage_embedding_request request{TextOf(input.id),
                                               TextOf(input.question),
                                               TextOf(input.chunk_text),
                                               TextOf(input.metadata),
                                               pictures.data(),
                                               pictures.size(),
                                               input.encoder_output ? &EncoderOutput::Get : nullptr,
                                               &encoder_output};
    ErrorText error{};
    int32_t returned = AFTERIMAGE_FAILED;
    {
      const std::lock_guard lock(mutex_);
      returned = plugin_.embed(plugin_.state, &request, wanted.data(), wanted.size(), places.data(), error.data(),
                               error.size());
    }
    if (returned == AFTERIMAGE_NOTHING) {
      return Error{Errc::kNotFound, Sentence(error, "The request has nothing for this source.")};
    }
    if (returned != AFTERIMAGE_OK) return Failure(Sentence(error, "It failed and does not say why."));
    for (size_t i = 0; i < vectors.size(); ++i) {
      const Status checked = CheckVector(sources_[wanted[i]], vectors[i]);
      if (!checked.ok()) return Failure(checked.error().message);
    }
    return vectors;
  }

 private:
  Error Failure(const std::string& message) const {
    return Error{Errc::kInternal, fmt::format("The embedding hook '{}': {}", name_, message)};
  }

  const std::string name_;
  const Library library_;  // outlives what is called in it
  const afterimage_embedding_hook& plugin_;
  const std::vector<EmbeddingSource> sources_;
  std::mutex mutex_;  // calls of a plugin never overlap
};

Result<std::vector<EmbeddingSource>> SourcesOf(const afterimage_embedding_hook& plugin) {
  if (plugin.embed == nullptr) return Error{Errc::kInvalidArgument, "It has no function embed."};
  std::vector<EmbeddingSource> sources;
  for (uint32_t i = 0; i < plugin.n_sources && plugin.sources != nullptr; ++i) {
    const afterimage_embedding_source& source = plugin.sources[i];
    const char* name = source.name == nullptr ? "" : source.name;
    if (source.modality > AFTERIMAGE_MODALITY_JOINT) {
      return Error{Errc::kInvalidArgument, fmt::format("The source '{}' has no modality {}.", name, source.modality)};
    }
    constexpr std::array kModalities{Modality::kText, Modality::kImage, Modality::kJoint};
    const auto dim = static_cast<int>(std::min<uint32_t>(source.dim, kMaxEmbeddingDim + 1));
    sources.push_back({name, dim, kModalities[source.modality], source.identity == nullptr ? "" : source.identity});
  }
  const Status checked = CheckSources(sources);
  if (!checked.ok()) return checked.error();
  return sources;
}

}  // namespace

Result<std::unique_ptr<EmbeddingHook>> NewPluginHook(const std::string& path, const std::string& factory) {
  const std::string name = path + ":" + factory;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error{Errc::kNotFound, fmt::format("The embedding hook '{}': there is no file '{}'.", name, path)};
  }
  // With a slash in it, or the loader searches the system's folders.
  Library library(dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    return Error{Errc::kInvalidArgument, fmt::format("The embedding hook '{}' cannot be loaded: {}.", name, dlerror())};
  }
  const auto make = reinterpret_cast<afterimage_embedding_factory>(dlsym(library.get(), factory.c_str()));
  if (make == nullptr) {
    return Error{Errc::kNotFound,
                 fmt::format("The embedding hook '{}': '{}' has no function '{}'.", name, path, factory)};
  }
  ErrorText error{};
  const afterimage_embedding_hook* plugin = make(AFTERIMAGE_EMBEDDING_ABI, error.data(), error.size());
  if (plugin == nullptr) {
    return Error{Errc::kInternal, fmt::format("The embedding hook '{}' did not start. {}", name,
                                              Sentence(error, "Its factory returned null and does not say why."))};
  }
  if (plugin->abi != AFTERIMAGE_EMBEDDING_ABI) {  // then nothing else of it can be read
    return Error{Errc::kUnsupported,
                 fmt::format("The embedding hook '{}' was built for version {} of embedding_plugin.h, and this is {}.",
                             name, plugin->abi, AFTERIMAGE_EMBEDDING_ABI)};
  }
  Result<std::vector<EmbeddingSource>> sources = SourcesOf(*plugin);
  if (!sources.ok()) {
    if (plugin->destroy != nullptr) plugin->destroy(plugin->state);
    return Error{sources.error().code, fmt::format("The embedding hook '{}': {}", name, sources.error().message)};
  }
  return std::unique_ptr<EmbeddingHook>(
      std::make_unique<PluginHook>(name, std::move(library), *plugin, std::move(*sources)));
}

}  // namespace afterimage
