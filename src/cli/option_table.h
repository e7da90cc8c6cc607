// OptionTable: the options of a command, each described once.
//
// From one row come the flag (`--max-samples`), its line of help, the key by which JSON names it (`max_samples`) and
// what --print-config prints. A preset is a bundle of values for options that were not given (Default).
#ifndef AFTERIMAGE_CLI_OPTION_TABLE_H_
#define AFTERIMAGE_CLI_OPTION_TABLE_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterimage/result.h"

namespace CLI {
class App;
}

namespace afterimage {

// The values an option refers to must outlive the table and the App it was added to.
class OptionTable {
 public:
  using Json = nlohmann::ordered_json;

  enum class Kind { kValue, kList, kFlag };

  struct Row {
    Kind kind = Kind::kValue;
    std::string flag;  // "--max-samples"; a flag with a negation: "--x,--no-x"
    std::string key;   // in JSON; from the flag unless it is another
    std::string type;  // in the help text: "INT", "live|dry-run|off"
    std::string help;
    std::string group;
    bool required = false;
    char separator = 0;  // of a list's items in one argument; 0: one item an argument
    // Takes a value's text, a list's items, or "true" and "false".
    std::function<Status(const std::vector<std::string>&)> set;
    std::function<Json()> get;
    std::shared_ptr<bool> given = std::make_shared<bool>(false);  // on the command line or by Set; shared by copies
  };

  // Rows added from here on stand under this heading of the help text.
  void SetGroup(std::string group) { group_ = std::move(group); }

  // Text, whole numbers and fractions.
  template <typename T>
  Row& Add(std::string flag, T& value, std::string help);
  Row& AddFlag(std::string flag, bool& value, std::string help);
  Row& AddList(std::string flag, std::vector<std::string>& items, std::string help);
  // One of a few names.
  template <typename T>
  Row& AddChoice(std::string flag, T& value, const std::vector<std::pair<std::string, T>>& choices, std::string help);
  // Text that means something: `parse` sets it, `show` gives it back.
  Row& AddParsed(std::string flag, std::string type, std::function<Status(const std::string&)> parse,
                 std::function<Json()> show, std::string help);

  void AddTo(CLI::App& command) const;

  // Sets an option by its key, from a JSON text, number, boolean or list of texts. Errors: kInvalidArgument (no such
  // key, naming the one most like it; no such value).
  Status Set(std::string_view key, const Json& value);
  // Sets the options named in the object that were not given; those this table does not have are passed over.
  // Errors: as Set's.
  Status Default(const Json& values);
  // Every option as a table of Markdown under its headings: flag, key, default, meaning. What docs/options.md holds.
  std::string ToMarkdown() const;
  // Every option and what it is set to, in the order they were added.
  Json ToJson() const;

 private:
  Row& AddRow(Row row);
  Row* Find(std::string_view key);  // null: there is none

  std::string group_ = "Options";  // CLI11's own heading
  std::vector<Row> rows_;
};

// " Did you mean 'x'?", with the name most like `given` if one is near, else nothing.
std::string DidYouMean(std::string_view given, const std::vector<std::string>& names);

namespace option_table_internal {
Status ParseText(const std::string& text, std::string& value);
Status ParseText(const std::string& text, int& value);
Status ParseText(const std::string& text, int64_t& value);
Status ParseText(const std::string& text, uint32_t& value);
Status ParseText(const std::string& text, uint64_t& value);
Status ParseText(const std::string& text, float& value);
Status ParseText(const std::string& text, double& value);
nlohmann::ordered_json Shown(const std::string& value);
nlohmann::ordered_json Shown(float value);  // as short as it can be written, not as its double
template <typename T>
nlohmann::ordered_json Shown(T value) {
  return value;
}
}  // namespace option_table_internal

template <typename T>
OptionTable::Row& OptionTable::Add(std::string flag, T& value, std::string help) {
  const char* type = std::is_same_v<T, std::string> ? "TEXT" : std::is_integral_v<T> ? "INT" : "NUMBER";
  return AddParsed(
      std::move(flag), type,
      [&value](const std::string& text) { return option_table_internal::ParseText(text, value); },
      [&value] { return option_table_internal::Shown(value); }, std::move(help));
}

template <typename T>
OptionTable::Row& OptionTable::AddChoice(std::string flag, T& value,
                                         const std::vector<std::pair<std::string, T>>& choices, std::string help) {
  std::string names;
  for (const auto& choice : choices) names += (names.empty() ? "" : "|") + choice.first;
  return AddParsed(
      std::move(flag), names,
      [&value, choices, names](const std::string& text) -> Status {
        for (const auto& [name, choice] : choices) {
          if (name != text) continue;
          value = choice;
          return {};
        }
        return Error{Errc::kInvalidArgument, "'" + text + "' is none of " + names};
      },
      [&value, choices]() -> Json {
        for (const auto& [name, choice] : choices) {
          if (choice == value) return name;
        }
        return {};
      },
      std::move(help));
}

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_OPTION_TABLE_H_
