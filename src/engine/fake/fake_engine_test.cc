#include "engine/fake/fake_engine.h"

#include <gtest/gtest.h>

#include "testing/engine_contract.h"

namespace afterimage {
namespace {

ManualClock shared_clock;

INSTANTIATE_TEST_SUITE_P(Fake, EngineContract,
                         testing::Values(EngineCase{"fake", true,
                                                    [](int max_sequences) {
                                                      FakeOptions options;
                                                      options.max_sequences = max_sequences;
                                                      return NewFakeEngine(options, shared_clock);
                                                    }}),
                         EngineCaseName);

TEST(FakeEngineTest, TimesAreTheProgrammedOnes) {
  ManualClock clock;
  FakeOptions options;
  options.costs = {
      .encode_ms_per_image = 70, .prefill_ms_per_token = 2, .inject_ms_per_token = 0.5, .decode_ms_per_token = 3};
  const std::unique_ptr<Engine> engine = NewFakeEngine(options, clock);
  Request request = Ask({NoisePicture(1)}, "Why?");
  request.sampling.max_tokens = 2;
  const Outcome cold = RunRequest(*engine, request);
  EXPECT_DOUBLE_EQ(cold.stats.encode_ms, 70);
  EXPECT_DOUBLE_EQ(cold.stats.prefill_ms, 2 * cold.stats.tokens_computed);
  EXPECT_DOUBLE_EQ(cold.stats.decode_ms, 3 * cold.stats.tokens_generated);
  const Outcome hit = RunRequest(*engine, request, {FirstOf(cold.rows, 2), {}, {}});
  EXPECT_DOUBLE_EQ(hit.stats.encode_ms, 0);
  EXPECT_DOUBLE_EQ(hit.stats.inject_ms, 0.5 * hit.stats.tokens_reused);
}

TEST(FakeEngineTest, OtherWeightsAreAnotherIdentity) {
  ManualClock clock;
  const auto a = NewFakeEngine({.weights = "a"}, clock);
  const auto b = NewFakeEngine({.weights = "b"}, clock);
  EXPECT_NE(a->info().identity.compatibility.digest(), b->info().identity.compatibility.digest());
}

}  // namespace
}  // namespace afterimage
