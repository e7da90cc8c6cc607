// The promises of engine.h as tests, run over every engine: *reuse equals recompute*, and its controls.
//
// Include in one test file per engine and instantiate:
//   INSTANTIATE_TEST_SUITE_P(Fake, EngineContract, testing::Values(EngineCase{...}), EngineCaseName);
#ifndef AFTERIMAGE_TESTING_ENGINE_CONTRACT_H_
#define AFTERIMAGE_TESTING_ENGINE_CONTRACT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "afterimage/engine.h"
#include "testing/engine_runs.h"

namespace afterimage {

struct EngineCase {
  std::string name;
  bool vision = true;
  std::function<std::unique_ptr<Engine>(int max_sequences)> make;  // with a context of 1024 tokens
};

inline std::string EngineCaseName(const testing::TestParamInfo<EngineCase>& info) { return info.param.name; }
inline std::ostream& operator<<(std::ostream& out, const EngineCase& engine) { return out << engine.name; }

class EngineContract : public testing::TestWithParam<EngineCase> {
 protected:
  // A question about some pictures, or without them for a text model. A long preface makes several text segments.
  Request Question(const std::string& text, const std::vector<uint32_t>& pictures = {1}, bool preface = false) const {
    std::vector<std::shared_ptr<const Image>> images;
    if (GetParam().vision) {
      for (const uint32_t seed : pictures) images.push_back(NoisePicture(seed));
    }
    Request request = Ask(std::move(images), text);
    if (preface) {
      std::string words;
      for (int i = 0; i < 80; ++i) words += "rule " + std::to_string(i) + ", ";
      request.messages.insert(request.messages.begin(), Message{"system", {words}});
    }
    request.sampling.max_tokens = 8;
    return request;
  }

  // How many leading segments hold everything up to and with the last picture (or the preface of a text model).
  static size_t SharedSegments(Engine& engine, const Request& a, const Request& b) {
    const auto pa = engine.Prepare(a).value();
    const auto pb = engine.Prepare(b).value();
    size_t n = 0;
    while (n < pa->segments().size() && n < pb->segments().size() &&
           pa->segments()[n].content == pb->segments()[n].content) {
      ++n;
    }
    return n;
  }

