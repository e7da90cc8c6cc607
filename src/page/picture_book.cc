#include "page/picture_book.h"

#include <openssl/evp.h>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace afterimage {
namespace {

namespace fs = std::filesystem;

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a zero
  const int written =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(written));
  return text;
}

// By its first bytes, whatever it is called; empty: neither PNG nor JPEG.
std::string_view MediaType(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  return "";
}

struct Picture {
  std::string uri;
  const char* left_out = nullptr;
};

Picture ReadPicture(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return {"", "not found"};
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMaxPictureBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad() || !file.is_open()) return {"", "not readable"};
  bytes.resize(static_cast<size_t>(file.gcount()));
  if (bytes.size() > kMaxPictureBytes) return {"", "larger than 200 KB"};
  const std::string_view type = MediaType(bytes);
  if (type.empty()) return {"", "neither PNG nor JPEG"};
  return {"data:" + std::string(type) + ";base64," + Base64(bytes), nullptr};
}

}  // namespace

size_t PictureBook::Add(const std::string& path) {
  const auto [place, is_new] = numbers_.try_emplace(path, pictures_.size());
  if (is_new) {
    const Picture picture = ReadPicture(path);
    nlohmann::ordered_json json = {
        {"name", fs::path(path).filename().string()}, {"uri", nullptr}, {"left_out", nullptr}};
    if (picture.left_out == nullptr) {
      json["uri"] = picture.uri;
    } else {
      json["left_out"] = picture.left_out;
    }
    pictures_.push_back(std::move(json));
  }
  return place->second;
}

}  // namespace afterimage
