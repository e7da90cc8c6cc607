#include "core/byte_size.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(ParseByteSize, UnderstandsUnits) {
  EXPECT_EQ(*ParseByteSize("0"), 0u);
  EXPECT_EQ(*ParseByteSize("4096"), 4096u);
  EXPECT_EQ(*ParseByteSize("4096B"), 4096u);
  EXPECT_EQ(*ParseByteSize("2GB"), 2'000'000'000u);
  EXPECT_EQ(*ParseByteSize("2 gb"), 2'000'000'000u);
  EXPECT_EQ(*ParseByteSize("1.5k"), 1500u);
  EXPECT_EQ(*ParseByteSize("1MiB"), 1u << 20);
  EXPECT_EQ(*ParseByteSize("1TiB"), uint64_t{1} << 40);
}

TEST(ParseByteSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "GB", "-1", "-1GB", "1XB", "1GBs", "1e30", "nan", "inf", "1 G B", "0x10"}) {
    EXPECT_FALSE(ParseByteSize(text).ok()) << text;
  }
}

TEST(FormatByteSize, KeepsThreeOrFourDigits) {
  EXPECT_EQ(FormatByteSize(0), "0 B");
  EXPECT_EQ(FormatByteSize(999), "999 B");
  EXPECT_EQ(FormatByteSize(1234), "1.2 KB");
  EXPECT_EQ(FormatByteSize(999'949), "999.9 KB");
  EXPECT_EQ(FormatByteSize(999'999), "1.0 MB");
  EXPECT_EQ(FormatByteSize(2'345'678'901), "2.35 GB");
}

}  // namespace
}  // namespace afterimage