  std::unique_ptr<Engine> engine_ = GetParam().make(4);
};

inline void ExpectEqualRuns(const Outcome& reused, const Outcome& cold) {
  EXPECT_TRUE(SameBits(reused.logits, cold.logits)) << "max |dlogit| " << MaxDifference(reused.logits, cold.logits);
  EXPECT_EQ(reused.answer.tokens, cold.answer.tokens);
  EXPECT_EQ(reused.answer.text, cold.answer.text);
  EXPECT_TRUE(reused.rows == cold.rows) << "captured rows differ";
}

TEST_P(EngineContract, AColdRunIsRepeatable) {
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome first = RunRequest(*engine_, request);
  ExpectEqualRuns(RunRequest(*engine_, request), first);
  EXPECT_EQ(first.stats.tokens_reused, 0);
  EXPECT_EQ(first.stats.tokens_computed, engine_->Prepare(request).value()->n_tokens());
}

TEST_P(EngineContract, AFullHitWithStoredLogitsEqualsTheColdRun) {
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome cold = RunRequest(*engine_, request);
  const Outcome hit = RunRequest(*engine_, request, {cold.rows, cold.logits, {}});
  ExpectEqualRuns(hit, cold);
  EXPECT_EQ(hit.stats.tokens_computed, 0);
  EXPECT_EQ(hit.stats.images_encoded, 0);
}

TEST_P(EngineContract, AFullHitThatComputesTheLastTokenEqualsTheColdRun) {
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  const Outcome hit = RunRequest(*engine_, request, {FirstOf(cold.rows, cold.rows.size() - 1), {}, {}});
  ExpectEqualRuns(hit, cold);
  EXPECT_EQ(hit.stats.tokens_computed, 1);
}

TEST_P(EngineContract, EveryPrefixHitEqualsTheColdRun) {
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome cold = RunRequest(*engine_, request);
  for (size_t n = 1; n < cold.rows.size(); ++n) {
    SCOPED_TRACE(n);
    ExpectEqualRuns(RunRequest(*engine_, request, {FirstOf(cold.rows, n), {}, {}}), cold);
  }
}

TEST_P(EngineContract, StepsAreTheComputedSegmentsAndAddUpToTheTimes) {
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome cold = RunRequest(*engine_, request);
  const Outcome hit = RunRequest(*engine_, request, {FirstOf(cold.rows, 1), {}, {}});
  for (const Outcome& run : {cold, hit}) {
    const size_t first = run.stats.tokens_reused == 0 ? 0 : 1;
    ASSERT_EQ(run.stats.steps.size(), cold.rows.size() - first);
    double encode_ms = 0;
    double prefill_ms = 0;
    for (size_t i = 0; i < run.stats.steps.size(); ++i) {
      EXPECT_EQ(run.stats.steps[i].segment, i + first);
      encode_ms += run.stats.steps[i].encode_ms;
      prefill_ms += run.stats.steps[i].prefill_ms;
    }
    EXPECT_NEAR(encode_ms, run.stats.encode_ms, 1e-6);
    EXPECT_NEAR(prefill_ms, run.stats.prefill_ms, 1e-6);
  }
}

TEST_P(EngineContract, ANewQuestionOnAStoredPictureEqualsItsColdRun) {
  const Request asked = Question("What is on the left?", {1}, true);
  const Request fresh = Question("Is there a tree behind the house?", {1}, true);
  const size_t shared = SharedSegments(*engine_, asked, fresh);
  ASSERT_GE(shared, GetParam().vision ? 3u : 2u);
  const Outcome donor = RunRequest(*engine_, asked);
  const Outcome cold = RunRequest(*engine_, fresh);
  const Outcome hit = RunRequest(*engine_, fresh, {FirstOf(donor.rows, shared), {}, {}});
  ExpectEqualRuns(hit, cold);
  EXPECT_EQ(hit.stats.images_encoded, 0);
  EXPECT_LT(hit.stats.tokens_computed, cold.stats.tokens_computed);
}

TEST_P(EngineContract, AChainComposedOfChunksFromSeveralRunsEqualsTheColdRun) {
  const Request request = Question("What is on the left?", {1}, true);
  const Request other = Question("Is there a tree behind the house?", {1}, true);
  const size_t shared = SharedSegments(*engine_, request, other);
  const Outcome cold = RunRequest(*engine_, request);
  // The shared beginning as another request computed it, the rest as this one did on a prefix hit.
  std::vector<Rows> chain = FirstOf(RunRequest(*engine_, other).rows, shared);
  const Outcome prefix_hit = RunRequest(*engine_, request, {FirstOf(cold.rows, 1), {}, {}});
  for (size_t i = shared; i + 1 < prefix_hit.rows.size(); ++i) chain.push_back(prefix_hit.rows[i]);
  ASSERT_GE(chain.size(), 3u);
  ExpectEqualRuns(RunRequest(*engine_, request, {chain, {}, {}}), cold);
}

TEST_P(EngineContract, EncoderOutputPutBackEqualsTheColdRun) {
  if (!GetParam().vision) GTEST_SKIP() << "a text model";
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  EXPECT_GE(cold.stats.images_encoded, 1);
  const Outcome hit = RunRequest(*engine_, request, {{}, {}, EncodeAll(*engine_, request)});
  ExpectEqualRuns(hit, cold);
  EXPECT_EQ(hit.stats.images_encoded, 0);
  EXPECT_EQ(hit.stats.images_put_back, cold.stats.images_encoded);
}

TEST_P(EngineContract, ASecondPictureAfterAReusedOneEqualsTheColdRun) {
  if (!GetParam().vision) GTEST_SKIP() << "a text model";
  const Request one = Question("Compare.", {1, 2});
  const Request two = Question("Compare.", {1, 3});
  const size_t shared = SharedSegments(*engine_, one, two);
  ASSERT_GE(shared, 2u);
  const Outcome donor = RunRequest(*engine_, one);
  const Outcome cold = RunRequest(*engine_, two);
  const Outcome hit = RunRequest(*engine_, two, {FirstOf(donor.rows, shared), {}, {}});
  ExpectEqualRuns(hit, cold);
  EXPECT_FALSE(SameBits(hit.logits, donor.logits));
}

TEST_P(EngineContract, BusyNeighboursChangeNothing) {
  const Request request = Question("What is on the left?", {1}, true);
  const Request neighbour = Question("Something else entirely, at some length", {5}, true);
  const Outcome cold = RunRequest(*engine_, request);
  const auto prompt_a = engine_->Prepare(neighbour).value();
  const auto prompt_b = engine_->Prepare(neighbour).value();
  const auto a = engine_->Start(*prompt_a).value();
  const auto b = engine_->Start(*prompt_b).value();
  ASSERT_TRUE(a->Prefill().ok());
  ASSERT_TRUE(b->Prefill().ok());
  ASSERT_TRUE(a->Generate(neighbour.sampling, nullptr).ok());
  ExpectEqualRuns(RunRequest(*engine_, request), cold);
  ExpectEqualRuns(RunRequest(*engine_, request, {FirstOf(cold.rows, 2), {}, {}}), cold);
  ExpectEqualRuns(RunRequest(*engine_, request, {cold.rows, cold.logits, {}}), cold);
}

TEST_P(EngineContract, WhatAnEarlierRequestLeftBehindChangesNothing) {
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  RunRequest(*engine_, Question("Something else entirely, at some length", {5}, true));
  ExpectEqualRuns(RunRequest(*engine_, request), cold);
  ExpectEqualRuns(RunRequest(*engine_, request, {FirstOf(cold.rows, 1), {}, {}}), cold);
}

TEST_P(EngineContract, AnotherInstanceTakesTheSameChunks) {
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  const std::unique_ptr<Engine> other = GetParam().make(2);
  EXPECT_EQ(other->info().identity.compatibility.digest(), engine_->info().identity.compatibility.digest());
  EXPECT_EQ(other->info().identity.numerics.digest(), engine_->info().identity.numerics.digest());
  ExpectEqualRuns(RunRequest(*other, request, {FirstOf(cold.rows, cold.rows.size() - 1), {}, {}}), cold);
}

TEST_P(EngineContract, ControlAZeroedChunkGivesOtherLogits) {
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  Reuse reuse{FirstOf(cold.rows, cold.rows.size() - 1), {}, {}};
  std::ranges::fill(reuse.rows[0], std::byte{0});
  EXPECT_FALSE(SameBits(RunRequest(*engine_, request, reuse).logits, cold.logits));
}

TEST_P(EngineContract, ControlAnotherPicturesChunkGivesOtherLogits) {
  if (!GetParam().vision) GTEST_SKIP() << "a text model";
  const Request request = Question("What is on the left?", {1});
  const Request swapped = Question("What is on the left?", {2});
  const Outcome cold = RunRequest(*engine_, request);
  const Outcome other = RunRequest(*engine_, swapped);
  const Outcome lie = RunRequest(*engine_, request, {FirstOf(other.rows, other.rows.size() - 1), {}, {}});
  EXPECT_FALSE(SameBits(lie.logits, cold.logits));
  EXPECT_TRUE(SameBits(lie.logits, other.logits));
  const Outcome fused = RunRequest(*engine_, request, {{}, {}, EncodeAll(*engine_, swapped)});
  EXPECT_FALSE(SameBits(fused.logits, cold.logits));
}

TEST_P(EngineContract, ControlAPicturesRowsOfOnePositionLaterGiveOtherLogits) {
  if (!GetParam().vision) GTEST_SKIP() << "a text model";
  Request request = Question("What is on the left?");
  Request shifted = request;
  request.messages.insert(request.messages.begin(), Message{"system", {"x"}});
  shifted.messages.insert(shifted.messages.begin(), Message{"system", {"x!"}});
  const auto prompt = engine_->Prepare(request).value();
  const auto shifted_prompt = engine_->Prepare(shifted).value();
  ASSERT_EQ(prompt->segments()[1].content, shifted_prompt->segments()[1].content);
  ASSERT_EQ(prompt->segments()[1].first_position + 1, shifted_prompt->segments()[1].first_position);
  const Outcome cold = RunRequest(*engine_, request);
  std::vector<Rows> rows = FirstOf(cold.rows, 2);
  ASSERT_TRUE(SameBits(RunRequest(*engine_, request, {rows, {}, {}}).logits, cold.logits));
  rows[1] = RunRequest(*engine_, shifted).rows[1];
  EXPECT_FALSE(SameBits(RunRequest(*engine_, request, {rows, {}, {}}).logits, cold.logits));
}

// A source that fails after it has written some bytes.
class FailingSource : public KvSource {
 public:
  explicit FailingSource(uint64_t size) : size_(size) {}
  uint64_t size() const override { return size_; }
  Status CopyTo(std::span<const std::span<std::byte>> parts) override {
    std::ranges::fill(parts[0], std::byte{0xFF});
    return Error{Errc::kCorrupt, "checksum"};
  }

