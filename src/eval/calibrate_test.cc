#include "eval/calibrate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

ScoredPair Agree(double score, bool admitted = true) { return {score, true, admitted}; }
ScoredPair Not(double score, bool admitted = true) { return {score, false, admitted}; }

TEST(ShareOf, HasItsInterval) {
  const Share some = ShareOf(5, 50);
  EXPECT_DOUBLE_EQ(some.value(), 0.1);
  EXPECT_NEAR(some.interval.low, 0.0435, 5e-5);
  EXPECT_NEAR(some.interval.high, 0.2136, 5e-5);
  EXPECT_EQ(ShareOf(0, 0).value(), 0);
}

TEST(PointAt, AScoreEqualToTheThresholdIsTaken) {
  const ScoredPair pairs[] = {Agree(0.8), Not(0.8), Not(0.7999)};
  const OperatingPoint point = PointAt(pairs, Measure::kCosine, false, 0.8);
  EXPECT_EQ(point.kept.part, 1u);
  EXPECT_EQ(point.false_hits.part, 1u);
  EXPECT_EQ(point.false_hits.whole, 2u);
}

TEST(PointAt, OfDifferencesTheSmallAreTaken) {
  const ScoredPair pairs[] = {Agree(2.2), Agree(2.3), Not(0), Not(9)};
  const OperatingPoint point = PointAt(pairs, Measure::kDifference, false, 2.2);
  EXPECT_EQ(point.kept.part, 1u);
  EXPECT_EQ(point.false_hits.part, 1u);
}

TEST(LoosestPoint, SeparablePairsAreSeparatedJustAboveTheHighestWrongOne) {
  const ScoredPair pairs[] = {Agree(0.95), Agree(0.9), Not(0.612), Not(0.3)};
  const std::optional<OperatingPoint> point = LoosestPoint(pairs, Measure::kCosine, false, 0);
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->threshold, 0.613);  // to the bit what "0.613" is read as
  EXPECT_EQ(point->false_hits.part, 0u);
  EXPECT_EQ(point->kept.part, 2u);
}

TEST(LoosestPoint, TheWantedShareIsAllowed) {
  std::vector<ScoredPair> pairs = {Agree(0.5)};
  for (int i = 0; i < 100; ++i) pairs.push_back(Not(0.0041 * i));  // 0 to 0.4018 and 0.4059
  EXPECT_EQ(LoosestPoint(pairs, Measure::kCosine, false, 0)->threshold, 0.406);
  const std::optional<OperatingPoint> one = LoosestPoint(pairs, Measure::kCosine, false, 0.01);
  EXPECT_EQ(one->threshold, 0.402);
  EXPECT_EQ(one->false_hits.part, 1u);
}

TEST(LoosestPoint, TiesPassTogetherOrNotAtAll) {
  std::vector<ScoredPair> pairs = {Agree(0.95)};
  for (int i = 0; i < 10; ++i) pairs.push_back(Not(0.9));
  for (int i = 0; i < 10; ++i) pairs.push_back(Not(0.1));
  const std::optional<OperatingPoint> some = LoosestPoint(pairs, Measure::kCosine, false, 0.45);
  EXPECT_EQ(some->threshold, 0.901);
  EXPECT_EQ(some->false_hits.part, 0u);
  EXPECT_EQ(LoosestPoint(pairs, Measure::kCosine, false, 0.5)->threshold, 0.101);
}

TEST(LoosestPoint, WhereAllMayPassTheLoosestThresholdOfAllIsTaken) {
  const ScoredPair pairs[] = {Agree(0.5), Not(0.6)};
  EXPECT_EQ(LoosestPoint(pairs, Measure::kCosine, false, 1)->threshold, -1);
  EXPECT_EQ(LoosestPoint(pairs, Measure::kDifference, false, 1)->threshold, 255);
}

TEST(LoosestPoint, WrongPairsThatAreEqualCannotBeSeparated) {
  const ScoredPair cosines[] = {Agree(1), Not(1)};
  EXPECT_FALSE(LoosestPoint(cosines, Measure::kCosine, false, 0.01).has_value());
  const ScoredPair differences[] = {Agree(0), Not(0)};
  EXPECT_FALSE(LoosestPoint(differences, Measure::kDifference, false, 0.01).has_value());
}

TEST(LoosestPoint, WithoutWrongPairsNothingIsKnown) {
  const ScoredPair pairs[] = {Agree(0.9)};
  EXPECT_FALSE(LoosestPoint(pairs, Measure::kCosine, false, 0.01).has_value());
  EXPECT_FALSE(LoosestPoint({}, Measure::kCosine, false, 0.01).has_value());
}

TEST(LoosestPoint, WithoutRightPairsNothingIsKept) {
  const ScoredPair pairs[] = {Not(0.75)};
  const std::optional<OperatingPoint> point = LoosestPoint(pairs, Measure::kCosine, false, 0);
  EXPECT_EQ(point->threshold, 0.751);
  EXPECT_EQ(point->kept.whole, 0u);
  EXPECT_EQ(point->kept.interval.high, 1);
}

