#include "core/normalized_text.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(NormalizedText, LosesCaseAndWhiteSpaceAndNothingElse) {
  EXPECT_EQ(NormalizedText("  What\tIS\r\n it? "), "what is it?");
  EXPECT_EQ(NormalizedText("what is it"), "what is it");
  EXPECT_EQ(NormalizedText(""), "");
  EXPECT_EQ(NormalizedText(" \n\t"), "");
  EXPECT_NE(NormalizedText("is it red?"), NormalizedText("is it red"));
  EXPECT_NE(NormalizedText("is it"), NormalizedText("isit"));
}

TEST(NormalizedText, LeavesLettersOutsideAsciiAlone) {
  EXPECT_EQ(NormalizedText("ÄB \xC2\xA0 x"), "Äb \xC2\xA0 x");
  EXPECT_EQ(NormalizedText("[`{@"), "[`{@");
}

}  // namespace
}  // namespace afterimage
