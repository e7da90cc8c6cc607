// The cache over the fake engine: what is reused, what is refused, and that nothing ever changes an answer.
#include "afterimage/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cache/cache_fixture.h"

namespace afterimage {
namespace {

TEST_F(CacheTest, TheFirstRequestIsColdAndTheSecondAnExactHit) {
  Open();
  const Report cold = Serve("What is it?");
  EXPECT_EQ(cold.reuse_class, ReuseClass::kCold);
  EXPECT_EQ(StatusLine(cold), "exact_text=miss semantic_text=skip prefix=miss fusion=miss kv_cache=miss");
  EXPECT_EQ(cold.provenance, "");
  EXPECT_EQ(cold.stats.images_encoded, 1);
  EXPECT_GT(cold.bytes_stored, 0u);

  const Report hit = Serve("What is it?");
  EXPECT_EQ(hit.reuse_class, ReuseClass::kExact);
  EXPECT_EQ(StatusLine(hit), "exact_text=hit semantic_text=skip prefix=skip fusion=skip kv_cache=hit");
  EXPECT_EQ(hit.provenance, "text:exact");
  EXPECT_EQ(hit.stats.tokens_computed, 0);
  EXPECT_EQ(hit.stats.images_encoded, 0);
  EXPECT_EQ(hit.bytes_stored, 0u);
  EXPECT_GT(hit.bytes_loaded, 0u);
  ASSERT_TRUE(hit.donor.has_value());
  EXPECT_EQ(hit.donor->question, "What is it?");
  EXPECT_EQ(hit.donor->image_paths, std::vector<std::string>{"picture1.png"});
  EXPECT_EQ(hit.score, 1.0);
  EXPECT_TRUE(hit.substitution.empty());
  ASSERT_FALSE(hit.plans.empty());
  EXPECT_EQ(hit.plans.front().outcome, "used");
}

TEST_F(CacheTest, TheNextProcessAnswersEverythingByExactHits) {
  const std::vector<std::string> questions = {"What is it?", "Is it red?", "How many are there?"};
  Open();
  for (const std::string& question : questions) Serve(question, {1});
  for (const std::string& question : questions) Serve(question, {2});
  cache_.reset();
  engine_ = NewFakeEngine(fake_, clock_);
  Open();
  for (const uint32_t picture : {1u, 2u}) {
    for (const std::string& question : questions) {
      const Report hit = Serve(question, {picture});
      EXPECT_EQ(hit.provenance, "text:exact");
      EXPECT_EQ(hit.stats.tokens_computed, 0);
      EXPECT_EQ(hit.stats.images_encoded, 0);
    }
  }
}

TEST_F(CacheTest, ANewQuestionOnAStoredPictureComputesOnlyItsOwnTokens) {
  Open();
  Serve("What is it?");
  const Report hit = Serve("Is it red?");
  EXPECT_EQ(hit.reuse_class, ReuseClass::kExact);
  EXPECT_EQ(hit.provenance, "prefix:image");
  EXPECT_EQ(StatusLine(hit), "exact_text=miss semantic_text=skip prefix=hit fusion=skip kv_cache=hit");
  EXPECT_EQ(hit.stats.images_encoded, 0);
  const std::unique_ptr<Prompt> prompt = engine_->Prepare(MakeQuery("Is it red?").request).value();
  EXPECT_EQ(hit.stats.tokens_reused, prompt->n_tokens_before(2)) << "up to and with the picture";
}

TEST_F(CacheTest, TheSameQuestionOnAnotherPictureIsRefusedAndTheReasonGiven) {
  Open();
  Serve("What is it?", {1});
  const Report report = Serve("What is it?", {2});
  EXPECT_EQ(report.reuse_class, ReuseClass::kCold);
  EXPECT_EQ(StatusLine(report), "exact_text=refused semantic_text=skip prefix=miss fusion=miss kv_cache=miss");
  EXPECT_NE(report.layers[0].reason.find("another picture"), std::string::npos) << report.layers[0].reason;
}

TEST_F(CacheTest, AnotherConversationBeforeThePictureReusesTheEncodersOutput) {
  Open();
  Serve("What is it?");
  Query query = MakeQuery("What is it?");
  query.request.messages.insert(query.request.messages.begin(), Message{"system", {"Be brief."}});
  const Report report = Serve(query);
  EXPECT_EQ(report.reuse_class, ReuseClass::kEncoder);
  EXPECT_EQ(report.provenance, "fusion");
  EXPECT_EQ(StatusLine(report), "exact_text=refused semantic_text=skip prefix=miss fusion=hit kv_cache=miss");
  EXPECT_EQ(report.layers[0].reason, "another conversation before the question");
  EXPECT_EQ(report.stats.images_encoded, 0);
  EXPECT_EQ(report.stats.images_put_back, 1);
  EXPECT_FALSE(report.hit());
}

TEST_F(CacheTest, ATextPrefixCountsFromTheLeastLengthOn) {
  options_.min_prefix_tokens = 200;
  Open();
  const std::string shared(260, 'x');  // two segments of text and a bit
  Serve(shared + "one", {});
  const Report hit = Serve(shared + "two", {});
  EXPECT_EQ(hit.provenance, "prefix:text");
  EXPECT_EQ(hit.stats.tokens_reused, 256);
  options_.min_prefix_tokens = 257;
  Open();
  EXPECT_EQ(Serve(shared + "three", {}).reuse_class, ReuseClass::kCold);
}

TEST_F(CacheTest, AQuestionThatDiffersInCaseIsSubstitutedOnlyWhenAllowed) {
  Open();
  Serve("What is it?");
  const std::vector<int32_t> donor_tokens = last_.answer.tokens;
  const Report refused = Serve("WHAT  is it?");
  EXPECT_EQ(refused.provenance, "prefix:image");
  EXPECT_EQ(StatusLine(refused), "exact_text=refused semantic_text=skip prefix=hit fusion=skip kv_cache=hit");
  EXPECT_NE(refused.layers[0].reason.find("normalized"), std::string::npos);

  options_.loosest = ReuseClass::kNormalized;
  Open();
  const Report report = Serve("what IS it? ");
  EXPECT_EQ(report.reuse_class, ReuseClass::kNormalized);
  EXPECT_EQ(report.provenance, "text:exact");
  EXPECT_EQ(report.substitution, "question");
  EXPECT_EQ(report.stats.tokens_computed, 0);
  ASSERT_TRUE(report.donor.has_value());
  EXPECT_EQ(last_.answer.tokens, Cold(MakeQuery(report.donor->question)).answer.tokens)
      << "the exact answer to the donor's question";
}

TEST_F(CacheTest, NothingIsStoredUnderAQuestionThatWasSubstituted) {
  options_.loosest = ReuseClass::kNormalized;
  Open();
  Serve("What is it?");
  ASSERT_EQ(Serve("what is it?").reuse_class, ReuseClass::kNormalized);
  options_.loosest = ReuseClass::kExact;
  Open();
  EXPECT_EQ(Serve("what is it?").provenance, "prefix:image");
}

TEST_F(CacheTest, EqualChunkTextOverDifferentQuestionsIsOnlyApproximate) {
  options_.loosest = ReuseClass::kNormalized;
  Open();
  Query a = MakeQuery("Is it red?");
  Query b = MakeQuery("Is it blue?");
  a.chunk_text = b.chunk_text = "group 7";
  Serve(a);
  const Report refused = Serve(b);
  EXPECT_EQ(refused.provenance, "prefix:image");
  EXPECT_EQ(refused.layer("exact_text")->candidates.at(0).reuse_class, ReuseClass::kApproximate);
  EXPECT_FALSE(refused.layer("exact_text")->candidates.at(0).refused.empty());

  options_.loosest = ReuseClass::kApproximate;
  options_.text_guard = false;
  Open();
  Query c = MakeQuery("Is it green?");
  c.chunk_text = "group 7";
  const Report taken = Serve(c);
  EXPECT_EQ(taken.reuse_class, ReuseClass::kApproximate);
  EXPECT_EQ(taken.substitution, "question");
}

TEST_F(CacheTest, ASubstitutionMustSaveEnough) {
  options_.loosest = ReuseClass::kNormalized;
  options_.min_gain = 1;
  Open();
  Serve("What is it?");
  const Report report = Serve("what is it?");
  EXPECT_EQ(report.reuse_class, ReuseClass::kExact);
  EXPECT_EQ(report.provenance, "prefix:image");
  EXPECT_EQ(report.layer("exact_text")->status, LayerStatus::kRefused);
}

TEST_F(CacheTest, LayersAreSwitchedOffAlone) {
  options_.exact_layer = false;
  Open();
  Serve("What is it?");
  EXPECT_EQ(Serve("What is it?").provenance, "prefix:image") << "the whole prompt is a prefix too";

  options_ = {.folder = folder_ / "two", .memory_bytes = 0, .prefix_layer = false};
  Open();
  Serve("What is it?");
  EXPECT_EQ(Serve("What is it?").provenance, "text:exact");
  const Report fused = Serve("Is it red?");
  EXPECT_EQ(fused.provenance, "fusion");
  EXPECT_EQ(StatusLine(fused), "exact_text=miss semantic_text=skip prefix=skip fusion=hit kv_cache=miss");

  options_ = {.folder = folder_ / "three", .exact_layer = false, .prefix_layer = false, .fusion_layer = false};
  Open();
  Serve("What is it?");
  EXPECT_EQ(StatusLine(Serve("What is it?")),
            "exact_text=skip semantic_text=skip prefix=skip fusion=skip kv_cache=miss");
  EXPECT_EQ(cache_->stats().chunks, 0u);
}

TEST_F(CacheTest, SwitchedOffItOpensNoFolder) {
  options_.mode = CacheMode::kOff;
  Open();
  Serve("What is it?");
  EXPECT_EQ(StatusLine(Serve("What is it?")),
            "exact_text=skip semantic_text=skip prefix=skip fusion=skip kv_cache=skip");
  EXPECT_FALSE(std::filesystem::exists(options_.folder));
}

TEST_F(CacheTest, ADryRunPlansAndReportsAndChangesNothing) {
  options_.mode = CacheMode::kDryRun;
  Open();
  EXPECT_EQ(Serve("What is it?").reuse_class, ReuseClass::kCold);
  cache_.reset();
  EXPECT_FALSE(std::filesystem::exists(options_.folder));

  options_.mode = CacheMode::kLive;
  Open();
  Serve("What is it?");
  cache_.reset();
  const std::vector<std::string> before = ChunkFiles();
  options_.mode = CacheMode::kDryRun;
  Open();
  const Report would_hit = Serve("What is it?");
  EXPECT_EQ(StatusLine(would_hit), "exact_text=hit semantic_text=skip prefix=skip fusion=skip kv_cache=skip");
  EXPECT_EQ(would_hit.reuse_class, ReuseClass::kCold);
  EXPECT_FALSE(would_hit.hit());
  EXPECT_EQ(would_hit.plans.front().reuse_class, ReuseClass::kExact);
  EXPECT_EQ(would_hit.plans.front().outcome, "not done: a dry run");
  Serve("Is it red?");
  cache_.reset();
  EXPECT_EQ(ChunkFiles(), before);
}

TEST_F(CacheTest, TenantsDoNotSeeEachOther) {
  options_.tenant = "a";
  Open();
  Serve("What is it?");
  options_.tenant = "b";
  Open();
  EXPECT_EQ(StatusLine(Serve("What is it?")),
            "exact_text=miss semantic_text=skip prefix=miss fusion=miss kv_cache=miss");
}

TEST_F(CacheTest, AnotherModelsStateIsNotLoaded) {
  Open();
  Serve("What is it?");
  cache_.reset();
  fake_.weights = "other";
  engine_ = NewFakeEngine(fake_, clock_);
  Open();
  EXPECT_EQ(StatusLine(Serve("What is it?")),
            "exact_text=miss semantic_text=skip prefix=miss fusion=miss kv_cache=miss");
}

TEST_F(CacheTest, StateOfOtherNumericsIsAMissWhereBitsMatterAndReportedWhereTheyDoNot) {
  Open();
  Serve("What is it?");
  cache_.reset();
  fake_.build = "other";
  engine_ = NewFakeEngine(fake_, clock_);
  options_.loosest = ReuseClass::kApproximate;
  Open();
  const Report loose = Serve("Is it red?");
  EXPECT_EQ(loose.provenance, "prefix:image");
  EXPECT_TRUE(loose.other_numerics);
  options_.loosest = ReuseClass::kExact;
  Open();
  EXPECT_EQ(Serve("Is it red?").reuse_class, ReuseClass::kCold) << "its question was computed on other bits";
  EXPECT_EQ(Serve("Is it red?").provenance, "text:exact") << "what was computed then has replaced it";
  EXPECT_FALSE(Serve("Is it red?").other_numerics);
}

TEST_F(CacheTest, EveryDamagedFileIsAMissAndTheAnswerTheSame) {
  Open();
  Serve("What is it?");
  ASSERT_TRUE(cache_->Flush().ok());
  cache_.reset();
  const std::vector<std::string> files = ChunkFiles();
  ASSERT_GE(files.size(), 4u);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-20, std::ios::end);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(-20, std::ios::end);
    file.put(byte);
    file.close();
    Open();
    const bool fusion = path.ends_with(".fusion");
    Query query = MakeQuery("What is it?");
    if (fusion) query.request.messages.insert(query.request.messages.begin(), Message{"system", {"x"}});
    const Report report = Serve(query);
    EXPECT_EQ(cache_->stats().quarantined, 1u);
    ASSERT_GE(report.plans.size(), 2u);
    EXPECT_EQ(report.plans.front().outcome.rfind("failed: ", 0), 0u) << report.plans.front().outcome;
    EXPECT_LT(report.stats.tokens_reused, report.prompt_tokens);
    EXPECT_EQ(Serve(query).provenance, "text:exact") << "what was computed again has been kept again";
    cache_.reset();
  }
}

