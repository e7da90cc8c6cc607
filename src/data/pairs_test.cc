#include "data/pairs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

class PairsTest : public ::testing::Test {
 protected:
  // "a kind+ b" of every pair that must agree, "a kind- b" of the others; where reading ends with an error, its message
  // from the line number on.
  std::string ReadAll(const std::string& text) {
    std::ofstream(folder_ / "p.jsonl", std::ios::binary) << text;
    Result<PairsFile> pairs = PairsFile::Open(folder_ / "p.jsonl");
    if (!pairs.ok()) return pairs.error().message;
    std::string all;
    for (;;) {
      const Result<std::optional<Pair>> next = pairs->Next();
      if (!next.ok()) {
        EXPECT_EQ(next.error().code, Errc::kInvalidArgument);
        EXPECT_TRUE(next.error().message.starts_with(folder_ / "p.jsonl:")) << next.error().message;
        return all + next.error().message.substr((folder_ / "p.jsonl").size());
      }
      if (!next->has_value()) return all;
      const Pair& pair = **next;
      all += pair.a + " " + pair.kind + (pair.must_agree ? "+ " : "- ") + pair.b + "\n";
      last_where_ = pair.where;
    }
  }

  TemporaryFolder folder_;
  std::string last_where_;
};

TEST_F(PairsTest, EveryLineIsAPair) {
  EXPECT_EQ(ReadAll("{\"a\": \"1\", \"b\": \"2\", \"kind\": \"motion\", \"must_agree\": true}\n\n"
                    "{\"b\": 4, \"a\": \"3\", \"must_agree\": false}\r\n"),
            "1 motion+ 2\n3 - 4\n");
  EXPECT_EQ(last_where_, folder_ / "p.jsonl:3") << "the blank line is counted";
  EXPECT_EQ(ReadAll(""), "");
}

TEST_F(PairsTest, ALineThatIsNoPairIsNamedByItsNumber) {
  const std::string good = "{\"a\": \"1\", \"b\": \"2\", \"must_agree\": true}\n";
  const auto complaint = [&](const std::string& line) { return ReadAll(good + line + "\n" + good); };
  const std::string before = "1 + 2\n";
  EXPECT_EQ(complaint("{\"a\": "), before + ":2: not valid JSON (at byte 7)");
  EXPECT_EQ(complaint("[1, 2]"), before + ":2: not a JSON object; every record must be one");
  EXPECT_EQ(complaint("\xFF"), before + ":2: not valid UTF-8");
  EXPECT_EQ(complaint(R"({"a": "1", "must_agree": true})"), before + ":2: a pair needs \"a\" and \"b\"");
  EXPECT_EQ(complaint(R"({"b": "1", "must_agree": true})"), before + ":2: a pair needs \"a\" and \"b\"");
  EXPECT_EQ(complaint(R"({"a": "1", "b": "2"})"), before + ":2: there is no \"must_agree\"");
  EXPECT_EQ(complaint(R"({"a": "1", "b": "2", "must_agree": "yes"})"),
            before + ":2: \"must_agree\" must be true or false");
  EXPECT_EQ(complaint(R"({"a": ["1"], "b": "2", "must_agree": true})"), before + ":2: \"a\" must be a text");
}

TEST_F(PairsTest, AFileThatIsNotThereIsNotFound) {
  const Result<PairsFile> pairs = PairsFile::Open(folder_ / "none.jsonl");
  ASSERT_FALSE(pairs.ok());
  EXPECT_EQ(pairs.error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace afterimage
