#include "core/bytes.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(BytesTest, FieldsAreReadBackInOrder) {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.Write<uint32_t>(7);
  writer.Write<int64_t>(-2);
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Read<uint32_t>(), 7u);
  EXPECT_EQ(reader.Read<int64_t>(), -2);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(BytesTest, AFieldThatDoesNotFitMakesTheReaderFailForGood) {
  const std::vector<std::byte> bytes(6);
  ByteReader reader(bytes);
  reader.Read<uint32_t>();
  EXPECT_EQ(reader.Read<uint32_t>(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.Read<uint8_t>(), 0u);  // two bytes are left, but the record is broken
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(ByteReader(bytes).Take(UINT64_MAX).empty());
}

}  // namespace
}  // namespace afterimage
