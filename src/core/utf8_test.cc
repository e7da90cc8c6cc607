#include "core/utf8.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

std::string ByteByByte(std::string_view bytes) {
  Utf8Stream stream;
  std::string out;
  for (const char byte : bytes) out += stream.Push(std::string_view(&byte, 1));
  return out + stream.Finish();
}

TEST(Utf8StreamTest, CharactersSplitBetweenPiecesComeOutWhole) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";
  EXPECT_EQ(ByteByByte(text), text);
  Utf8Stream stream;
  EXPECT_EQ(stream.Push("\xE2\x82"), "");
  EXPECT_EQ(stream.Push("\xAC!"), "\u20ac!");
}

TEST(Utf8StreamTest, BytesThatAreNoCharacterAreReplaced) {
  const std::string bad = "\uFFFD";
  EXPECT_EQ(ByteByByte("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(ByteByByte("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(ByteByByte("\xE2\x82z"), bad + "z");                     // broken off
  EXPECT_EQ(ByteByByte("\xED\xA0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(ByteByByte("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // over U+10FFFF
}

TEST(Utf8StreamTest, ValidityIsOfTheWholeText) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("a\u00e9\u20ac\U0001F600"));
  EXPECT_FALSE(IsValidUtf8("a\xFF"));
  EXPECT_FALSE(IsValidUtf8("a\xE2\x82"));
}

TEST(Utf8StreamTest, AnUnfinishedCharacterIsReplacedAtTheEnd) { EXPECT_EQ(ByteByByte("a\xE2\x82"), "a\uFFFD"); }

TEST(FirstCharacters, NeverCutsOne) {
  EXPECT_EQ(FirstCharacters("aäb", 2), "aä");
  EXPECT_EQ(FirstCharacters("aäb", 3), "aäb");
  EXPECT_EQ(FirstCharacters("aäb", 9), "aäb");
  EXPECT_EQ(FirstCharacters("äb", 1), "ä");
  EXPECT_EQ(FirstCharacters("ab", 0), "");
  EXPECT_EQ(FirstCharacters("", 3), "");
}

}  // namespace
}  // namespace afterimage