TEST(LoosestPoint, OfDifferencesTheLargestThatIsSafeIsTaken) {
  const ScoredPair pairs[] = {Agree(0.5), Agree(2.9), Not(3.05), Not(40)};
  const std::optional<OperatingPoint> point = LoosestPoint(pairs, Measure::kDifference, false, 0);
  EXPECT_EQ(point->threshold, 3.0);
  EXPECT_EQ(point->kept.part, 2u);
}

TEST(LoosestPoint, WhatTheGatesRefuseIsNoFalseHitAndNotKept) {
  const ScoredPair pairs[] = {Agree(0.95), Agree(0.9, false), Not(0.93, false), Not(0.5)};
  EXPECT_EQ(LoosestPoint(pairs, Measure::kCosine, false, 0)->threshold, 0.931);
  const std::optional<OperatingPoint> gated = LoosestPoint(pairs, Measure::kCosine, true, 0);
  EXPECT_EQ(gated->threshold, 0.501);
  EXPECT_EQ(gated->kept.part, 1u);
  EXPECT_EQ(gated->kept.whole, 2u);
}

CalibrationInput Texts() {
  return {.layer = "semantic_text",
          .gates = "text guard",
          .pairs = {Agree(0.95), Agree(0.7), Not(0.93, false), Not(0.5)},
          .comparisons = 3};
}

TEST(Calibrate, ALayerWithoutWrongPairsSaysSo) {
  CalibrationInput input = Texts();
  input.pairs = {Agree(0.9), Agree(0.8)};
  const Calibration calibration = Calibrate(input, 0.01);
  EXPECT_FALSE(calibration.why_not.empty());
  EXPECT_FALSE(calibration.alone.has_value());
  EXPECT_EQ(calibration.must_agree, 2u);
  EXPECT_NE(CalibrationText(calibration).find("cannot be calibrated: no pair"), std::string::npos);
  EXPECT_TRUE(CalibrationJson(calibration)["alone"].is_null());
  EXPECT_TRUE(CalibrationJson(calibration)["why_not"].is_string());
}

TEST(Calibrate, TheTradeOffGoesFromLooseToStrict) {
  const Calibration calibration = Calibrate(Texts(), 0);
  ASSERT_FALSE(calibration.trade_off.empty());
  EXPECT_EQ(calibration.trade_off.front().threshold, 0.5);
  EXPECT_EQ(calibration.trade_off.front().false_hits.part, 2u);
  EXPECT_EQ(calibration.gated_trade_off.front().false_hits.part, 1u);
  EXPECT_EQ(calibration.trade_off.back().kept.part, 0u);
  EXPECT_EQ(calibration.gated_trade_off.size(), calibration.trade_off.size());
}

TEST(Calibrate, WithoutGatesThereIsOneAnswer) {
  CalibrationInput input = Texts();
  input.gates.clear();
  const Calibration calibration = Calibrate(input, 0);
  EXPECT_TRUE(calibration.alone.has_value());
  EXPECT_FALSE(calibration.gated.has_value());
  EXPECT_TRUE(calibration.gated_trade_off.empty());
  EXPECT_EQ(CalibrationText(calibration).find("with "), std::string::npos);
}

TEST(CalibrationText, TellsThresholdsWithTheirIntervals) {
  const std::string text = CalibrationText(Calibrate(Texts(), 0));
  EXPECT_TRUE(text.starts_with(R"(semantic_text: 2 pairs must agree, 2 must not be confused; 3 different comparisons
  alone                    at least 0.931: false hits 0.0 % of 2 (95 %: 0.0 to 65.8 %)
                           kept 50.0 % of 2 (95 %: 9.5 to 90.5 %)
  with the text guard      at least 0.501: false hits 0.0 % of 2 (95 %: 0.0 to 65.8 %)
                           kept 100.0 % of 2 (95 %: 34.2 to 100.0 %)

  threshold  false hits     kept with gates: false hits     kept
      0.500     100.0 %  100.0 %                 50.0 %  100.0 %
)")) << text;
}

TEST(CalibrationText, SaysWhereNoThresholdWillDo) {
  CalibrationInput input = Texts();
  input.pairs = {Agree(1), Not(1, false)};
  const std::string text = CalibrationText(Calibrate(input, 0));
  EXPECT_NE(text.find("alone                    even the strictest threshold has too many false hits"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("with the text guard      at least -1.000"), std::string::npos) << text;
}

TEST(CalibrationJson, HasSharesWithTheirIntervals) {
  const Json json = CalibrationJson(Calibrate(Texts(), 0));
  EXPECT_EQ(json["layer"], "semantic_text");
  EXPECT_EQ(json["measure"], "cosine");
  EXPECT_EQ(json["gates"], "text guard");
  EXPECT_EQ(json["alone"]["threshold"], 0.931);
  EXPECT_EQ(json["alone"]["kept"]["part"], 1);
  EXPECT_EQ(json["alone"]["kept"]["share"], 0.5);
  EXPECT_EQ(json["gated"]["threshold"], 0.501);
  EXPECT_EQ(json["trade_off"][0]["threshold"], 0.5);
}

}  // namespace
}  // namespace afterimage
