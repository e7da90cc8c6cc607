// The cache over real models: reuse equals recompute through files and restarts, state of anything else is not loaded,
// and a picture is stored once for all its questions.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "afterimage/cache.h"
#include "afterimage/llama_engine.h"
#include "engine/llama/llama_test_models.h"
#include "store/chunk_format.h"
#include "testing/engine_runs.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

constexpr const char* kQuestions[] = {"What is on the left?", "Name a colour.", "Is there a tree behind the house?"};

Query MakeQuery(const std::string& question, std::optional<uint32_t> picture, int max_tokens = 8) {
  Query query;
  std::vector<std::shared_ptr<const Image>> images;
  if (picture.has_value()) images.push_back(NoisePicture(*picture));
  query.request = Ask(std::move(images), question);
  query.request.sampling.max_tokens = max_tokens;
  query.id = question;
  return query;
}

// Models of this size are computed about as fast as they are loaded; here everything stored is to be loaded.
CacheOptions LoadingOptions(const TemporaryFolder& folder) {
  CacheOptions options;
  options.folder = folder / "cache";
  options.durability = Durability::kProcess;
  options.planner_rates = folder / "rates.json";
  std::ofstream file(options.planner_rates);
  const char* separator = "{\"rates\": {";
  for (const char* key : {"load.memory", "load.disk", "load.queue", "inject"}) {
    file << separator << '"' << key << R"(": {"n": 1, "x": 1, "y": 0, "xx": 1, "xy": 0})";
    separator = ", ";
  }
  file << "}}";
  return options;
}

Served ServeBy(Cache& cache, const Query& query) {
  Result<Served> served = cache.Serve(query, nullptr);
  EXPECT_TRUE(served.ok()) << served.error().message;
  return served.ok() ? std::move(*served) : Served{};
}

class CacheOfModel : public testing::TestWithParam<const char*> {
 protected:
  CacheOfModel() : llama_(TestOptions(GetParam())) {}

  bool vision() const { return std::string_view(GetParam()) != "tiny-text"; }

  // A process of its own, as far as the cache can tell: nothing but the folder is carried over.
  template <typename Function>
  void InNewProcess(const Function& function) {
    const std::unique_ptr<Engine> engine = NewLlamaEngine(llama_).value();
    Result<std::unique_ptr<Cache>> cache = Cache::Open(options_, *engine);
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    function(**cache, *engine);
    EXPECT_TRUE((*cache)->Flush().ok());
  }

  TemporaryFolder folder_;
  LlamaOptions llama_;
  CacheOptions options_ = LoadingOptions(folder_);
};

TEST_P(CacheOfModel, TheSecondProcessAnswersEverythingByExactHitsWithTheSameTokens) {
  std::vector<Query> queries;
  for (const uint32_t picture : {1u, 2u, 3u}) {
    for (const char* question : kQuestions) {
      queries.push_back(MakeQuery(question, vision() ? std::optional(picture) : std::nullopt));
    }
  }
  std::vector<std::vector<int32_t>> cold;
  InNewProcess([&](Cache& cache, Engine& engine) {
    for (const Query& query : queries) {
      cold.push_back(RunRequest(engine, query.request).answer.tokens);
      EXPECT_EQ(ServeBy(cache, query).answer.tokens, cold.back());
    }
  });
  InNewProcess([&](Cache& cache, Engine& engine) {
    for (size_t i = 0; i < queries.size(); ++i) {
      const Served hit = ServeBy(cache, queries[i]);
      EXPECT_EQ(hit.answer.tokens, cold[i]);
      EXPECT_EQ(hit.report.reuse_class, ReuseClass::kExact);
      EXPECT_EQ(hit.report.provenance, "text:exact");
      EXPECT_EQ(hit.report.stats.tokens_computed, 0);
      EXPECT_EQ(hit.report.stats.images_encoded, 0);
    }
    const Query fresh = MakeQuery("How many?", vision() ? std::optional(2u) : std::nullopt);
    const Served hit = ServeBy(cache, fresh);
    EXPECT_EQ(hit.answer.tokens, RunRequest(engine, fresh.request).answer.tokens);
    if (vision()) {
      EXPECT_EQ(hit.report.provenance, "prefix:image");
      EXPECT_EQ(hit.report.stats.images_encoded, 0);
    }
  });
}