 private:
  uint64_t size_;
};

TEST_P(EngineContract, ARefusedInjectionLeavesASequenceThatStillAnswersRight) {
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  const auto prompt = engine_->Prepare(request).value();
  const auto sequence = engine_->Start(*prompt).value();
  const auto inject = [&](std::vector<Rows> rows, std::vector<float> logits = {}) {
    std::vector<SpanKvSource> sources(rows.begin(), rows.end());
    std::vector<KvSource*> chunks;
    for (SpanKvSource& source : sources) chunks.push_back(&source);
    const Status status = sequence->Inject(chunks, logits);
    return status.ok() ? Errc::kInternal : status.error().code;
  };
  const std::vector<Rows> most = FirstOf(cold.rows, cold.rows.size() - 1);
  EXPECT_EQ(inject({}), Errc::kInvalidArgument);
  EXPECT_EQ(inject(cold.rows), Errc::kInvalidArgument) << "a whole prompt without logits";
  EXPECT_EQ(inject(cold.rows, {1.0f, 2.0f}), Errc::kInvalidArgument) << "too few logits";
  EXPECT_EQ(inject(most, cold.logits), Errc::kInvalidArgument) << "logits of a prefix";
  std::vector<Rows> too_many = cold.rows;
  too_many.push_back(cold.rows.back());
  EXPECT_EQ(inject(too_many, cold.logits), Errc::kInvalidArgument);
  for (const auto resize : {-1, 1}) {
    std::vector<Rows> wrong = most;
    wrong.back().resize(wrong.back().size() + static_cast<size_t>(resize));
    EXPECT_EQ(inject(wrong), Errc::kCorrupt);
  }
  EXPECT_EQ(inject({Rows{}}), Errc::kCorrupt);
  SpanKvSource good(most[0]);
  FailingSource bad(most.size() > 1 ? most[1].size() : most[0].size());
  std::vector<KvSource*> chunks = {&bad};
  if (most.size() > 1) chunks = {&good, &bad};
  EXPECT_EQ(sequence->Inject(chunks, {}).error().code, Errc::kCorrupt);

  ASSERT_TRUE(sequence->Prefill().ok());
  EXPECT_TRUE(SameBits(sequence->logits(), cold.logits));
  EXPECT_EQ(sequence->stats().tokens_reused, 0);
}

// Uses stored state that may be refused, as a cache would: what cannot be put back is computed.
inline void UseGarbage(Engine& engine, const Request& request, const Reuse& garbage) {
  const auto prompt = engine.Prepare(request).value();
  size_t picture = 0;
  for (size_t i = 0; i < prompt->segments().size() && picture < garbage.fusion.size(); ++i) {
    if (prompt->segments()[i].kind != Segment::Kind::kImage) continue;
    (void)engine.fusion().Inject(*prompt, i, garbage.fusion[picture++]);
  }
  const auto sequence = engine.Start(*prompt).value();
  std::vector<SpanKvSource> sources(garbage.rows.begin(), garbage.rows.end());
  std::vector<KvSource*> chunks;
  for (SpanKvSource& source : sources) chunks.push_back(&source);
  if (!chunks.empty()) (void)sequence->Inject(chunks, garbage.logits);
  if (sequence->Prefill().ok()) (void)sequence->Generate(request.sampling, nullptr);
}

TEST_P(EngineContract, GarbageInRowsHarmsNobodyElse) {
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome cold = RunRequest(*engine_, request);
  for (const int pattern :
       {0xFF, 0x7F, 0x7C, 0x7B, 0xFB}) {  // NaN, infinity and the largest numbers of the float types
    SCOPED_TRACE(pattern);
    Reuse garbage{FirstOf(cold.rows, cold.rows.size() - 1), {}, {}};
    for (Rows& rows : garbage.rows) std::ranges::fill(rows, static_cast<std::byte>(pattern));
    UseGarbage(*engine_, request, garbage);
    ExpectEqualRuns(RunRequest(*engine_, request), cold);  // in the same place of the context
  }
}

TEST_P(EngineContract, GarbageInEncoderOutputHarmsNobodyElse) {
  if (!GetParam().vision) GTEST_SKIP() << "a text model";
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome cold = RunRequest(*engine_, request);
  const std::vector<std::vector<NamedTensor>> good = EncodeAll(*engine_, request);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::max(), 1e20f, 0.0f}) {
    SCOPED_TRACE(value);
    Reuse garbage{{}, {}, good};
    for (std::vector<NamedTensor>& tensors : garbage.fusion) std::ranges::fill(tensors[0].values, value);
    UseGarbage(*engine_, request, garbage);
    ExpectEqualRuns(RunRequest(*engine_, request), cold);
  }
}

