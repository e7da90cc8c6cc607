#include "layers/donor_record.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(DonorRecord, ComesBackAsItWas) {
  const DonorRecord record = {{"07", "What \"is\" it?\n", {"a.png", "b c.jpg"}}, "text", "key"};
  EXPECT_EQ(DecodeDonor(EncodeDonor(record)), record);
}

TEST(DonorRecord, WhatIsNoSuchRecordIsNone) {
  for (const char* payload : {"", "x", "{}", "[]", "null", R"({"id": 1})",
                              R"({"id":"","question":"","chunk_text":"","text":"","image_paths":[1]})"}) {
    EXPECT_FALSE(DecodeDonor(payload).has_value()) << payload;
  }
}

}  // namespace
}  // namespace afterimage
