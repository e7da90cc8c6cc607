#include "cli/option_table.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Error Wrong(std::string message) { return Error{Errc::kInvalidArgument, std::move(message)}; }

template <typename T>
Status ParseNumber(const std::string& text, T& value, const char* wanted) {
  T number = {};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status == std::errc::result_out_of_range) return Wrong(fmt::format("{} is out of range", text));
  if (status != std::errc() || end != text.data() + text.size()) {
    return Wrong(fmt::format("'{}' is not {}", text, wanted));
  }
  value = number;
  return {};
}

// "--max-samples" and "--fusion-cache,--no-fusion-cache": max_samples, fusion_cache.
std::string Key(const std::string& flag) {
  std::string key = flag.substr(2, flag.find(',') == std::string::npos ? std::string::npos : flag.find(',') - 2);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// From a JSON text, number, boolean or list of texts.
Status SetFromJson(const OptionTable::Row& row, const Json& value) {
  std::vector<std::string> items;
  if (value.is_array()) {
    for (const Json& item : value) items.push_back(Text(item));
  } else {
    items.push_back(Text(value));
  }
  Status status =
      value.is_null() || value.is_object() ? Wrong("give a text, a number, true, false or a list") : row.set(items);
  if (status.ok()) return status;
  return Wrong(fmt::format("Option '{}': {}.", row.key, status.error().message));
}

std::string DefaultText(const OptionTable::Row& row) {
  const Json value = row.get();
  if (!value.is_array()) return Text(value);
  std::string joined;
  for (const Json& item : value) joined += (joined.empty() ? "" : ",") + Text(item);
  return joined;
}

// What the command line hands a row. CLI11 reports errors by exception, inside its parse.
void SetOrThrow(const OptionTable::Row& row, const std::vector<std::string>& items) {
  if (Status status = row.set(items); !status.ok()) throw CLI::ValidationError(row.flag, status.error().message);
  *row.given = true;
}

void AddFlagTo(CLI::App& command, const OptionTable::Row& row) {
  const size_t comma = row.flag.find(',');
  CLI::Option* on =
      command.add_flag_function(row.flag.substr(0, comma), [row](int64_t) { SetOrThrow(row, {"true"}); }, row.help);
  on->group(row.group);
  if (comma == std::string::npos) return;
  CLI::Option* off =
      command.add_flag_function(row.flag.substr(comma + 1), [row](int64_t) { SetOrThrow(row, {"false"}); }, "Do not");
  off->group(row.group)->excludes(on);
}

void AddOptionTo(CLI::App& command, const OptionTable::Row& row) {
  CLI::Option* option = nullptr;
  if (row.kind == OptionTable::Kind::kList) {
    option = command.add_option_function<std::vector<std::string>>(
        row.flag, [row](const std::vector<std::string>& items) { SetOrThrow(row, items); }, row.help);
    option->allow_extra_args(false);
    if (row.separator != 0) option->delimiter(row.separator);
  } else {
    option = command.add_option_function<std::string>(
        row.flag, [row](const std::string& text) { SetOrThrow(row, {text}); }, row.help);
  }
  option->type_name(row.type);
  if (!row.required) option->default_str(DefaultText(row));
  option->required(row.required)->group(row.group);
}

// How many letters must be put in, taken out or changed to make one of the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, changed}));
    }
  }
  return row.back();
}

}  // namespace

