// Where results are *not* the same to the bit, and by how much: the exceptions that docs/architecture.md names. Each
// test prints what it measured; it fails only if a difference is more than rounding, or if a case that must be exact
// is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>

#include "engine/llama/llama_prompt.h"
#include "engine/llama/llama_sequence.h"
#include "engine/llama/llama_test_models.h"
#include "engine/llama/plain_run.h"
#include "testing/engine_runs.h"

namespace afterimage {
namespace {

constexpr double kMostThatIsRounding = 1.0;  // logits have a standard deviation of 3

// A picture between a preface of rules and a question. llama.cpp attends over the context in steps of 256 cells and
// takes other ways from 512 cells on, so short prompts and long ones are measured apart.
Request Question(uint32_t picture, int n_rules, const std::string& text) {
  std::string preface;
  for (int i = 0; i < n_rules; ++i) preface += "rule " + std::to_string(i) + ", ";
  Request request = Ask({NoisePicture(picture, 96, 64)}, text);
  request.messages.insert(request.messages.begin(), Message{"system", {preface}});
  request.sampling.max_tokens = 1;
  return request;
}

size_t Greedy(std::span<const float> logits) {
  return static_cast<size_t>(std::ranges::max_element(logits) - logits.begin());
}

struct NumericsCase {
  std::string shape;
  std::vector<int> n_rules;  // of the prompts that are measured
  int least_tokens = 0;
  int most_tokens = 0;
};

std::ostream& operator<<(std::ostream& out, const NumericsCase& numerics) { return out << numerics.shape; }

class Numerics : public testing::TestWithParam<NumericsCase> {
 protected:
  std::unique_ptr<Engine> MakeEngine(int threads) const {
    LlamaOptions options = TestOptions(GetParam().shape);
    options.threads = threads;
    return NewLlamaEngine(options).value();
  }

  std::vector<Request> Requests() const {
    std::vector<Request> requests;
    for (const int n : GetParam().n_rules) requests.push_back(Question(1, n, "What is on the left?"));
    return requests;
  }

  // Keeps the largest difference; fails if it is more than rounding or changes the greedy token.
  static void Compare(std::span<const float> a, std::span<const float> b, double& largest) {
    const double difference = MaxDifference(a, b);
    EXPECT_LT(difference, kMostThatIsRounding);
    EXPECT_EQ(Greedy(a), Greedy(b));
    largest = std::max(largest, difference);
  }

  void Report(const std::string& what, double measured) const {
    const std::string prompts =
        std::to_string(GetParam().least_tokens) + " to " + std::to_string(GetParam().most_tokens) + " tokens";
    std::cout << GetParam().shape << ", " << prompts << ": " << what << ": " << measured << "\n";
    RecordProperty(what, std::to_string(measured));
  }
};

INSTANTIATE_TEST_SUITE_P(Llama, Numerics,
                         testing::Values(NumericsCase{"tiny-internvl", {0, 16}, 30, 255},
                                         NumericsCase{"tiny-internvl", {33, 50}, 257, 500},
                                         NumericsCase{"tiny-qwen3vl", {0, 16}, 30, 255},
                                         NumericsCase{"tiny-qwen3vl", {33, 50}, 257, 500}),
                         [](const testing::TestParamInfo<NumericsCase>& numerics) {
                           return std::string(numerics.param.shape == "tiny-internvl" ? "InternVl" : "Qwen3Vl") +
                                  (numerics.param.most_tokens < 256 ? "Short" : "Long");
                         });

TEST_P(Numerics, PromptsAreOfTheLengthsTheyAreReportedWith) {
  const auto engine = MakeEngine(1);
  for (const Request& request : Requests()) {
    const int n_tokens = engine->Prepare(request).value()->n_tokens();
    EXPECT_GE(n_tokens, GetParam().least_tokens);
    EXPECT_LE(n_tokens, GetParam().most_tokens);
  }
}

TEST_P(Numerics, AnotherNumberOfThreadsIsOtherRoundingComputedOrPutBack) {
  const auto one = MakeEngine(1);
  const auto two = MakeEngine(2);
  double computed = 0;
  double put_back = 0;
  size_t n_segments = 0;
  size_t n_other = 0;
  for (const Request& request : Requests()) {
    const Outcome donor = RunRequest(*one, request);
    const Outcome cold = RunRequest(*two, request);
    EXPECT_TRUE(SameBits(RunRequest(*one, request).logits, donor.logits));
    EXPECT_TRUE(SameBits(RunRequest(*two, request).logits, cold.logits));
    Compare(donor.logits, cold.logits, computed);
    n_segments += donor.rows.size();
    for (size_t i = 0; i < donor.rows.size(); ++i) n_other += donor.rows[i] != cold.rows[i] ? 1 : 0;
    for (const size_t n : {donor.rows.size() / 2, donor.rows.size() - 1}) {
      Compare(RunRequest(*two, request, {FirstOf(donor.rows, n), {}, {}}).logits, cold.logits, put_back);
    }
    // Nothing is computed, so nothing is rounded anew.
    const Outcome whole = RunRequest(*two, request, {donor.rows, donor.logits, {}});
    EXPECT_TRUE(SameBits(whole.logits, donor.logits));
    EXPECT_TRUE(whole.rows == donor.rows);
  }
  Report("max |dlogit| of 1 thread and 2 threads", computed);
  Report("max |dlogit| of rows of 1 thread put back into an engine of 2, and its own", put_back);
  Report("segments whose rows differ between 1 thread and 2, of " + std::to_string(n_segments),
         static_cast<double>(n_other));
}

TEST_P(Numerics, WholeTextRunsInOneBatchAreOtherRounding) {
  const auto engine = MakeEngine(1);
  double largest = 0;
  for (const Request& request : Requests()) {
    const auto prompt = engine->Prepare(request).value();
    const Result<PlainRun> plain = RunPlain(*prompt);
    const Result<PlainRun> again = RunPlain(*prompt);
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE(SameBits(again->logits, plain->logits));
    Compare(plain->logits, RunRequest(*engine, request).logits, largest);
  }
  Report("max |dlogit| of whole text runs and canonical steps", largest);
}

// Two sequences of one context, prefilled in canonical steps, with their next token still to come.
class TwoSequences {
 public:
  TwoSequences(const std::string& shape, int n_rules) {
    LlamaOptions options = TestOptions(shape);
    options.max_sequences = 3;
    runtime_ = LlamaRuntime::Load(options).value();
    const std::array<Request, 2> requests = {Question(1, n_rules, "What is on the left?"),
                                             Question(2, n_rules, "Is there a tree behind the house?")};
    for (size_t i = 0; i < 2; ++i) {
      prompts_[i] = LlamaPrompt::Make(*runtime_, requests[i], "", {}).value();
      const llama_seq_id id = runtime_->TakeSequence().value();
      EXPECT_EQ(id, static_cast<llama_seq_id>(i));
      sequences_[i] = std::make_unique<LlamaSequence>(*runtime_, *prompts_[i], id, SteadyClock());
      EXPECT_TRUE(sequences_[i]->Prefill().ok());
      next_[i] = static_cast<llama_token>(Greedy(sequences_[i]->logits()));
    }
  }

