#include "cli/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace afterimage {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> ShippedRoots() {
  std::vector<fs::path> roots;
  if (const std::string home = Environment("AFTERIMAGE_HOME"); !home.empty()) roots.emplace_back(home);
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

// The folders a name may stand for, in the order they are looked at.
std::vector<fs::path> FoldersNamed(const std::string& name) {
  std::vector<fs::path> roots;
  const std::string given = Environment("AFTERIMAGE_MODELS");
  for (size_t begin = 0; begin < given.size();) {
    const size_t end = std::min(given.find(':', begin), given.size());
    if (end > begin) roots.emplace_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const fs::path& root : ShippedRoots()) roots.push_back(root / "models");
  const fs::path home = Environment("HOME");
  if (!home.empty()) {
    roots.push_back(home / ".cache" / "llama.cpp");
    roots.push_back(home / ".lmstudio" / "models");
  }
  std::vector<fs::path> folders;
  const std::string last = name.substr(name.find_last_of('/') + 1);
  for (const fs::path& root : roots) {
    folders.push_back((root / name).lexically_normal());
    if (last != name) folders.push_back((root / last).lexically_normal());
  }
  if (!home.empty()) {
    std::string hub = "models--" + name;
    for (size_t at = hub.find('/'); at != std::string::npos; at = hub.find('/')) hub.replace(at, 1, "--");
    const fs::path snapshots = home / ".cache" / "huggingface" / "hub" / hub / "snapshots";
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(snapshots, failed)) folders.push_back(entry.path());
    if (failed) folders.push_back(snapshots);
  }
  return folders;
}

bool IsProjector(const fs::path& file) { return file.filename().string().find("mmproj") != std::string::npos; }

Error Several(const fs::path& folder, const std::vector<fs::path>& files, const char* flag) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return {Errc::kInvalidArgument,
          fmt::format("{} holds {}: say which with {}.", folder.string(), fmt::join(names, ", "), flag)};
}

// kNotFound: there is no model in it.
Result<ModelFiles> FindIn(const fs::path& folder) {
  std::vector<fs::path> models;
  std::vector<fs::path> projectors;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() != ".gguf") continue;
    (IsProjector(entry.path()) ? projectors : models).push_back(entry.path());
  }
  if (models.empty()) return Error{Errc::kNotFound, folder.string() + " holds no .gguf file"};
  std::ranges::sort(models);
  std::ranges::sort(projectors);
  const auto named = std::ranges::find(models, folder / "model.gguf");
  if (named == models.end() && models.size() > 1) return Several(folder, models, "--model FILE");
  if (projectors.size() > 1) return Several(folder, projectors, "--model FILE --mmproj FILE");
  return ModelFiles{named == models.end() ? models[0].string() : named->string(),
                    projectors.empty() ? "" : projectors[0].string()};
}

}  // namespace

Result<ModelFiles> FindModel(const std::string& name) {
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored) || name.ends_with(".gguf")) return ModelFiles{name, ""};
  if (fs::is_directory(name, ignored)) return FindIn(name);
  if (name.ends_with("opt-125m")) {
    return Error{Errc::kUnsupported,
                 "llama.cpp does not run OPT models; run them with the vLLM engine, or take --preset smollm2-135m, a "
                 "text model of the same size."};
  }
  std::vector<std::string> looked_at;
  for (const fs::path& folder : FoldersNamed(name)) {
    Result<ModelFiles> found = FindIn(folder);
    if (found.ok() || found.error().code != Errc::kNotFound) return found;
    looked_at.push_back(folder.string());
  }
  return Error{
      Errc::kNotFound,
      fmt::format("There is no model '{}': a .gguf file was looked for in {}. Give the path of a GGUF file or of "
                  "a folder that holds one and its mmproj.gguf, or name the folder of your models in "
                  "AFTERIMAGE_MODELS.",
                  name, fmt::join(looked_at, ", "))};
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
