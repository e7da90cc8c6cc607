#include "data/json_fields.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "core/utf8.h"

namespace afterimage {
namespace {

using Json = JsonFields::Json;

// Writing JSON out again is recursive, so a record of brackets could exhaust the stack.
constexpr int kMaxDepth = 64;

Error Unusable(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }

// ['07', "it's"]: what Python prints of a list of texts. A backslash stands before a quote or itself; other escapes do
// not occur in ids, and are refused.
std::optional<std::vector<std::string>> ParsePythonList(std::string_view text) {
  size_t at = 0;
  const auto next_ink = [&] {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    return at < text.size() ? text[at++] : '\0';
  };
  std::vector<std::string> items;
  if (next_ink() != '[') return std::nullopt;
  char c = next_ink();
  while (c != ']') {
    if (c != '\'' && c != '"') return std::nullopt;
    const char quote = c;
    std::string item;
    for (; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\') {
        ++at;
        if (at == text.size() || std::string_view("\\'\"").find(text[at]) == std::string_view::npos)
          return std::nullopt;
      }
      item.push_back(text[at]);
    }
    if (at == text.size()) return std::nullopt;
    ++at;
    items.push_back(std::move(item));
    c = next_ink();
    if (c != ',' && c != ']') return std::nullopt;
    if (c == ',') c = next_ink();
  }
  if (next_ink() != '\0') return std::nullopt;
  return items;
}

}  // namespace

Result<Json> ParseObject(const std::string& text) {
  if (!IsValidUtf8(text)) return Unusable("not valid UTF-8");
  bool too_deep = false;
  const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  Json json;
  try {
    json = Json::parse(text, limit_depth);
  } catch (const Json::parse_error& e) {
    return Unusable(fmt::format("not valid JSON (at byte {})", e.byte));
  }
  if (too_deep) return Unusable(fmt::format("nested more than {} deep", kMaxDepth));
  if (!json.is_object()) return Unusable("not a JSON object; every record must be one");
  return json;
}

const Json* JsonFields::Find(Names names) {
  for (const char* name : names) {
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) continue;
    name_ = name;
    return &*found;
  }
  return nullptr;
}

std::string JsonFields::Text(Names names) {
  const Json* value = Find(names);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number()) return value->dump();
  Wrong("a text");
  return "";
}

bool JsonFields::Flag(Names names, bool otherwise) {
  const Json* value = Find(names);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Wrong("true or false");
  return otherwise;
}

std::vector<std::string> JsonFields::Texts(Names names) {
  const Json* value = Find(names);
  if (value == nullptr) return {};
  if (value->is_string()) {
    const std::string& text = value->get_ref<const std::string&>();
    if (text.empty()) return {};
    std::optional<std::vector<std::string>> items = ParsePythonList(text);
    if (!items.has_value()) Wrong("a list of texts");
    return items.value_or(std::vector<std::string>());
  }
  std::vector<std::string> texts;
  if (!value->is_array()) Wrong("a list of texts");
  for (const Json& item : *value) {
    if (item.is_string()) {
      texts.push_back(item.get<std::string>());
    } else {
      Wrong("a list of texts");
    }
  }
  return texts;
}

void JsonFields::Wrong(const char* wanted) {
  if (!status_.ok()) return;
  status_ = Error{Errc::kInvalidArgument, fmt::format("\"{}\" must be {}", name_, wanted)};
}

}  // namespace afterimage
