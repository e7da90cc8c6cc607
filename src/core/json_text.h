// JSON as text for any bytes: what is not UTF-8 is replaced, where the library would throw.
#ifndef AFTERIMAGE_CORE_JSON_TEXT_H_
#define AFTERIMAGE_CORE_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace afterimage {

// On one line (indent -1) or more.
inline std::string JsonText(const nlohmann::ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_JSON_TEXT_H_
