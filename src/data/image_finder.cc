#include "data/image_finder.h"

#include <cstdlib>
#include <filesystem>

namespace afterimage {
namespace {

bool IsFile(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::string ImageFinder::ByPath(const std::string& path) const {
  const std::string beside = (std::filesystem::path(folder_) / path).string();  // an absolute path stays as it is
  if (IsFile(beside)) return beside;
  for (const std::string& root : roots_) {
    const std::filesystem::path under = std::filesystem::path(root) / path;
    if (IsFile(under)) return under.string();
  }
  return beside;
}

std::string ImageFinder::ById(const std::string& image_id) const {
  for (const std::string& root : roots_) {
    for (const char* extension : {".jpg", ".jpeg", ".png", ".webp"}) {
      const std::string name = image_id + extension;
      const std::filesystem::path path = std::filesystem::path(root) / name;
      if (IsFile(path)) return path.string();
      if (image_id.size() <= 3) continue;
      const std::filesystem::path sharded = std::filesystem::path(root) / image_id.substr(0, 3) / name;
      if (IsFile(sharded)) return sharded.string();
    }
  }
  return "";
}

std::vector<std::string> ImageFinder::RootsFromEnvironment() {
  std::vector<std::string> roots;
  for (const char* name : {"SEMANTIC_CACHE_IMAGE_ROOT", "GQA_IMAGE_ROOT", "LLAVA_IMAGE_ROOT"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') roots.emplace_back(value);
  }
  return roots;
}

}  // namespace afterimage
