#include "data/json_records.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class JsonRecordsTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<RecordReader>> Open(const std::string& text, JsonFile kind) {
    std::ofstream(folder_ / "file.json", std::ios::binary) << text;
    return NewJsonRecords(folder_ / "file.json", kind);
  }
  // "id=text" of every record; where reading ends with an error, that last.
  std::vector<std::string> ReadAll(const std::string& text, JsonFile kind = JsonFile::kObject) {
    Result<std::unique_ptr<RecordReader>> records = Open(text, kind);
    if (!records.ok()) return {ErrcName(records.error().code)};
    std::vector<std::string> all;
    for (;;) {
      const Result<std::optional<Record>> next = (*records)->Next();
      if (!next.ok()) {
        all.emplace_back(ErrcName(next.error().code));
        if (next.error().code != Errc::kInvalidArgument) return all;
      } else if (next->has_value()) {
        all.push_back((*next)->id + "=" + (*next)->text);
      } else {
        return all;
      }
    }
  }

  TemporaryFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(JsonRecordsTest, MembersComeInTheOrderOfTheFileAsTheyAreWritten) {
  EXPECT_EQ(ReadAll("{\"07\": {\"a\": [1, {}]},\n \"01\" :{}}\n"), (Texts{"07={\"a\": [1, {}]}", "01={}"}));
  EXPECT_EQ(ReadAll("[{\"a\": 1} , {}]", JsonFile::kList), (Texts{"1={\"a\": 1}", "2={}"}));
  EXPECT_EQ(ReadAll("\xEF\xBB\xBF [ ] ", JsonFile::kList), Texts{});
  EXPECT_EQ(ReadAll("{}"), Texts{});
}

TEST_F(JsonRecordsTest, BracketsCommasAndQuotesWithinATextEndNothing) {
  EXPECT_EQ(ReadAll(R"({"a}\"": {"q": "]},{\\\"", "r": "\\"}, "b": {}})"),
            (Texts{R"(a}"={"q": "]},{\\\"", "r": "\\"})", "b={}"}));
}

TEST_F(JsonRecordsTest, WhatIsNoObjectIsARecordToo) {
  EXPECT_EQ(ReadAll(R"([1,null , "x]",[2]])", JsonFile::kList), (Texts{"1=1", "2=null", "3=\"x]\"", "4=[2]"}));
}

TEST_F(JsonRecordsTest, AFileOfAnotherKindIsRefused) {
  for (const char* text : {"", " ", "3", "[]", "x{}"}) EXPECT_EQ(ReadAll(text), Texts{"corrupt"}) << text;
  EXPECT_EQ(ReadAll("{}", JsonFile::kList), Texts{"corrupt"});
}

TEST_F(JsonRecordsTest, AFileThatWasCutShortEndsInAnErrorWhereverItWasCut) {
  const std::string whole = R"({"1": {"q": "a\"b"}, "2": [3, 4], "5": 6})";
  ASSERT_EQ(ReadAll(whole).size(), 3u);
  for (size_t size = 0; size < whole.size(); ++size) {
    const Texts all = ReadAll(whole.substr(0, size));
    ASSERT_FALSE(all.empty()) << size;
    EXPECT_EQ(all.back(), "corrupt") << size;
  }
}

TEST_F(JsonRecordsTest, WhatStandsBetweenMembersIsChecked) {
  for (const char* text : {R"({"1": {} "2": {}})", R"({"1": {},})", R"({,"1": {}})", R"({"1" {}})", R"({1: {}})",
                           R"({"1": {}} x)", R"({"1": })", R"({"1": {}])"}) {
    EXPECT_EQ(ReadAll(text).back(), "corrupt") << text;
  }
}

TEST_F(JsonRecordsTest, AnEndlessMemberIsPassedOver) {
  const std::string endless(kMaxRecordBytes, 'x');
  EXPECT_EQ(ReadAll("{\"1\": \"" + endless + "\", \"2\": {}}"), (Texts{"invalid argument", "2={}"}));
}

TEST_F(JsonRecordsTest, EveryRecordIsFoundAgainAtItsPlace) {
  std::unique_ptr<RecordReader> records =
      Open("{\"a\": {\"x\": 1},\n \"b\": 2, \"c\": [3]}", JsonFile::kObject).value();
  std::vector<RecordReader::Place> places;
  std::vector<std::string> ids;
  for (;;) {
    places.push_back(records->place());
    const std::optional<Record> record = records->Next().value();
    if (!record.has_value()) break;
    ids.push_back(record->id + record->text);
  }
  ASSERT_EQ(ids.size(), 3u);
  for (size_t i = ids.size(); i-- > 0;) {
    ASSERT_TRUE(records->GoTo(places[i]).ok());
    const std::optional<Record> record = records->Next().value();
    EXPECT_EQ(record->id + record->text, ids[i]);
  }
  ASSERT_TRUE(records->GoTo(places[3]).ok());
  EXPECT_FALSE(records->Next().value().has_value());
}

}  // namespace
}  // namespace afterimage
