#include "cache/rates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

TEST(Rates, ARateNobodyMeasuredIsAGuessAndSaysSo) {
  const Rates rates;
  for (const char* key : {"prefill.text", "prefill.image", "encode", "load.disk", "load.memory", "inject"}) {
    EXPECT_FALSE(rates.Predict(key, 10).measured) << key;
    EXPECT_GT(rates.Predict(key, 10).ms, 0) << key;
  }
}

TEST(Rates, ALineIsFoundFromTwoSizes) {
  Rates rates;
  for (int i = 0; i < 10; ++i) {
    rates.Learn("prefill.text", 1, 2 + 0.5 * 1);
    rates.Learn("prefill.text", 40, 2 + 0.5 * 40);
  }
  EXPECT_TRUE(rates.Predict("prefill.text", 20).measured);
  EXPECT_NEAR(rates.Predict("prefill.text", 20).ms, 12, 1e-6);
}

TEST(Rates, OneSizeAloneGivesALineThroughZero) {
  Rates rates;
  for (int i = 0; i < 3; ++i) rates.Learn("encode", 64, 32);
  EXPECT_NEAR(rates.Predict("encode", 64).ms, 32, 1e-9);
  EXPECT_NEAR(rates.Predict("encode", 128).ms, 64, 1e-9);
}

TEST(Rates, ALineNeverFallsAndNeverStartsBelowZero) {
  Rates rates;
  for (int i = 0; i < 5; ++i) {
    rates.Learn("a", 1, 10);
    rates.Learn("a", 100, 1);
    rates.Learn("b", 10, 1);
    rates.Learn("b", 100, 100);
  }
  EXPECT_LE(rates.Predict("a", 1).ms, rates.Predict("a", 100).ms);
  EXPECT_GE(rates.Predict("b", 0).ms, 0);
}

TEST(Rates, OneStallDoesNotSpoilThePrediction) {
  Rates rates;
  for (int i = 0; i < 20; ++i) rates.Learn("encode", 64, 30);
  rates.Learn("encode", 64, 3000);
  EXPECT_LT(rates.Predict("encode", 64).ms, 60);
}

TEST(Rates, AMachineThatBecameSlowerIsBelievedAfterAWhile) {
  Rates rates;
  for (int i = 0; i < 20; ++i) rates.Learn("load.disk", 1e6, 1);
  for (int i = 0; i < 60; ++i) rates.Learn("load.disk", 1e6, 100);
  EXPECT_NEAR(rates.Predict("load.disk", 1e6).ms, 100, 10);
}

TEST(Rates, WhatWasSavedPredictsTheSameAndOthersRatesAreNotTaken) {
  Rates rates;
  rates.Learn("encode", 64, 30);
  rates.Learn("inject", 10, 1);
  std::vector<Rate> saved = rates.Save("me/");
  for (Rate& rate : Rates(saved, "me/").Save("you/")) {
    rate.y *= 100;
    saved.push_back(rate);
  }
  const Rates again(saved, "me/");
  EXPECT_TRUE(again.Predict("encode", 64).measured);
  EXPECT_EQ(again.Predict("encode", 64).ms, rates.Predict("encode", 64).ms);
  EXPECT_FALSE(Rates(saved, "somebody/").Predict("encode", 64).measured);
}

TEST(Rates, SavedNumbersThatNoMeasurementGivesAreNotTaken) {
  const Rates rates(
      std::vector<Rate>{{"encode", 0, 1, 1, 1, 1}, {"inject", 1, 1, -5, 1, 1}, {"load.disk", 1, 1, 1, 1, NAN}}, "");
  for (const char* key : {"encode", "inject", "load.disk"}) EXPECT_FALSE(rates.Predict(key, 1).measured) << key;
}

TEST(Rates, FrozenRatesComeFromAFileAndDoNotLearn) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/rates.json";
  std::ofstream(path) << R"({"rates": {"t/m/n/encode": {"n": 1, "x": 64, "y": 32, "xx": 4096, "xy": 2048},
                                       "encode": {"n": 1, "x": 64, "y": 64, "xx": 4096, "xy": 4096}}})";
  Rates mine = Rates::ReadFrozen(path, "t/m/n/").value();
  EXPECT_NEAR(mine.Predict("encode", 64).ms, 32, 1e-9);
  EXPECT_NEAR(Rates::ReadFrozen(path, "other/").value().Predict("encode", 64).ms, 64, 1e-9);
  mine.Learn("encode", 64, 1);
  EXPECT_NEAR(mine.Predict("encode", 64).ms, 32, 1e-9);
}

TEST(Rates, AFileThatHoldsNoRatesIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/rates.json";
  EXPECT_EQ(Rates::ReadFrozen(path, "").error().code, Errc::kNotFound);
  for (const char* text :
       {"", "{}", "[]", R"({"rates": {}})", R"({"rates": {"encode": 3}})", R"({"rates": {"encode": {"n": "many"}}})",
        R"({"rates": {"x/y": {"n":1,"x":1,"y":1,"xx":1,"xy":1}}})"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(Rates::ReadFrozen(path, "p/").error().code, Errc::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace afterimage