TEST_P(EngineContract, GarbageInLogitsHarmsNobody) {
  const Request request = Question("What is on the left?");
  const Outcome cold = RunRequest(*engine_, request);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::max(), 0.0f}) {
    const std::vector<float> logits(cold.logits.size(), value);
    Request sampled = request;
    UseGarbage(*engine_, sampled, {cold.rows, logits, {}});
    sampled.sampling.temperature = 0.7f;
    UseGarbage(*engine_, sampled, {cold.rows, logits, {}});
  }
  ExpectEqualRuns(RunRequest(*engine_, request), cold);
}

TEST_P(EngineContract, EncoderOutputOfAnotherShapeIsRefused) {
  if (!GetParam().vision) GTEST_SKIP() << "a text model";
  const Request request = Question("What is on the left?");
  std::vector<NamedTensor> tensors = EncodeAll(*engine_, request)[0];
  const auto prompt = engine_->Prepare(request).value();
  const auto picture = static_cast<size_t>(
      std::ranges::find(prompt->segments(), Segment::Kind::kImage, &Segment::kind) - prompt->segments().begin());
  const auto inject = [&](const std::vector<NamedTensor>& t, size_t segment) {
    const Status status = engine_->fusion().Inject(*prompt, segment, t);
    return status.ok() ? Errc::kInternal : status.error().code;
  };
  EXPECT_EQ(inject(tensors, prompt->segments().size()), Errc::kInvalidArgument);
  EXPECT_EQ(inject(tensors, prompt->segments().size() - 1), Errc::kInvalidArgument) << "text";
  EXPECT_EQ(inject({}, picture), Errc::kCorrupt);
  std::vector<NamedTensor> renamed = tensors;
  renamed[0].name += "x";
  EXPECT_EQ(inject(renamed, picture), Errc::kCorrupt);
  std::vector<NamedTensor> short_values = tensors;
  short_values[0].values.pop_back();
  EXPECT_EQ(inject(short_values, picture), Errc::kCorrupt);
  std::vector<NamedTensor> reshaped = tensors;
  reshaped[0].shape[0] += 1;
  EXPECT_EQ(inject(reshaped, picture), Errc::kCorrupt);
  std::vector<NamedTensor> two = tensors;
  two.push_back(tensors[0]);
  EXPECT_EQ(inject(two, picture), Errc::kCorrupt);
}

