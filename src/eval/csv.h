// CSV as RFC 4180 has it: cells are separated by commas, lines by a line feed with or without a carriage return, and a
// cell that holds one of these or a quote stands in quotes, its quotes doubled.
#ifndef AFTERIMAGE_EVAL_CSV_H_
#define AFTERIMAGE_EVAL_CSV_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace afterimage {

// With its line feed.
std::string CsvLine(const std::vector<std::string>& cells);

struct CsvText {
  std::vector<std::vector<std::string>> lines;
  size_t complete_bytes = 0;  // of the text: those of the lines; what comes after has no end
};

// Any text is CSV; what a quoted cell has after its quotes is taken as it is.
CsvText ParseCsv(std::string_view text);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_CSV_H_
