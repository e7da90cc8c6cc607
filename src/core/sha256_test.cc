#include "core/sha256.h"

#include <gtest/gtest.h>

#include <vector>

namespace afterimage {
namespace {

TEST(Sha256Test, RawBytesGiveTheStandardDigest) {
  const std::string_view abc = "abc";
  const Digest digest = Sha256().AddRaw(std::as_bytes(std::span(abc))).Finish();
  EXPECT_EQ(digest.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest.Short(), "ba7816bf8f01");
}

TEST(Sha256Test, MovingBytesBetweenPartsChangesTheDigest) {
  EXPECT_NE(Sha256().Add("ab").Add("c").Finish(), Sha256().Add("a").Add("bc").Finish());
  EXPECT_NE(Sha256().Add("ab").Finish(), Sha256().Add("ab").Add("").Finish());
}

TEST(Sha256Test, HexIsReadBackAndNothingElseIs) {
  const Digest digest = Sha256().Add(7).Finish();
  EXPECT_EQ(DigestFromHex(digest.Hex()), digest);
  EXPECT_EQ(DigestFromHex(digest.Hex().substr(1)), std::nullopt);
  EXPECT_EQ(DigestFromHex(std::string(64, 'g')), std::nullopt);
}

}  // namespace
}  // namespace afterimage
