#include "layers/donor_record.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(DonorRecord, ComesBackAsItWas) {
  const DonorRecord record = {{"07", "What \"is\" it?\n", {"a.png", "b c.jpg"}}, "text", "key", {{3, 4}, {5, 6}}};
  EXPECT_EQ(DecodeDonor(EncodeDonor(record)), record);
}

TEST(DonorRecord, WhatIsNoSuchRecordIsNone) {
  for (const char* payload : {"", "x", "{}", "[]", "null", R"({"id": 1})",
                              R"({"id":"","question":"","chunk_text":"","text":"","image_paths":[1],"image_sizes":[]})",
                              R"({"id":"","question":"","chunk_text":"","text":"","image_paths":[],"image_sizes":[1]})",
                              R"({"id":"","question":"","chunk_text":"","text":"","image_paths":[]})"}) {
    EXPECT_FALSE(DecodeDonor(payload).has_value()) << payload;
  }
}

}  // namespace
}  // namespace afterimage
