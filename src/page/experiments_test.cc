#include "page/experiments.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

class ExperimentsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::vector<LoggedExperiment> Read(const std::vector<std::string>& logs) {
    const Result<std::vector<LoggedExperiment>> experiments = ReadLoggedExperiments(logs);
    EXPECT_TRUE(experiments.ok()) << experiments.error().message;
    return experiments.ok() ? *experiments : std::vector<LoggedExperiment>();
  }

  TemporaryFolder folder_;
};

TEST_F(ExperimentsTest, WhatStandsBeforeTheErrorIsAnOptionAndWhatStandsBehindItAResult) {
  const std::vector<LoggedExperiment> read = Read(
      {Write("a.csv", "name,preset,baseline,samples_file,notes,error,hit_rate,recall\na,tiny,true,s.jsonl,,,0.5,\n")});
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(read[0].name, "a");
  EXPECT_EQ(read[0].options, Json({{"preset", "tiny"}, {"baseline", true}, {"notes", nullptr}}));
  EXPECT_EQ(read[0].results, Json({{"hit_rate", 0.5}}));
  EXPECT_EQ(read[0].samples_file, "s.jsonl");
  EXPECT_FALSE(read[0].error.has_value());
}

TEST_F(ExperimentsTest, TheLastRowOfANameCountsWhereTheFirstStood) {
  const std::vector<LoggedExperiment> read =
      Read({Write("a.csv", "name,error,hit_rate\na,it broke,\nb,,0.25\na,,0.5\n")});
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read[0].name, "a");
  EXPECT_FALSE(read[0].error.has_value());
  EXPECT_EQ(read[0].results["hit_rate"], 0.5);
  EXPECT_EQ(read[1].name, "b");
}

TEST_F(ExperimentsTest, ExperimentsOfOneNameInTwoLogsAreToldApart) {
  const std::string first = Write("a.csv", "name,error,hit_rate\nx,,0.25\nalone,,1\n");
  const std::string second = Write("b.jsonl", "{\"name\": \"x\", \"error\": \"it broke\"}\n");
  const std::vector<LoggedExperiment> read = Read({first, second});
  ASSERT_EQ(read.size(), 3);
  EXPECT_EQ(read[0].name, "x (" + first + ")");
  EXPECT_EQ(read[1].name, "alone");
  EXPECT_EQ(read[2].name, "x (" + second + ")");
  EXPECT_EQ(read[2].error, "it broke");
}

TEST_F(ExperimentsTest, ALogWithoutRowsHasNoExperiments) { EXPECT_TRUE(Read({Write("a.csv", "")}).empty()); }

TEST_F(ExperimentsTest, AFileIsLookedForWhereItIsNamedAndThenBesideItsNeighbour) {
  const std::string here = Write("here", "");
  EXPECT_EQ(FindBeside("here", folder_ / "log.csv"), here);
  EXPECT_EQ(FindBeside(here, "elsewhere/log.csv"), here);
  EXPECT_EQ(FindBeside("nowhere", folder_ / "log.csv"), "nowhere");
  // The working directory comes first, also where both have one.
  const std::string relative = std::filesystem::relative(here).string();
  EXPECT_EQ(FindBeside(relative, folder_ / "log.csv"), relative);
}

}  // namespace
}  // namespace afterimage