TEST_P(CacheOfModel, SampledAnswersAreRepeatedToo) {
  Query query = MakeQuery("Name a colour.", vision() ? std::optional(1u) : std::nullopt);
  query.request.sampling.temperature = 20;
  query.request.sampling.top_p = 1;
  std::vector<int32_t> cold;
  InNewProcess([&](Cache& cache, Engine&) { cold = ServeBy(cache, query).answer.tokens; });
  InNewProcess([&](Cache& cache, Engine&) {
    const Served hit = ServeBy(cache, query);
    EXPECT_TRUE(hit.report.hit());
    EXPECT_EQ(hit.answer.tokens, cold);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, CacheOfModel,
                         testing::Values("tiny-internvl", "tiny-qwen3vl", "tiny-qwen2.5vl", "tiny-text"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

class OtherState : public testing::Test {
 protected:
  OtherState() {
    options_.loosest = ReuseClass::kApproximate;  // however loose
  }

  Served ServeOnce(const LlamaOptions& llama) {
    const std::unique_ptr<Engine> engine = NewLlamaEngine(llama).value();
    const std::unique_ptr<Cache> cache = Cache::Open(options_, *engine).value();
    Served served = ServeBy(*cache, query_);
    EXPECT_EQ(served.answer.tokens, RunRequest(*engine, query_.request).answer.tokens);
    EXPECT_TRUE(cache->Flush().ok());
    quarantined_ = cache->stats().quarantined;
    return served;
  }

  // Stores with one model, asks with another, and again with the first.
  void ExpectNotLoaded(const LlamaOptions& other) {
    EXPECT_EQ(ServeOnce(llama_).report.reuse_class, ReuseClass::kCold);
    const Report report = ServeOnce(other).report;
    EXPECT_EQ(report.reuse_class, ReuseClass::kCold) << report.provenance;
    EXPECT_EQ(report.bytes_loaded, 0u);
    EXPECT_EQ(ServeOnce(llama_).report.provenance, "text:exact") << "control: the first model's is still there";
  }

  // The same shape with other random numbers, written elsewhere.
  RandomModelFiles OtherNumbers() {
    RandomModelShape shape = NamedShape("tiny-internvl").value();
    shape.seed += 1;
    return WriteRandomModel(shape, folder_ / "models").value();
  }

  TemporaryFolder folder_;
  LlamaOptions llama_ = TestOptions("tiny-internvl");
  CacheOptions options_ = LoadingOptions(folder_);
  Query query_ = MakeQuery("Name a colour.", 1);
  uint64_t quarantined_ = 0;
};

TEST_F(OtherState, OfOtherWeightsIsNotLoaded) {
  LlamaOptions other = llama_;
  other.model_path = OtherNumbers().model_path;
  ExpectNotLoaded(other);
}

TEST_F(OtherState, OfAnotherProjectorIsNotLoaded) {
  LlamaOptions other = llama_;
  other.mmproj_path = OtherNumbers().mmproj_path;
  ExpectNotLoaded(other);
}

TEST_F(OtherState, OfAnotherTemplateIsNotLoadedEvenIfItsTokensAreTheSame) {
  LlamaOptions other = llama_;
  other.chat_template = "chatml";
  const auto content = [&](const LlamaOptions& options) {
    const std::unique_ptr<Engine> engine = NewLlamaEngine(options).value();
    return engine->Prepare(query_.request).value()->segments()[0].content;
  };
  EXPECT_EQ(content(other), content(llama_));
  ExpectNotLoaded(other);
}

TEST_F(OtherState, OfAnotherKTypeIsNotLoaded) {
  LlamaOptions other = llama_;
  other.k_type = "f32";
  ExpectNotLoaded(other);
}

TEST_F(OtherState, OfAnotherVTypeIsNotLoaded) {
  LlamaOptions other = llama_;
  other.v_type = "f32";
  ExpectNotLoaded(other);
}

TEST_F(OtherState, OfAnotherThreadCountIsNotLoadedWhereBitsMatter) {
  options_.loosest = ReuseClass::kExact;
  LlamaOptions other = llama_;
  other.threads = 2;
  EXPECT_EQ(ServeOnce(llama_).report.reuse_class, ReuseClass::kCold);
  EXPECT_EQ(ServeOnce(other).report.reuse_class, ReuseClass::kCold);
  EXPECT_EQ(ServeOnce(other).report.provenance, "text:exact") << "it has replaced the other's";
  EXPECT_EQ(ServeOnce(llama_).report.reuse_class, ReuseClass::kCold);
}

TEST_F(OtherState, OfAnotherFormatVersionIsNotLoaded) {
  EXPECT_EQ(ServeOnce(llama_).report.reuse_class, ReuseClass::kCold);
  int n_files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.folder)) {
    if (entry.path().extension() != ".kv" && entry.path().extension() != ".fusion") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string file((std::istreambuf_iterator<char>(in)), {});
    in.close();
    file[8] = static_cast<char>(file[8] + 1);  // the version; and the checksum is right for it
    Checksum checksum;
    checksum.Add(std::as_bytes(std::span(file)).first(file.size() - kChecksumBytes));
    const ChecksumBytes sum = checksum.Finish();
    file.replace(file.size() - kChecksumBytes, kChecksumBytes, reinterpret_cast<const char*>(sum.data()), sum.size());
    std::ofstream(entry.path(), std::ios::binary) << file;
    ++n_files;
  }
  EXPECT_GE(n_files, 4);
  const Report report = ServeOnce(llama_).report;
  EXPECT_EQ(report.reuse_class, ReuseClass::kCold);
  EXPECT_EQ(report.bytes_loaded, 0u);
  EXPECT_GE(quarantined_, 1u);
}

// 100 questions on 10 pictures take the space of 10 pictures and 100 questions.
TEST(CacheSpace, APictureIsStoredOnceForAllItsQuestions) {
  const TemporaryFolder folder;
  const std::unique_ptr<Engine> engine = NewLlamaEngine(TestOptions("tiny-internvl")).value();
  const std::unique_ptr<Cache> cache = Cache::Open(LoadingOptions(folder), *engine).value();
  uint64_t pictures_bytes = 0;
  uint64_t questions_bytes = 0;
  uint64_t encoder_bytes = 0;
  const uint64_t token_bytes = engine->info().kv.bytes_per_token();
  for (uint32_t picture = 0; picture < 10; ++picture) {
    for (int question = 0; question < 10; ++question) {
      const Query query = MakeQuery("Question number " + std::to_string(question) + " of this?", picture, 1);
      ServeBy(*cache, query);
      const std::unique_ptr<Prompt> prompt = engine->Prepare(query.request).value();
      ASSERT_EQ(prompt->segments()[1].kind, Segment::Kind::kImage);
      const auto tokens = [&](size_t n_segments) { return static_cast<uint64_t>(prompt->n_tokens_before(n_segments)); };
      questions_bytes += (tokens(prompt->segments().size()) - tokens(2)) * token_bytes;
      if (question > 0) continue;
      // What stands before the picture is the same for all.
      pictures_bytes += (tokens(2) - (picture > 0 ? tokens(1) : 0)) * token_bytes;
      for (const NamedTensor& tensor : engine->fusion().Capture(*prompt, 1).value()) {
        encoder_bytes += tensor.values.size() * sizeof(float);
      }
    }
  }
  ASSERT_TRUE(cache->Flush().ok());
  const CacheStats stats = cache->stats();
  const uint64_t needed = pictures_bytes + questions_bytes + encoder_bytes;
  const uint64_t held = stats.kv_bytes + stats.fusion_bytes;
  std::printf("10 pictures %lu + 100 questions %lu + encoder output %lu = %lu bytes needed, %lu held (%.2f %% more)\n",
              pictures_bytes, questions_bytes, encoder_bytes, needed, held,
              100.0 * (static_cast<double>(held) / static_cast<double>(needed) - 1));
  std::printf("apart: logits %lu, headers %lu, catalogue %lu bytes\n", stats.logits_bytes, stats.overhead_bytes,
              stats.catalogue_bytes);
  EXPECT_GE(held, needed);
  EXPECT_LE(static_cast<double>(held), 1.02 * static_cast<double>(needed));
  EXPECT_EQ(stats.logits_bytes, 100 * static_cast<uint64_t>(engine->info().vocab_size) * sizeof(float));
}

}  // namespace
}  // namespace afterimage
