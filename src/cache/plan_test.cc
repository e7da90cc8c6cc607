#include "cache/plan.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

constexpr double kMegabyte = 1e6;

// Text 1 ms a token, pictures 2 ms a token and 100 ms to encode, 1 ms a megabyte from memory and 50 from disk.
Rates TestRates() {
  Rates rates;
  const auto line = [&](const char* key, double slope) {
    for (int i = 0; i < 3; ++i) {
      rates.Learn(key, 1, slope);
      rates.Learn(key, 1000, 1000 * slope);
    }
  };
  line("prefill.text", 1);
  line("prefill.image", 2);
  line("inject", 0.001);
  line("load.memory", 1 / kMegabyte);
  line("load.disk", 50 / kMegabyte);
  for (int i = 0; i < 3; ++i) rates.Learn("encode", 64, 100);
  return rates;
}

struct Held {
  double megabytes = 0;  // 0: not held
  const char* tier = "memory";
};

SegmentState MakeSegment(Segment::Kind kind, int n_tokens, Held kv = {}, Held fusion = {}) {
  SegmentState segment;
  segment.kind = kind;
  segment.n_tokens = n_tokens;
  const auto info = [&](const Held& held) -> std::optional<ChunkInfo> {
    if (held.megabytes == 0) return std::nullopt;
    ChunkInfo chunk;
    chunk.n_tokens = n_tokens;
    chunk.file_bytes = static_cast<uint64_t>(held.megabytes * kMegabyte);
    chunk.logits_bytes = n_tokens == 1 ? 4096 : 0;
    chunk.tier = held.tier;
    return chunk;
  };
  segment.kv = info(kv);
  segment.fusion = info(fusion);
  return segment;
}

constexpr auto kText = Segment::Kind::kText;
constexpr auto kImage = Segment::Kind::kImage;

// 4 text tokens, a picture of 64, 20 text tokens, the last one; the first `n_held` of them held.
Option MakeOption(size_t n_held, Held kv = {0.5}, Held fusion = {}, ReuseClass reuse_class = ReuseClass::kExact) {
  Option option;
  option.reuse_class = reuse_class;
  const auto held = [&](size_t i) { return i < n_held ? kv : Held{}; };
  option.state.segments = {MakeSegment(kText, 4, held(0)), MakeSegment(kImage, 64, held(1), fusion),
                           MakeSegment(kText, 20, held(2)), MakeSegment(kText, 1, held(3))};
  return option;
}

Plan Best(const std::vector<Option>& options, const PlanPolicy& policy = {}) {
  return Decide(options, TestRates(), policy).front();
}

TEST(Decide, NothingStoredIsComputedCold) {
  const Plan plan = Best({MakeOption(0)});
  EXPECT_EQ(plan.n_segments, 0u);
  EXPECT_TRUE(plan.fusion.empty());
  EXPECT_EQ(plan.reuse_class, ReuseClass::kCold);
  EXPECT_NEAR(plan.predicted.ms, 25 + 2 * 64 + 100, 0.1);
  EXPECT_TRUE(plan.predicted.measured);
}

TEST(Decide, APredictionWithAGuessInItSaysSo) {
  EXPECT_FALSE(Decide(std::vector{MakeOption(0)}, Rates(), {}).front().predicted.measured);
}

TEST(Decide, AWholePromptIsPutBackWhole) {
  Option option = MakeOption(4);
  option.equal_donor = true;
  const std::vector<Plan> plans = Decide(std::vector{option}, TestRates(), {});
  EXPECT_EQ(plans.front().n_segments, 4u);
  EXPECT_EQ(plans.front().reuse_class, ReuseClass::kExact);
  EXPECT_NEAR(plans.front().predicted.ms, 2 + 0.089, 0.01);
  EXPECT_EQ(plans.back().n_segments, 0u) << "computing everything is weighed too";
}

TEST(Decide, ALeafWithoutLogitsIsComputed) {
  Option option = MakeOption(4);
  option.equal_donor = true;
  option.state.segments[3].kv->logits_bytes = 0;
  EXPECT_EQ(Best({option}).n_segments, 3u);
}

TEST(Decide, ANewQuestionOnAStoredPictureComputesItsOwnTokens) {
  const Plan plan = Best({MakeOption(2)});
  EXPECT_EQ(plan.n_segments, 2u);
  EXPECT_EQ(plan.reuse_class, ReuseClass::kExact);
  EXPECT_NEAR(plan.predicted.ms, 1 + 0.068 + 21, 0.01);
}