std::string DidYouMean(std::string_view given, const std::vector<std::string>& names) {
  size_t least = given.size() / 3 + 1;  // more than a third of it wrong is another word
  std::string nearest;
  for (const std::string& name : names) {
    const bool is_part = given.size() > 2 && name.find(given) != std::string::npos;
    const size_t distance = is_part ? 1 : EditDistance(given, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? "" : fmt::format(" Did you mean '{}'?", nearest);
}

namespace option_table_internal {

Status ParseText(const std::string& text, std::string& value) {
  value = text;
  return {};
}
Status ParseText(const std::string& text, int& value) { return ParseNumber(text, value, "a whole number"); }
Status ParseText(const std::string& text, int64_t& value) { return ParseNumber(text, value, "a whole number"); }
Status ParseText(const std::string& text, uint32_t& value) { return ParseNumber(text, value, "a whole number from 0"); }
Status ParseText(const std::string& text, uint64_t& value) { return ParseNumber(text, value, "a whole number from 0"); }
Status ParseText(const std::string& text, float& value) { return ParseNumber(text, value, "a number"); }
Status ParseText(const std::string& text, double& value) { return ParseNumber(text, value, "a number"); }

Json Shown(const std::string& value) { return value; }
Json Shown(float value) { return Json::parse(fmt::format("{}", value), nullptr, false); }

}  // namespace option_table_internal

OptionTable::Row& OptionTable::AddRow(Row row) {
  row.group = group_;
  row.key = Key(row.flag);
  return rows_.emplace_back(std::move(row));
}

OptionTable::Row& OptionTable::AddFlag(std::string flag, bool& value, std::string help) {
  Row row;
  row.kind = Kind::kFlag;
  row.flag = std::move(flag);
  row.help = std::move(help);
  row.set = [&value](const std::vector<std::string>& items) -> Status {
    if (items.size() != 1 || (items[0] != "true" && items[0] != "false")) return Wrong("give true or false");
    value = items[0] == "true";
    return {};
  };
  row.get = [&value]() -> Json { return value; };
  return AddRow(std::move(row));
}

OptionTable::Row& OptionTable::AddList(std::string flag, std::vector<std::string>& items, std::string help) {
  Row row;
  row.kind = Kind::kList;
  row.flag = std::move(flag);
  row.type = "TEXT";
  row.help = std::move(help);
  row.set = [&items](const std::vector<std::string>& given) -> Status {
    items = given;
    return {};
  };
  row.get = [&items]() -> Json { return items; };
  return AddRow(std::move(row));
}

OptionTable::Row& OptionTable::AddParsed(std::string flag, std::string type,
                                         std::function<Status(const std::string&)> parse, std::function<Json()> show,
                                         std::string help) {
  Row row;
  row.flag = std::move(flag);
  row.type = std::move(type);
  row.help = std::move(help);
  row.set = [parse = std::move(parse)](const std::vector<std::string>& items) -> Status {
    return items.size() == 1 ? parse(items[0]) : Status(Wrong("give one value"));
  };
  row.get = std::move(show);
  return AddRow(std::move(row));
}

void OptionTable::AddTo(CLI::App& command) const {
  for (const Row& row : rows_) {
    if (row.kind == Kind::kFlag) {
      AddFlagTo(command, row);
    } else {
      AddOptionTo(command, row);
    }
  }
}

OptionTable::Row* OptionTable::Find(std::string_view key) {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.key == key; });
  return row == rows_.end() ? nullptr : &*row;
}

Status OptionTable::Set(std::string_view key, const Json& value) {
  Row* const row = Find(key);
  if (row == nullptr) {
    std::vector<std::string> keys;
    for (const Row& known : rows_) keys.push_back(known.key);
    return Wrong(fmt::format("There is no option '{}'.{}", key, DidYouMean(key, keys)));
  }
  Status status = SetFromJson(*row, value);
  if (status.ok()) *row->given = true;
  return status;
}

Status OptionTable::Default(const Json& values) {
  for (const auto& [key, value] : values.items()) {
    const Row* const row = Find(key);
    if (row == nullptr || *row->given) continue;
    if (Status status = SetFromJson(*row, value); !status.ok()) return status;
  }
  return {};
}

std::string OptionTable::ToMarkdown() const {
  const auto cell = [](std::string text) {
    for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, 1, '\\');
    return text;
  };
  std::string text;
  std::string group;
  for (const Row& row : rows_) {
    if (row.group != group) {
      group = row.group;
      text += fmt::format("\n## {}\n\n| option | key | default | |\n|---|---|---|---|\n", group);
    }
    const std::string type = row.kind == Kind::kFlag ? "" : " " + row.type;
    const std::string value = row.required ? "" : DefaultText(row);
    text += fmt::format("| `{}` | `{}` | {} | {} |\n", cell(row.flag + type), row.key,
                        value.empty() ? "" : "`" + cell(value) + "`", cell(row.help));
  }
  return text;
}

Json OptionTable::ToJson() const {
  Json json = Json::object();
  for (const Row& row : rows_) json[row.key] = row.get();
  return json;
}

}  // namespace afterimage