TEST_P(EngineContract, PlacesInTheContextAreCountedAndComeBack) {
  const auto prompt = engine_->Prepare(Question("?")).value();
  std::vector<std::unique_ptr<Sequence>> all;
  for (int i = 0; i < engine_->info().max_sequences; ++i) all.push_back(engine_->Start(*prompt).value());
  const auto one_more = engine_->Start(*prompt);
  ASSERT_FALSE(one_more.ok());
  EXPECT_EQ(one_more.error().code, Errc::kBusy);
  all.pop_back();
  EXPECT_TRUE(engine_->Start(*prompt).ok());
}

TEST_P(EngineContract, APromptOfAnotherEngineIsRefused) {
  const std::unique_ptr<Engine> other = GetParam().make(1);
  const auto prompt = other->Prepare(Question("?")).value();
  const auto sequence = engine_->Start(*prompt);
  ASSERT_FALSE(sequence.ok());
  EXPECT_EQ(sequence.error().code, Errc::kInvalidArgument);
  if (!GetParam().vision) return;
  const auto picture = static_cast<size_t>(
      std::ranges::find(prompt->segments(), Segment::Kind::kImage, &Segment::kind) - prompt->segments().begin());
  EXPECT_TRUE(other->fusion().Capture(*prompt, picture).ok());
  const auto captured = engine_->fusion().Capture(*prompt, picture);
  ASSERT_FALSE(captured.ok());
  EXPECT_EQ(captured.error().code, Errc::kInvalidArgument);
}