TEST(Decide, AHoleInTheChainEndsIt) {
  Option option = MakeOption(4);
  option.state.segments[1].kv.reset();
  EXPECT_EQ(AllowedSegments(option, {.min_prefix_tokens = 1}), 1u);
}

TEST(Decide, AShortPrefixWithoutAPictureIsNone) {
  EXPECT_EQ(Best({MakeOption(1)}, {.min_prefix_tokens = 5}).n_segments, 0u);
  EXPECT_EQ(Best({MakeOption(1)}, {.min_prefix_tokens = 4}).n_segments, 1u);
}

TEST(Decide, WithoutThePrefixLayerOnlyAnEqualDonorsWholePromptIsPutBack) {
  const PlanPolicy policy = {.prefix_layer = false};
  EXPECT_EQ(Best({MakeOption(2)}, policy).n_segments, 0u);
  EXPECT_EQ(Best({MakeOption(4)}, policy).n_segments, 0u);
  Option option = MakeOption(4);
  option.equal_donor = true;
  EXPECT_EQ(Best({option}, policy).n_segments, 4u);
  option = MakeOption(2);
  option.equal_donor = true;
  EXPECT_EQ(Best({option}, policy).n_segments, 0u) << "what is left of it is a prefix";
}

TEST(Decide, EncoderOutputIsLoadedWhereThePictureMustBeComputedOver) {
  const Plan plan = Best({MakeOption(0, {}, {1})});
  EXPECT_EQ(plan.fusion, std::vector<size_t>{1});
  EXPECT_EQ(plan.reuse_class, ReuseClass::kEncoder);
  EXPECT_NEAR(plan.predicted.ms, 25 + 2 * 64 + 1, 0.1);
  EXPECT_TRUE(Best({MakeOption(2, {1}, {1})}).fusion.empty()) << "its rows are put back already";
  EXPECT_TRUE(Best({MakeOption(0, {}, {1})}, {.fusion_layer = false}).fusion.empty());
}

TEST(Decide, LoadingThatTakesLongerThanComputingIsPassedOver) {
  // 2 x 10 MB from a slow disk take 1000 ms, computing them 232 ms.
  const std::vector<Plan> plans = Decide(std::vector{MakeOption(2, {10, "disk"})}, TestRates(), {});
  EXPECT_EQ(plans.front().n_segments, 0u);
  EXPECT_EQ(plans.front().reuse_class, ReuseClass::kCold);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[1].n_segments, 2u) << "and can be told";
  EXPECT_GT(plans[1].predicted.ms, plans[0].predicted.ms);
  EXPECT_TRUE(Best({MakeOption(0, {}, {10, "disk"})}).fusion.empty()) << "500 ms to load what takes 100 to encode";
}

TEST(Decide, OnlyTheSlowEndOfAChainIsPassedOver) {
  Option option = MakeOption(4);
  option.equal_donor = true;
  option.state.segments[2].kv->tier = "disk";
  option.state.segments[2].kv->file_bytes = 10'000'000;
  EXPECT_EQ(Best({option}).n_segments, 2u);
}

TEST(Decide, ASubstituteIsTakenOnlyIfItSavesEnough) {
  Option substitute = MakeOption(4, {1}, {}, ReuseClass::kNormalized);
  substitute.equal_donor = true;
  const std::vector<Option> options = {MakeOption(2), substitute};  // 22 ms against 4
  EXPECT_EQ(Best(options, {.min_gain = 0.5}).option, 1u);
  EXPECT_EQ(Best(options, {.min_gain = 0.5}).reuse_class, ReuseClass::kNormalized);
  EXPECT_EQ(Best(options, {.min_gain = 0.9}).option, 0u);
}

TEST(Decide, ASubstituteOfWhichNothingIsStoredIsNotWeighed) {
  const std::vector<Plan> plans =
      Decide(std::vector{MakeOption(0), MakeOption(0, {}, {}, ReuseClass::kApproximate)}, TestRates(), {.min_gain = 0});
  for (const Plan& plan : plans) EXPECT_EQ(plan.option, 0u);
}

TEST(Decide, TheFastestOfSeveralSubstitutesIsTaken) {
  Option slow = MakeOption(4, {3}, {}, ReuseClass::kNormalized);
  Option fast = MakeOption(4, {1}, {}, ReuseClass::kNormalized);
  slow.equal_donor = fast.equal_donor = true;
  EXPECT_EQ(Best({MakeOption(0), slow, fast}).option, 2u);
}

}  // namespace
}  // namespace afterimage
