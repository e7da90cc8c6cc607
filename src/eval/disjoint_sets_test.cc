#include "eval/disjoint_sets.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(DisjointSets, WhatIsJoinedIsTogetherWhateverTheOrder) {
  DisjointSets sets;
  sets.Join("a", "b");
  sets.Join("d", "c");
  EXPECT_TRUE(sets.Together("b", "a"));
  EXPECT_FALSE(sets.Together("a", "c"));
  sets.Join("e", "f");
  sets.Join("f", "b");
  sets.Join("c", "a");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    EXPECT_TRUE(sets.Together("d", name)) << name;
    EXPECT_EQ(sets.SetOf("d"), sets.SetOf(name)) << name;
  }
}

TEST(DisjointSets, ANameNotSeenBeforeIsWithItselfOnly) {
  DisjointSets sets;
  sets.Join("a", "a");
  EXPECT_TRUE(sets.Together("x", "x"));
  EXPECT_FALSE(sets.Together("x", "y"));
  EXPECT_FALSE(sets.Together("a", "x"));
  EXPECT_FALSE(sets.Together("x", "a"));
  EXPECT_TRUE(sets.SetOf("a").has_value());
  EXPECT_FALSE(sets.SetOf("x").has_value());
}

TEST(DisjointSets, SetsOfAnySizeStayApart) {
  DisjointSets sets;
  for (int i = 0; i < 1000; ++i) sets.Join(std::to_string(i), std::to_string(i + 2));
  EXPECT_TRUE(sets.Together("0", "1000"));
  EXPECT_TRUE(sets.Together("1", "1001"));
  EXPECT_FALSE(sets.Together("0", "1001"));
}

}  // namespace
}  // namespace afterimage
