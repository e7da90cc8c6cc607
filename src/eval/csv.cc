#include "eval/csv.h"

#include <utility>

namespace afterimage {

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  return line + '\n';
}

CsvText ParseCsv(std::string_view text) {
  CsvText parsed;
  std::vector<std::string> line;
  std::string cell;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      const bool doubled = c == '"' && i + 1 < text.size() && text[i + 1] == '"';
      if (c == '"' && !doubled) {
        quoted = false;
        continue;
      }
      if (doubled) ++i;
      cell += c;
    } else if (c == '"' && cell.empty()) {
      quoted = true;
    } else if (c == ',') {
      line.push_back(std::exchange(cell, ""));
    } else if (c == '\n') {
      if (i > 0 && text[i - 1] == '\r' && !cell.empty()) cell.pop_back();
      line.push_back(std::exchange(cell, ""));
      parsed.lines.push_back(std::exchange(line, {}));
      parsed.complete_bytes = i + 1;
    } else {
      cell += c;
    }
  }
  return parsed;
}

}  // namespace afterimage
