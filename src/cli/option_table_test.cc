#include "cli/option_table.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace afterimage {
namespace {

using Json = OptionTable::Json;

enum class Colour { kRed, kBlue };

struct Values {
  std::string name = "none";
  int count = 3;
  int64_t seed = 7;
  uint64_t limit = 0;
  float share = 0.95f;
  bool loud = false;
  bool keep = true;
  std::vector<std::string> files;
  std::vector<std::string> layers = {"a", "b"};
  Colour colour = Colour::kRed;
};

OptionTable TableOf(Values& values) {
  OptionTable table;
  table.Add("--name", values.name, "A name");
  table.Add("--max-count", values.count, "A count");
  table.Add("--seed", values.seed, "A seed");
  table.Add("--limit", values.limit, "A limit");
  table.Add("--share", values.share, "A share");
  table.SetGroup("More");
  table.AddFlag("--loud", values.loud, "Loud");
  table.AddFlag("--keep,--no-keep", values.keep, "Keep");
  table.AddList("--file", values.files, "A file");
  table.AddList("--layers", values.layers, "Layers").separator = ',';
  table.AddChoice("--colour", values.colour, {{"red", Colour::kRed}, {"blue", Colour::kBlue}}, "A colour");
  return table;
}

// What the command line complains of; empty: nothing.
std::string Parse(Values& values, std::vector<std::string> arguments) {
  CLI::App app;
  TableOf(values).AddTo(app);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    return e.what();
  }
  return "";
}

TEST(OptionTable, FlagsSetValues) {
  Values values;
  EXPECT_EQ(
      Parse(values, {"--name",   "x",   "--max-count", "-4",        "--seed", "-1", "--limit", "18446744073709551615",
                     "--share",  "0.5", "--loud",      "--no-keep", "--file", "1",  "--file",  "2",
                     "--layers", "c,d", "--colour",    "blue"}),
      "");
  EXPECT_EQ(values.name, "x");
  EXPECT_EQ(values.count, -4);
  EXPECT_EQ(values.seed, -1);
  EXPECT_EQ(values.limit, UINT64_MAX);
  EXPECT_EQ(values.share, 0.5f);
  EXPECT_TRUE(values.loud);
  EXPECT_FALSE(values.keep);
  EXPECT_EQ(values.files, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(values.layers, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(values.colour, Colour::kBlue);
}

TEST(OptionTable, WhatIsNotGivenStaysAsItWas) {
  Values values;
  EXPECT_EQ(Parse(values, {}), "");
  EXPECT_EQ(values.name, "none");
  EXPECT_EQ(values.layers, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(values.keep);
}

TEST(OptionTable, ValuesThatDoNotFitAreNamed) {
  Values values;
  EXPECT_EQ(Parse(values, {"--max-count", "many"}), "--max-count: 'many' is not a whole number");
  EXPECT_EQ(Parse(values, {"--max-count", "3x"}), "--max-count: '3x' is not a whole number");
  EXPECT_EQ(Parse(values, {"--max-count", "99999999999"}), "--max-count: 99999999999 is out of range");
  EXPECT_EQ(Parse(values, {"--limit", "-1"}), "--limit: '-1' is not a whole number from 0");
  EXPECT_EQ(Parse(values, {"--colour", "green"}), "--colour: 'green' is none of red|blue");
  EXPECT_NE(Parse(values, {"--keep", "--no-keep"}), "");
  EXPECT_EQ(values.count, 3);
}

TEST(OptionTable, AFlagAndItsNegationSetOneValue) {
  Values values;
  EXPECT_EQ(Parse(values, {"--no-keep"}), "");
  EXPECT_FALSE(values.keep);
  EXPECT_EQ(Parse(values, {"--keep"}), "");
  EXPECT_TRUE(values.keep);
}

TEST(OptionTable, ARequiredOptionMustBeGiven) {
  std::string model;
  OptionTable table;
  table.Add("--model", model, "The model").required = true;
  CLI::App app;
  table.AddTo(app);
  EXPECT_THROW(app.parse("", false), CLI::RequiredError);
}

TEST(OptionTable, HelpShowsDefaultsAndChoices) {
  Values values;
  CLI::App app;
  TableOf(values).AddTo(app);
  const std::string help = app.help();
  EXPECT_NE(help.find("--max-count INT=3"), std::string::npos) << help;
  EXPECT_NE(help.find("--colour red|blue=red"), std::string::npos) << help;
  EXPECT_NE(help.find("--layers TEXT=a,b"), std::string::npos) << help;
  EXPECT_NE(help.find("--share NUMBER=0.95"), std::string::npos) << help;
  EXPECT_NE(help.find("More:"), std::string::npos) << help;
}

TEST(OptionTable, JsonNamesOptionsWithUnderscores) {
  Values values;
  EXPECT_EQ(TableOf(values).ToJson().dump(),
            R"({"name":"none","max_count":3,"seed":7,"limit":0,"share":0.95,"loud":false,"keep":true,"file":[],)"
            R"("layers":["a","b"],"colour":"red"})");
}

TEST(OptionTable, WhatIsPrintedCanBeReadAgain) {
  Values values;
  EXPECT_EQ(Parse(values, {"--name", "x y", "--share", "0.3", "--loud", "--layers", "z", "--colour", "blue"}), "");
  Values other;
  OptionTable table = TableOf(other);
  const Json printed = TableOf(values).ToJson();
  for (const auto& [key, value] : printed.items()) {
    const Status status = table.Set(key, value);
    EXPECT_TRUE(status.ok()) << key;
  }
  EXPECT_EQ(table.ToJson(), printed);
}

TEST(OptionTable, JsonThatDoesNotFitIsNamed) {
  Values values;
  OptionTable table = TableOf(values);
  EXPECT_EQ(table.Set("size", 1).error().message, "There is no option 'size'.");
  EXPECT_EQ(table.Set("max_cuont", 1).error().message, "There is no option 'max_cuont'. Did you mean 'max_count'?");
  EXPECT_EQ(table.Set("count", 1).error().message, "There is no option 'count'. Did you mean 'max_count'?");
  EXPECT_EQ(table.Set("max_count", "x").error().message, "Option 'max_count': 'x' is not a whole number.");
  EXPECT_EQ(table.Set("max_count", Json::array({1, 2})).error().message, "Option 'max_count': give one value.");
  EXPECT_EQ(table.Set("loud", 2).error().message, "Option 'loud': give true or false.");
  EXPECT_FALSE(table.Set("name", nullptr).ok());
}

}  // namespace
}  // namespace afterimage