  // The logits after each of the sequences' next tokens, decoded in batches of both or one by one. The tokens are the
  // same in either case: the first is the greedy one, the others are fixed. [n_steps, 2]
  std::vector<std::array<std::vector<float>, 2>> Decode(bool together, int n_steps) {
    std::vector<std::array<std::vector<float>, 2>> all;
    for (int step = 0; step < n_steps; ++step) {
      std::array<std::vector<float>, 2>& logits = all.emplace_back();
      const auto token = [&](size_t i) { return step == 0 ? next_[i] : static_cast<llama_token>(40 + step); };
      const auto position = [&](size_t i) { return prompts_[i]->n_positions() + step; };
      if (together) {
        DecodeBatch({token(0), token(1)}, {position(0), position(1)}, logits);
        continue;
      }
      for (size_t i = 0; i < 2; ++i) {
        const llama_token one = token(i);
        EXPECT_TRUE(runtime_->DecodeText(static_cast<llama_seq_id>(i), {&one, 1}, position(i), &logits[i]).ok());
      }
    }
    return all;
  }

 private:
  void DecodeBatch(std::array<llama_token, 2> tokens, std::array<llama_pos, 2> positions,
                   std::array<std::vector<float>, 2>& logits) {
    auto* context = const_cast<llama_context*>(runtime_->context());  // the runtime decodes one sequence at a time
    std::array<llama_seq_id, 2> ids = {0, 1};
    std::array<llama_seq_id*, 2> id_lists = {&ids[0], &ids[1]};
    std::array<int32_t, 2> n_ids = {1, 1};
    std::array<int8_t, 2> outputs = {1, 1};
    const llama_batch batch{.n_tokens = 2,
                            .token = tokens.data(),
                            .embd = nullptr,
                            .pos = positions.data(),
                            .n_seq_id = n_ids.data(),
                            .seq_id = id_lists.data(),
                            .logits = outputs.data()};
    ASSERT_EQ(llama_decode(context, batch), 0);
    for (int32_t i = 0; i < 2; ++i) {
      const float* out = llama_get_logits_ith(context, i);
      logits[static_cast<size_t>(i)].assign(out, out + runtime_->vocab_size());
    }
  }

  std::unique_ptr<LlamaRuntime> runtime_;
  std::array<std::unique_ptr<LlamaPrompt>, 2> prompts_;
  std::array<std::unique_ptr<LlamaSequence>, 2> sequences_;
  std::array<llama_token, 2> next_{};
};

TEST_P(Numerics, TwoSequencesInOneBatchAreOtherRounding) {
  constexpr size_t kSteps = 8;
  double first = 0;
  double last = 0;
  for (const int n_rules : GetParam().n_rules) {
    const auto alone = TwoSequences(GetParam().shape, n_rules).Decode(false, kSteps);
    const auto again = TwoSequences(GetParam().shape, n_rules).Decode(false, kSteps);
    const auto together = TwoSequences(GetParam().shape, n_rules).Decode(true, kSteps);
    EXPECT_TRUE(again == alone);
    for (size_t i = 0; i < 2; ++i) {
      Compare(together[0][i], alone[0][i], first);
      Compare(together[kSteps - 1][i], alone[kSteps - 1][i], last);
    }
  }
  Report("max |dlogit| of two sequences in one batch and alone, first token", first);
  Report("max |dlogit| of two sequences in one batch and alone, eighth token", last);
}

}  // namespace
}  // namespace afterimage
