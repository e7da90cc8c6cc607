// What is not cached, and that it is answered all the same: on models that really are so.
#include "engine/llama/cache_refusal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "engine/llama/llama_test_models.h"
#include "engine/llama/random_model_internal.h"
#include "testing/engine_runs.h"

namespace afterimage {
namespace {

TEST(CacheRefusal, PlainAttentionIsCached) { EXPECT_EQ(CacheRefusal({}), ""); }

TEST(CacheRefusal, EveryPlainTypeOfRowsIsCached) {
  for (const char* k_type : {"f16", "bf16", "f32"}) {
    for (const char* v_type : {"f16", "bf16", "f32"}) {
      ModelTraits traits;
      traits.k_type = k_type;
      traits.v_type = v_type;
      EXPECT_EQ(CacheRefusal(traits), "") << k_type << "/" << v_type;
    }
  }
}

TEST(CacheRefusal, EachTraitAloneRefusesAndNamesItsReason) {
  const std::vector<std::pair<std::string, std::function<void(ModelTraits&)>>> cases = {
      {"is recurrent", [](ModelTraits& t) { t.recurrent = true; }},
      {"mixes attention with recurrent", [](ModelTraits& t) { t.hybrid = true; }},
      {"diffusion", [](ModelTraits& t) { t.diffusion = true; }},
      {"sliding window of 1 tokens", [](ModelTraits& t) { t.sliding_window = 1; }},
      {"sliding window of 4096 tokens", [](ModelTraits& t) { t.sliding_window = 4096; }},
      {"LoRA", [](ModelTraits& t) { t.lora = true; }},
      {"K/V type q8_0", [](ModelTraits& t) { t.k_type = "q8_0"; }},
      {"K/V type q4_0", [](ModelTraits& t) { t.v_type = "q4_0"; }},
      {"K/V type iq4_nl", [](ModelTraits& t) { t.k_type = t.v_type = "iq4_nl"; }},
      {"K/V type :", [](ModelTraits& t) { t.v_type = ""; }},
      {"without flash attention", [](ModelTraits& t) { t.flash_attention = false; }},
  };
  std::set<std::string> sentences;
  for (const auto& [words, change] : cases) {
    ModelTraits traits;
    change(traits);
    const std::string refusal = CacheRefusal(traits);
    EXPECT_NE(refusal.find(words), std::string::npos) << "'" << refusal << "' does not say '" << words << "'";
    EXPECT_TRUE(sentences.insert(refusal).second) << "twice: " << refusal;
  }
}

// An engine that does not cache says so everywhere, and answers.
void ExpectAnswersUncached(Engine& engine, const std::string& reason) {
  const EngineInfo& info = engine.info();
  EXPECT_NE(info.cache_refusal.find(reason), std::string::npos) << "'" << info.cache_refusal << "'";
  EXPECT_TRUE(info.kv.layers.empty());

  Request request = Ask({}, "What is on the left?");
  if (info.vision) request = Ask({NoisePicture(1)}, "What is on the left?");
  request.sampling.max_tokens = 6;
  request.sampling.temperature = 1;  // greedy could stop at once
  const auto prompt = engine.Prepare(request).value();
  const auto sequence = engine.Start(*prompt).value();
  const std::vector<std::byte> rows(static_cast<size_t>(prompt->segments()[0].n_tokens) * 1536);
  SpanKvSource source(rows);
  KvSource* const chunk = &source;
  const Status injected = sequence->Inject({&chunk, 1}, {});
  ASSERT_FALSE(injected.ok());
  EXPECT_EQ(injected.error().code, Errc::kUnsupported);
  EXPECT_EQ(injected.error().message, info.cache_refusal);

  const Status prefilled = sequence->Prefill();
  ASSERT_TRUE(prefilled.ok()) << prefilled.error().message;
  ASSERT_EQ(sequence->logits().size(), static_cast<size_t>(info.vocab_size));
  for (const float logit : sequence->logits()) ASSERT_TRUE(std::isfinite(logit));
  EXPECT_EQ(sequence->stats().tokens_computed, prompt->n_tokens());
  const auto captured = sequence->Capture(0, prompt->segments().size());
  ASSERT_FALSE(captured.ok());
  EXPECT_EQ(captured.error().code, Errc::kUnsupported);
  EXPECT_EQ(captured.error().message, info.cache_refusal);
  const auto answer = sequence->Generate(request.sampling, nullptr);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_GT(answer->tokens.size(), 0u);
}

std::vector<float> ColdLogits(Engine& engine) {
  const auto prompt = engine.Prepare(Ask({}, "What is on the left?")).value();
  const auto sequence = engine.Start(*prompt).value();
  const Status status = sequence->Prefill();
  EXPECT_TRUE(status.ok());
  return {sequence->logits().begin(), sequence->logits().end()};
}

class UncachedTypes : public testing::TestWithParam<std::pair<const char*, const char*>> {};

INSTANTIATE_TEST_SUITE_P(CacheRefusal, UncachedTypes,
                         testing::Values(std::pair{"q8_0", "f16"}, std::pair{"f16", "q8_0"}, std::pair{"q8_0", "q8_0"},
                                         std::pair{"q4_0", "q4_0"}));

TEST_P(UncachedTypes, AreAnswered) {
  for (const char* shape : {"tiny-internvl", "tiny-qwen3vl"}) {
    LlamaOptions options = TestOptions(shape);
    options.k_type = GetParam().first;
    options.v_type = GetParam().second;
    const auto engine = NewLlamaEngine(options);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    ExpectAnswersUncached(**engine,
                          std::string("K/V type ") + (options.k_type == "f16" ? GetParam().second : GetParam().first));
  }
}

class CachedTypes : public testing::TestWithParam<std::pair<const char*, const char*>> {};

INSTANTIATE_TEST_SUITE_P(CacheRefusal, CachedTypes,
                         testing::Values(std::pair{"f32", "f32"}, std::pair{"bf16", "bf16"}, std::pair{"f16", "f32"},
                                         std::pair{"f32", "f16"}));

TEST_P(CachedTypes, AreReusedToTheBit) {
  for (const char* shape : {"tiny-internvl", "tiny-qwen3vl"}) {
    SCOPED_TRACE(shape);
    LlamaOptions options = TestOptions(shape);
    options.k_type = GetParam().first;
    options.v_type = GetParam().second;
    const auto engine = NewLlamaEngine(options);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    EXPECT_EQ((*engine)->info().cache_refusal, "");
    ASSERT_EQ((*engine)->info().kv.layers.size(), 3u);
    for (const KvLayout::Layer& layer : (*engine)->info().kv.layers) {
      EXPECT_EQ(layer.k_type, GetParam().first);
      EXPECT_EQ(layer.v_type, GetParam().second);
      EXPECT_EQ(layer.k_row_bytes, layer.k_type == "f32" ? 512u : 256u);
      EXPECT_EQ(layer.v_row_bytes, layer.v_type == "f32" ? 512u : 256u);
    }
    Request request = Ask({NoisePicture(1)}, "What is on the left?");
    request.sampling.max_tokens = 8;
    const Outcome cold = RunRequest(**engine, request);
    for (size_t n = 1; n < cold.rows.size(); ++n) {
      const Outcome hit = RunRequest(**engine, request, {FirstOf(cold.rows, n), {}, {}});
      EXPECT_TRUE(SameBits(hit.logits, cold.logits)) << n;
      EXPECT_EQ(hit.answer.tokens, cold.answer.tokens);
      EXPECT_TRUE(hit.rows == cold.rows) << n;
    }
  }
}

TEST(CacheRefusal, WithoutFlashAttentionIsAnswered) {
  for (const char* shape : {"tiny-internvl", "tiny-qwen3vl"}) {
    LlamaOptions options = TestOptions(shape);
    options.flash_attention = false;
    const auto engine = NewLlamaEngine(options);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    ExpectAnswersUncached(**engine, "without flash attention");
  }
}

TEST(CacheRefusal, QuantisedVWithoutFlashAttentionCannotBeRun) {
  LlamaOptions options = TestOptions("tiny-internvl");
  options.v_type = "q8_0";
  options.flash_attention = false;
  const auto engine = NewLlamaEngine(options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, Errc::kInvalidArgument);
}

// A folder that goes away with the test.
class WrittenModel : public testing::Test {
 protected:
  WrittenModel() {
    std::string path = testing::TempDir() + "cache_refusal.XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~WrittenModel() override { std::filesystem::remove_all(folder_); }

  // A low-rank change to the queries of the first layer, for a model of the tiny shapes.
  std::string WriteLora(const std::string& architecture, double size) const {
    RandomGguf file(5);
    file.SetString("general.type", "adapter");
    file.SetString("general.architecture", architecture);
    file.SetString("adapter.type", "lora");
    file.SetFloat("adapter.lora.alpha", 4.0f);
    file.AddTensor("blk.0.attn_q.weight.lora_a", GGML_TYPE_F32, {64, 4, 1, 1}, 0.0, size);
    file.AddTensor("blk.0.attn_q.weight.lora_b", GGML_TYPE_F32, {4, 256, 1, 1}, 0.0, size);
    const std::string path = folder_ + "/lora.gguf";
    EXPECT_TRUE(file.Write(path).ok());
    return path;
  }

  LlamaOptions OptionsFor(RandomGguf& file) const {
    LlamaOptions options;
    options.model_path = folder_ + "/model.gguf";
    options.context_tokens = 256;
    options.threads = 1;
    options.file_digest_cache.clear();
    EXPECT_TRUE(file.Write(options.model_path).ok());
    return options;
  }

  std::string folder_;
};

TEST_F(WrittenModel, ModelsWithALoraAreAnswered) {
  LlamaOptions options = TestOptions("tiny-internvl");
  const auto plain = NewLlamaEngine(options).value();
  options.lora_paths = {WriteLora("qwen3", 0.5)};
  const auto engine = NewLlamaEngine(options);
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  ExpectAnswersUncached(**engine, "LoRA");
  EXPECT_GT(MaxDifference(ColdLogits(**engine), ColdLogits(*plain)), 0.01) << "the adapter does nothing";
}

TEST_F(WrittenModel, ALoraOfAnotherModelOrNoLoraIsRefused) {
  LlamaOptions options = TestOptions("tiny-internvl");
  options.lora_paths = {WriteLora("qwen3vl", 0.5)};
  auto engine = NewLlamaEngine(options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, Errc::kInvalidArgument);
  EXPECT_NE(engine.error().message.find("lora.gguf"), std::string::npos) << engine.error().message;

  options.lora_paths = {options.model_path};
  engine = NewLlamaEngine(options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, Errc::kInvalidArgument);

  options.lora_paths = {folder_ + "/absent.gguf"};
  engine = NewLlamaEngine(options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, Errc::kNotFound);
  EXPECT_NE(engine.error().message.find("absent.gguf"), std::string::npos) << engine.error().message;
}

TEST_F(WrittenModel, ARecurrentModelIsAnswered) {
  RandomModelShape shape = NamedShape("tiny-text").value();
  shape.layers = 0;  // vocabulary, embeddings and last norm only; the layers follow
  RandomGguf file(6);
  AddLanguageModel(shape, file);
  file.SetString("general.architecture", "mamba");
  file.SetUint("mamba.context_length", 1024);
  file.SetUint("mamba.embedding_length", 64);
  file.SetUint("mamba.block_count", 2);
  file.SetUint("mamba.feed_forward_length", 0);
  file.SetUint("mamba.attention.head_count", 0);
  file.SetFloat("mamba.attention.layer_norm_rms_epsilon", 1e-6f);
  file.SetUint("mamba.ssm.conv_kernel", 4);
  file.SetUint("mamba.ssm.inner_size", 128);
  file.SetUint("mamba.ssm.state_size", 16);
  file.SetUint("mamba.ssm.time_step_rank", 4);
  for (const std::string prefix : {"blk.0.", "blk.1."}) {
    file.AddNorm(prefix + "attn_norm.weight", 64);
    file.AddMatrix(prefix + "ssm_in.weight", GGML_TYPE_F16, 64, 256);
    file.AddMatrix(prefix + "ssm_conv1d.weight", GGML_TYPE_F32, 4, 128);
    file.AddBias(prefix + "ssm_conv1d.bias", 128);
    file.AddMatrix(prefix + "ssm_x.weight", GGML_TYPE_F16, 128, 36);
    file.AddMatrix(prefix + "ssm_dt.weight", GGML_TYPE_F32, 4, 128);
    file.AddBias(prefix + "ssm_dt.bias", 128);
    file.AddTensor(prefix + "ssm_a", GGML_TYPE_F32, {16, 128, 1, 1}, -1.0, 0.1);
    file.AddNorm(prefix + "ssm_d", 128);
    file.AddMatrix(prefix + "ssm_out.weight", GGML_TYPE_F16, 128, 64);
  }
  const auto engine = NewLlamaEngine(OptionsFor(file));
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  ExpectAnswersUncached(**engine, "is recurrent");
}

TEST_F(WrittenModel, ASlidingWindowModelIsAnswered) {
  const RandomModelShape shape = NamedShape("tiny-text").value();
  RandomGguf file(7);
  AddLanguageModel(shape, file);
  file.SetString("general.architecture", "gemma3");
  file.SetUint("gemma3.context_length", 1024);
  file.SetUint("gemma3.embedding_length", shape.width);
  file.SetUint("gemma3.block_count", shape.layers);
  file.SetUint("gemma3.feed_forward_length", shape.feed_forward);
  file.SetUint("gemma3.attention.head_count", shape.heads);
  file.SetUint("gemma3.attention.head_count_kv", shape.kv_heads);
  file.SetUint("gemma3.attention.key_length", shape.head_dim);
  file.SetUint("gemma3.attention.value_length", shape.head_dim);
  file.SetFloat("gemma3.attention.layer_norm_rms_epsilon", 1e-6f);
  file.SetUint("gemma3.attention.sliding_window", 24);
  for (int i = 0; i < shape.layers; ++i) {
    const std::string prefix = "blk." + std::to_string(i) + ".";
    file.AddNorm(prefix + "post_attention_norm.weight", shape.width);
    file.AddNorm(prefix + "post_ffw_norm.weight", shape.width);
  }
  const auto engine = NewLlamaEngine(OptionsFor(file));
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  ExpectAnswersUncached(**engine, "sliding window of 24 tokens");
}

}  // namespace
}  // namespace afterimage