TEST_F(CacheTest, ADiskThatCannotBeReadIsAMiss) {
  Open();
  Serve("What is it?");
  ASSERT_TRUE(cache_->Flush().ok());
  files_.Set({.unreadable = true});
  EXPECT_EQ(Serve("What is it?").reuse_class, ReuseClass::kCold);
  files_.Set({});
  EXPECT_EQ(Serve("What is it?").provenance, "text:exact");
}

TEST_F(CacheTest, AFullDiskCostsNoAnswer) {
  Open();
  files_.Set({.no_space = true});
  Serve("What is it?");
  EXPECT_FALSE(cache_->Flush().ok());
  EXPECT_GT(cache_->stats().write_errors, 0u);
  Serve("What is it?");
}

TEST_F(CacheTest, OnASlowDiskThePlannerRecomputesAndSaysSo) {
  Open();
  for (int i = 0; i < 3; ++i) Serve("What is it, " + std::to_string(i) + "?");  // what computing takes
  ASSERT_TRUE(cache_->Flush().ok());
  files_.Set({.on_bytes = [&](uint64_t bytes) { clock_.AdvanceMs(static_cast<double>(bytes)); }});  // 1 kB/s
  Report report;
  for (int i = 0; i < 10; ++i) report = Serve("What is it, 0?");  // a few hits teach it
  EXPECT_EQ(report.reuse_class, ReuseClass::kCold) << report.plans.front().outcome;
  EXPECT_EQ(report.stats.tokens_reused, 0);
  EXPECT_EQ(report.layer("exact_text")->status, LayerStatus::kRefused);
  EXPECT_EQ(report.layer("exact_text")->reason.rfind("planner: ", 0), 0u) << report.layer("exact_text")->reason;
  EXPECT_EQ(report.layer("prefix")->status, LayerStatus::kRefused);
  EXPECT_EQ(report.layer("fusion")->status, LayerStatus::kRefused);
  EXPECT_EQ(report.layer("exact_text")->candidates.size(), 1u) << "computing it again makes no second donor of it";
  EXPECT_LT(report.ttft_ms, 1000);
}

