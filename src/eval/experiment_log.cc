#include "eval/experiment_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/json_text.h"
#include "core/posix_file.h"
#include "eval/csv.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool IsJsonLines(const std::string& path) { return path.ends_with(".jsonl"); }

Result<std::string> ReadWhole(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.number < 0) return ReadError(path, errno);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(fd.number, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ReadError(path, errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

Status WriteAndSync(const Fd& fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = write(fd.number, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return WriteError(path, errno);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return fsync(fd.number) == 0 ? Status() : Status(WriteError(path, errno));
}

// What a rename or a new file needs to outlive a power cut.
Status SyncFolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const Fd fd(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.number >= 0 && fsync(fd.number) == 0 ? Status() : Status(WriteError(path, errno));
}

Status Append(const std::string& path, std::string_view text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  struct stat before = {};
  if (fd.number < 0 || fstat(fd.number, &before) != 0) return WriteError(path, errno);
  Status status = WriteAndSync(fd, text, path);
  if (!status.ok() && ftruncate(fd.number, before.st_size) != 0) return WriteError(path, errno);  // a full disk
  return status;
}

Status Replace(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  const Fd fd(open(temporary.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0644));
  if (fd.number < 0) return WriteError(temporary, errno);
  if (Status status = WriteAndSync(fd, text, temporary); !status.ok()) return status;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return WriteError(path, errno);
  return SyncFolderOf(path);
}

std::string Cell(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : JsonText(value);
}

// The other way. A text that looks like a number has become one; nothing that is logged depends on that.
Json Value(const std::string& cell) {
  if (cell.empty()) return {};
  if (cell == "true" || cell == "false") return cell == "true";
  if (cell.front() == '[' || cell.front() == '-' || (cell.front() >= '0' && cell.front() <= '9')) {
    Json parsed = Json::parse(cell, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_number() || parsed.is_array()) return parsed;
  }
  return cell;
}

std::vector<std::string> Cells(const Json& row, const std::vector<std::string>& columns) {
  std::vector<std::string> cells;
  cells.reserve(columns.size());
  for (const std::string& column : columns) cells.push_back(row.contains(column) ? Cell(row[column]) : "");
  return cells;
}

struct LogText {
  std::vector<std::string> columns;  // of CSV
  std::vector<Json> rows;
  size_t complete_bytes = 0;
};

Error NoRow(const std::string& path, size_t line, const char* why) {
  return {Errc::kCorrupt, fmt::format("{}:{} is no row of an experiment log: {}.", path, line, why)};
}

Result<LogText> ParseJsonLines(const std::string& text, const std::string& path) {
  LogText log;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', log.complete_bytes)) {
    Json row = Json::parse(text.substr(log.complete_bytes, end - log.complete_bytes), nullptr, false);
    if (!row.is_object() || !row.contains("name") || !row["name"].is_string()) {
      return NoRow(path, log.rows.size() + 1, "an object with a name is wanted");
    }
    log.rows.push_back(std::move(row));
    log.complete_bytes = end + 1;
  }
  return log;
}

Result<LogText> ParseCsvLog(const std::string& text, const std::string& path) {
  CsvText csv = ParseCsv(text);
  LogText log;
  log.complete_bytes = csv.complete_bytes;
  if (csv.lines.empty()) return log;
  log.columns = std::move(csv.lines.front());
  if (log.columns.front() != "name") return NoRow(path, 1, "the first column is to be 'name'");
  for (size_t i = 1; i < csv.lines.size(); ++i) {
    if (csv.lines[i].size() != log.columns.size()) return NoRow(path, i + 1, "it has not as many cells as the first");
    Json row = Json::object();
    for (size_t j = 0; j < log.columns.size(); ++j) row[log.columns[j]] = Value(csv.lines[i][j]);
    row["name"] = csv.lines[i].front();
    log.rows.push_back(std::move(row));
  }
  return log;
}

Result<LogText> ReadLog(const std::string& path) {
  const Result<std::string> text = ReadWhole(path);
  if (!text.ok()) return text.error();
  return IsJsonLines(path) ? ParseJsonLines(*text, path) : ParseCsvLog(*text, path);
}

// Those of `columns`, and the row's others each behind the one before it.
std::vector<std::string> Widened(std::vector<std::string> columns, const Json& row) {
  auto place = columns.begin();
  for (const auto& [key, value] : row.items()) {
    const auto found = std::ranges::find(columns, key);
    place = (found != columns.end() ? found : columns.insert(place, key)) + 1;
  }
  return columns;
}

// The same cells, under these columns, which are more.
std::string InColumns(const CsvText& csv, const std::vector<std::string>& columns) {
  std::string text = CsvLine(columns);
  for (size_t i = 1; i < csv.lines.size(); ++i) {
    std::vector<std::string> cells(columns.size());
    for (size_t j = 0; j < csv.lines[i].size(); ++j) {
      cells[static_cast<size_t>(std::ranges::find(columns, csv.lines[0][j]) - columns.begin())] = csv.lines[i][j];
    }
    text += CsvLine(cells);
  }
  return text;
}

void FlattenInto(Json& flat, const std::string& prefix, const Json& object) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      FlattenInto(flat, prefix + key + ".", value);
    } else {
      flat[prefix + key] = value;
    }
  }
}

}  // namespace

Json Flattened(const Json& object) {
  Json flat = Json::object();
  FlattenInto(flat, "", object);
  return flat;
}

Result<std::vector<Json>> ReadExperimentLog(const std::string& path) {
  Result<LogText> log = ReadLog(path);
  if (!log.ok()) return log.error();
  return std::move(log->rows);
}

Result<ExperimentLog> ExperimentLog::Open(const std::string& path) {
  std::error_code failed;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, failed);
  if (Status status = Append(path, ""); !status.ok()) return status.error();
  if (Status status = SyncFolderOf(path); !status.ok()) return status.error();
  Result<LogText> text = ReadLog(path);
  if (!text.ok()) return text.error();
  if (truncate(path.c_str(), static_cast<off_t>(text->complete_bytes)) != 0) return WriteError(path, errno);
  ExperimentLog log(path);
  log.columns_ = std::move(text->columns);
  for (const Json& row : text->rows) log.Note(row);
  return log;
}

void ExperimentLog::Note(const Json& row) {
  const std::string name = row["name"].get<std::string>();
  if (row.contains("error") && !row["error"].is_null()) {
    finished_.erase(name);
  } else {
    finished_.insert(name);
  }
}

Status ExperimentLog::Add(const Json& row) {
  Status status;
  if (IsJsonLines(path_)) {
    status = Append(path_, JsonText(row) + "\n");
  } else if (std::vector<std::string> columns = Widened(columns_, row); columns == columns_) {
    status = Append(path_, CsvLine(Cells(row, columns)));
  } else {
    const Result<std::string> before = ReadWhole(path_);
    if (!before.ok()) return before.error();
    status = Replace(path_, InColumns(ParseCsv(*before), columns) + CsvLine(Cells(row, columns)));
    if (status.ok()) columns_ = std::move(columns);
  }
  if (status.ok()) Note(row);
  return status;
}

}  // namespace afterimage
