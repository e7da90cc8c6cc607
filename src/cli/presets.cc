#include "cli/presets.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace afterimage {
namespace {

namespace fs = std::filesystem;

struct Preset {
  const char* name;
  int image_tokens;  // pinned for models of dynamic resolution; 0: the model's own
  int threads;       // where a second one costs more than it brings
};

constexpr std::array<Preset, 2> kPresets = {{{"tiny-internvl", 0, 1}, {"tiny-qwen3vl", 49, 1}}};

std::vector<fs::path> ShippedRoots() {
  std::vector<fs::path> roots;
  if (const char* home = std::getenv("AFTERIMAGE_HOME"); home != nullptr && *home != '\0') roots.emplace_back(home);
  roots.emplace_back(".");
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const fs::path above = program.parent_path().parent_path();
    roots.push_back(above);
    roots.push_back(above / "share" / "afterimage");
  }
  return roots;
}

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

Status ApplyPreset(const std::string& name, LlamaOptions& options) {
  const Preset* found = nullptr;
  for (const Preset& preset : kPresets) {
    if (name == preset.name) found = &preset;
  }
  if (found == nullptr) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("There is no preset '{}'; give {}, or --model.", name, fmt::join(PresetNames(), " or "))};
  }
  if (options.model_path.empty()) {
    const Result<std::string> model = FindShipped("models/" + name + "/model.gguf");
    if (!model.ok()) return model.error();
    const Result<std::string> mmproj = FindShipped("models/" + name + "/mmproj.gguf");
    if (!mmproj.ok()) return mmproj.error();
    options.model_path = *model;
    if (options.mmproj_path.empty()) options.mmproj_path = *mmproj;
  }
  if (options.threads == 0) options.threads = found->threads;
  if (options.image_min_tokens == 0) options.image_min_tokens = found->image_tokens;
  if (options.image_max_tokens == 0) options.image_max_tokens = found->image_tokens;
  return {};
}

Result<std::string> FindShipped(const std::string& name) {
  std::vector<std::string> tried;
  for (const fs::path& root : ShippedRoots()) {
    const fs::path path = (root / name).lexically_normal();
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
    tried.push_back(path.string());
  }
  return Error{Errc::kNotFound,
               fmt::format("There is no {}: looked at {}. Set AFTERIMAGE_HOME to the folder that holds it.", name,
                           fmt::join(tried, ", "))};
}

}  // namespace afterimage