TEST_F(CacheTest, PredictionsMeetWhatThingsTake) {
  Open();
  for (int i = 0; i < 3; ++i) Serve("Question number " + std::to_string(i), {static_cast<uint32_t>(i)});
  const Report cold = Serve("And one more, a bit longer", {9});
  ASSERT_TRUE(cold.predicted_ms.has_value());
  EXPECT_NEAR(*cold.predicted_ms, cold.actual_ms, 0.01 * cold.actual_ms);
  ASSERT_TRUE(cache_->Flush().ok());  // so that both are read from the disk: a rate of the queue is another
  const Report prefix = Serve("Another one on the same", {9});
  EXPECT_FALSE(prefix.predicted_ms.has_value()) << "nothing was ever loaded before";
  const Report again = Serve("Yet another one on the same", {9});
  ASSERT_TRUE(again.predicted_ms.has_value());
  EXPECT_NEAR(*again.predicted_ms, again.actual_ms, 0.01 * again.actual_ms);
}

TEST_F(CacheTest, RatesOutliveTheProcessAndFrozenOnesDecideAlone) {
  Open();
  for (int i = 0; i < 3; ++i) Serve("Question number " + std::to_string(i));
  Open();
  EXPECT_TRUE(Serve("What is it?", {5}).predicted_ms.has_value());

  options_.planner_rates = folder_ / "rates.json";
  EXPECT_EQ(TryOpen().error().code, Errc::kBusy) << "this process holds the folder";
  cache_.reset();
  EXPECT_EQ(TryOpen().error().code, Errc::kNotFound);
  const auto write = [&](double load_ms_per_byte) {
    std::ofstream file(options_.planner_rates);
    file << R"({"rates": {"load.disk": {"n": 1, "x": 1, "y": )" << load_ms_per_byte << R"(, "xx": 1, "xy": )"
         << load_ms_per_byte << R"(}, "prefill.text": {"n": 1, "x": 1, "y": 1, "xx": 1, "xy": 1}}})";
  };
  write(1e6);
  Open();
  EXPECT_EQ(Serve("Question number 0").reuse_class, ReuseClass::kCold);
  write(1e-9);
  Open();
  EXPECT_EQ(Serve("Question number 0").provenance, "text:exact");
}

