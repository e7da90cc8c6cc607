#include "eval/experiment_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "eval/csv.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

class ExperimentLogTest : public testing::TestWithParam<const char*> {
 protected:
  void Write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string Read() const {
    std::stringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  static void Add(ExperimentLog& log, const Json& row) {
    const Status status = log.Add(row);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/logs/log" + GetParam();
};

INSTANTIATE_TEST_SUITE_P(Formats, ExperimentLogTest, testing::Values(".csv", ".jsonl"));

TEST_P(ExperimentLogTest, WhatIsAddedIsRead) {
  const Json first = {{"name", "a, \"b\""}, {"layers", {"x", "y"}}, {"notes", "two\nlines"},
                      {"error", nullptr},   {"accuracy", 0.125},    {"oracle", true}};
  Json second = first;
  second["name"] = "12";
  second["accuracy"] = nullptr;
  {
    Result<ExperimentLog> log = ExperimentLog::Open(path_);
    ASSERT_TRUE(log.ok()) << log.error().message;
    Add(*log, first);
  }
  Result<ExperimentLog> log = ExperimentLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.error().message;
  Add(*log, second);
  EXPECT_EQ(log->finished(), (std::set<std::string>{"a, \"b\"", "12"}));
  const Result<std::vector<Json>> rows = ReadExperimentLog(path_);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(*rows, (std::vector<Json>{first, second}));
}

TEST_P(ExperimentLogTest, AnIncompleteLastLineIsNoRowAndIsCutOff) {
  {
    Result<ExperimentLog> log = ExperimentLog::Open(path_);
    Add(*log, {{"name", "a"}, {"n", 1}});
    Add(*log, {{"name", "b"}, {"n", 2}});
  }
  const std::string whole = Read();
  for (size_t cut = 1; cut <= 4; ++cut) {
    Write(whole.substr(0, whole.size() - cut));
    const Result<std::vector<Json>> rows = ReadExperimentLog(path_);
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    EXPECT_EQ(rows->size(), 1);
    Result<ExperimentLog> log = ExperimentLog::Open(path_);
    ASSERT_TRUE(log.ok()) << log.error().message;
    EXPECT_EQ(log->finished(), std::set<std::string>{"a"});
    Add(*log, {{"name", "b"}, {"n", 2}});
    EXPECT_EQ(Read(), whole);
  }
}

TEST_P(ExperimentLogTest, AFailedExperimentIsNotFinishedUntilItsLastRowHasNoError) {
  Result<ExperimentLog> log = ExperimentLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.error().message;
  Add(*log, {{"name", "a"}, {"error", "no model"}});
  EXPECT_TRUE(log->finished().empty());
  Add(*log, {{"name", "a"}, {"error", nullptr}});
  EXPECT_EQ(log->finished(), std::set<std::string>{"a"});
}

TEST_P(ExperimentLogTest, ALineThatIsNoRowIsAnErrorThatNamesIt) {
  {
    ASSERT_TRUE(ExperimentLog::Open(path_).ok());
  }  // makes the folder
  Write("name,n\na,1\nb\n");
  const Result<std::vector<Json>> rows = ReadExperimentLog(path_);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, Errc::kCorrupt);
  EXPECT_NE(rows.error().message.find(path_ + (path_.ends_with("csv") ? ":3" : ":1")), std::string::npos)
      << rows.error().message;
  EXPECT_FALSE(ExperimentLog::Open(path_).ok());
}

TEST(ExperimentLogCsvTest, ANewColumnIsPutBesideTheOneItFollowsAndOtherCellsStayAsTheyWere) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log.csv";
  std::ofstream(path) << "name,notes,hits.a,z\nfirst,1.50,1,2\n";
  Result<ExperimentLog> log = ExperimentLog::Open(path);
  ASSERT_TRUE(log.ok()) << log.error().message;
  ASSERT_TRUE(log->Add({{"name", "second"}, {"hits.a", 3}, {"hits.b", 4}}).ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "name,notes,hits.a,hits.b,z\nfirst,1.50,1,,2\nsecond,,3,4,\n");
}

TEST(FlattenedTest, KeysAreJoinedByDotsAndListsStay) {
  EXPECT_EQ(Flattened({{"a", 1}, {"b", {{"c", {1, 2}}, {"d", {{"e", "x"}}}}}, {"f", Json::object()}}),
            (Json{{"a", 1}, {"b.c", {1, 2}}, {"b.d.e", "x"}}));
}

TEST(CsvTest, WhatIsWrittenIsRead) {
  const std::vector<std::vector<std::string>> lines = {
      {"a", "", "b c"}, {""}, {"\"", "x,y", "l\nm", "p\r\nq", "\"\"", "end\r"}, {"", ""}};
  std::string text;
  for (const std::vector<std::string>& line : lines) text += CsvLine(line);
  EXPECT_EQ(ParseCsv(text).lines, lines);
  EXPECT_EQ(ParseCsv(text).complete_bytes, text.size());
  EXPECT_EQ(ParseCsv("a,b\r\nc,\"d").lines, (std::vector<std::vector<std::string>>{{"a", "b"}}));
  EXPECT_EQ(ParseCsv("a,b\r\nc,\"d\n").complete_bytes, 5);
}

}  // namespace
}  // namespace afterimage