TEST_P(EngineContract, WhatWasNotPrefilledIsNeitherCapturedNorGenerated) {
  const auto prompt = engine_->Prepare(Question("?")).value();
  const auto sequence = engine_->Start(*prompt).value();
  EXPECT_FALSE(sequence->Generate({}, nullptr).ok());
  EXPECT_FALSE(sequence->Capture(0, 1).ok());
  ASSERT_TRUE(sequence->Prefill().ok());
  EXPECT_FALSE(sequence->Capture(0, 0).ok());
  EXPECT_FALSE(sequence->Capture(0, prompt->segments().size() + 1).ok());
  EXPECT_FALSE(sequence->Capture(prompt->segments().size(), 1).ok());
  EXPECT_FALSE(sequence->Capture(SIZE_MAX, 1).ok());
  EXPECT_FALSE(sequence->Capture(1, SIZE_MAX).ok());
  EXPECT_TRUE(sequence->Capture(prompt->segments().size() - 1, 1).ok());
}

TEST_P(EngineContract, APromptOverTheContextIsTooLarge) {
  const auto prompt = engine_->Prepare(Question(std::string(5000, '?')));
  ASSERT_FALSE(prompt.ok());
  EXPECT_EQ(prompt.error().code, Errc::kTooLarge);
}

TEST_P(EngineContract, AnAnswerEndsWhereItIsToldTo) {
  Request request = Question("What is on the left?");
  request.sampling.max_tokens = 1;
  const Outcome one = RunRequest(*engine_, request);
  ASSERT_EQ(one.answer.tokens.size(), 1u);
  EXPECT_EQ(one.answer.finish, Answer::Finish::kMaxTokens);
  request.sampling.stop_tokens = {one.answer.tokens[0]};
  const Outcome stopped = RunRequest(*engine_, request);
  EXPECT_EQ(stopped.answer.finish, Answer::Finish::kStop);
  EXPECT_TRUE(stopped.answer.tokens.empty());
}