TEST_F(CacheTest, LimitsAreKept) {
  options_.max_blocks = 8;
  Open();
  for (uint32_t i = 0; i < 6; ++i) Serve("What is number " + std::to_string(i) + "?", {i});
  ASSERT_TRUE(cache_->Flush().ok());
  EXPECT_LE(cache_->stats().blocks, 8u);
  EXPECT_GT(cache_->stats().evicted, 0u);
  for (uint32_t i = 0; i < 6; ++i) Serve("What is number " + std::to_string(i) + "?", {i});
}

TEST_F(CacheTest, ASecondWriterGetsAClearAnswer) {
  Open();
  const Result<std::unique_ptr<Cache>> second = TryOpen();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::kBusy);
}

TEST_F(CacheTest, BadOptionsAreRefused) {
  options_.folder.clear();
  EXPECT_EQ(TryOpen().error().code, Errc::kInvalidArgument);
  options_ = {.folder = folder_ / "x", .loosest = ReuseClass::kCold};
  EXPECT_EQ(TryOpen().error().code, Errc::kInvalidArgument);
  options_ = {.folder = folder_ / "x", .min_gain = 1.5};
  EXPECT_EQ(TryOpen().error().code, Errc::kInvalidArgument);
  options_ = {.folder = folder_ / "x", .tenant = std::string(256, 'x')};
  EXPECT_EQ(TryOpen().error().code, Errc::kInvalidArgument);
}

TEST_F(CacheTest, AnErrorOfTheEngineIsTheCallersErrorAndTheNextRequestIsServed) {
  Open();
  EXPECT_EQ(cache_->Serve(MakeQuery(std::string(5000, 'x')), nullptr).error().code, Errc::kTooLarge);
  Serve("What is it?");
}

TEST_F(CacheTest, RequestsMayBeServedFromSeveralThreads) {
  fake_.max_sequences = 4;
  engine_ = NewFakeEngine(fake_, clock_);
  options_.memory_bytes = 1 << 20;
  Open();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const Query query = MakeQuery("What is " + std::to_string((i + t) % 7) + "?", {static_cast<uint32_t>(i % 3)});
        const Result<Served> served = cache_->Serve(query, nullptr);
        if (!served.ok() || served->answer.tokens != Cold(query).answer.tokens) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CacheTest, MemoryBeforeTheDiskServesWithoutReadingIt) {
  options_.memory_bytes = 1 << 20;
  Open();
  Serve("What is it?");
  ASSERT_TRUE(cache_->Flush().ok());
  files_.Set({.unreadable = true});
  EXPECT_EQ(Serve("What is it?").provenance, "text:exact");
}

}  // namespace
}  // namespace afterimage