TEST_P(EngineContract, AnAnswerEndsWhereTheContextDoes) {
  // A prompt that leaves room for a handful of tokens.
  Request request = Question("?");
  std::string filler;
  std::unique_ptr<Prompt> prompt;
  for (int n = 16; n >= 1; n /= 2) {
    for (;;) {
      const std::string longer = filler + std::string(static_cast<size_t>(n), 'q');
      auto next = engine_->Prepare(Question(longer));
      if (!next.ok() || (*next)->n_tokens() > engine_->info().context_tokens - 4) break;
      filler = longer;
      prompt = std::move(*next);
    }
  }
  ASSERT_NE(prompt, nullptr);
  request = Question(filler);
  request.sampling.max_tokens = 50;
  const Outcome run = RunRequest(*engine_, request);
  if (run.answer.finish == Answer::Finish::kStop) GTEST_SKIP() << "the model stopped by itself";
  EXPECT_EQ(run.answer.finish, Answer::Finish::kContextFull);
  EXPECT_EQ(prompt->n_tokens() + static_cast<int>(run.answer.tokens.size()), engine_->info().context_tokens + 1);
}

TEST_P(EngineContract, StreamedPiecesAreTheAnswerAndCanCancelIt) {
  const Request request = Question("What is on the left?");
  const Outcome whole = RunRequest(*engine_, request);
  const auto prompt = engine_->Prepare(request).value();
  {
    const auto sequence = engine_->Start(*prompt).value();
    ASSERT_TRUE(sequence->Prefill().ok());
    std::string streamed;
    const auto answer = sequence->Generate(request.sampling, [&](std::string_view piece) {
      streamed += piece;
      return true;
    });
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(streamed, answer->text);
    EXPECT_EQ(answer->text, whole.answer.text);
  }
  const auto sequence = engine_->Start(*prompt).value();
  ASSERT_TRUE(sequence->Prefill().ok());
  const auto answer = sequence->Generate(request.sampling, [](std::string_view) { return false; });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->finish, Answer::Finish::kCancelled);
  EXPECT_LE(answer->tokens.size(), whole.answer.tokens.size());
}

TEST_P(EngineContract, SamplingIsRepeatedByItsSeedAlsoOnAHit) {
  Request request = Question("What is on the left?");
  request.sampling.temperature = 20.0f;
  request.sampling.top_p = 1;
  request.sampling.max_tokens = 16;
  const Outcome cold = RunRequest(*engine_, request);
  ExpectEqualRuns(RunRequest(*engine_, request), cold);
  ExpectEqualRuns(RunRequest(*engine_, request, {cold.rows, cold.logits, {}}), cold);
  bool differs = false;
  for (uint32_t seed = 100; seed < 110 && !differs; ++seed) {
    request.sampling.seed = seed;
    differs = RunRequest(*engine_, request).answer.tokens != cold.answer.tokens;
  }
  EXPECT_TRUE(differs);
}

TEST_P(EngineContract, SequencesMayBeUsedFromSeveralThreads) {
  const Request request = Question("What is on the left?", {1}, true);
  const Outcome cold = RunRequest(*engine_, request);
  std::vector<Outcome> runs(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < runs.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 3; ++repeat) {
        runs[i] = RunRequest(*engine_, request, i == 0 ? Reuse{} : Reuse{FirstOf(cold.rows, i), {}, {}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& run : runs) ExpectEqualRuns(run, cold);
}

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_ENGINE_CONTRACT_H_
