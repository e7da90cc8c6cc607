// The cache with vector layers over the fake engine: substitutes are found, judged, answered exactly and never stored
// under what was asked.
#include <cmath>
#include <limits>
#include <map>

#include "cache/cache_fixture.h"

namespace afterimage {
namespace {

// Vectors as the test lays them down: texts and pictures it has not placed are far from everything.
class Places {
 public:
  void Near(const std::string& what, const std::string& like, float cosine) {
    std::vector<float> vector = Of(like);
    for (float& value : vector) value *= cosine;
    std::vector<float> own = Unit(next_++);
    const float rest = std::sqrt(1 - cosine * cosine);
    for (size_t i = 0; i < vector.size(); ++i) vector[i] += rest * own[i];
    vectors_[what] = vector;
  }
  std::vector<float> Of(const std::string& what) {
    const auto [found, added] = vectors_.try_emplace(what);
    if (added) found->second = Unit(next_++);
    return found->second;
  }

 private:
  static std::vector<float> Unit(size_t at) {
    std::vector<float> unit(64, 0.0f);
    unit.at(at % 64) = 1;
    return unit;
  }

  std::map<std::string, std::vector<float>> vectors_;
  size_t next_ = 0;
};

class PlacedEncoder : public TextEncoder {
 public:
  PlacedEncoder(std::shared_ptr<Places> places, std::string identity)
      : places_(std::move(places)), identity_(std::move(identity)) {}
  int dim() const override { return 64; }
  const std::string& identity() const override { return identity_; }
  Result<std::vector<float>> Encode(std::string_view text) override {
    ++calls;
    if (cost) cost();
    return places_->Of(std::string(text));
  }
  int calls = 0;
  std::function<void()> cost;

 private:
  const std::shared_ptr<Places> places_;
  const std::string identity_;
};

// "prompt" of the question, "vision" of the picture, "scene" of both, by Places; or whatever a test wants instead.
class PlacedHook : public EmbeddingHook {
 public:
  explicit PlacedHook(std::shared_ptr<Places> places) : places_(std::move(places)) {}
  std::span<const EmbeddingSource> sources() const override { return sources_; }
  Result<std::vector<std::vector<float>>> Embed(std::span<const std::string> names,
                                                const EmbeddingInput& input) override {
    std::vector<std::vector<float>> vectors;
    for (const std::string& name : names) {
      ++calls[name];
      if (instead) return instead(input);
      const std::string picture = input.images.empty() ? "" : input.images[0]->digest().Short();
      vectors.push_back(places_->Of(name == "prompt"   ? std::string(input.question)
                                    : name == "vision" ? picture
                                                       : picture + std::string(input.question)));
    }
    return vectors;
  }

  std::map<std::string, int> calls;
  std::function<Result<std::vector<std::vector<float>>>(const EmbeddingInput&)> instead;

 private:
  const std::shared_ptr<Places> places_;
  const std::vector<EmbeddingSource> sources_ = {{"prompt", 64, Modality::kText, "placed/1"},
                                                 {"vision", 64, Modality::kImage, "placed/1"},
                                                 {"scene", 64, Modality::kJoint, "placed/1"}};
};

class VectorLayersTest : public CacheTest {
 protected:
  VectorLayersTest() {
    options_.loosest = ReuseClass::kApproximate;
    options_.min_gain = 0;
    options_.near_local = 255;  // pictures of noise are alike where the test says so
    options_.text_guard = false;
    options_.text_encoder = encoder_;
    options_.embedding_hook = hook_;
    places_->Near("what colour is it?", "which colour has it?", 0.9f);  // as the semantic layer looks at them
    places_->Near("What colour is it?", "Which colour has it?", 0.9f);
    places_->Near(Picture(2), Picture(1), 0.95f);
  }
  static std::string Picture(uint32_t seed) { return NoisePicture(seed)->digest().Short(); }
  void UseOnly(const std::vector<EmbeddingLayerOptions>& layers) {
    options_.embedding_layers = layers;
    options_.semantic_layer = false;
  }
  void ExpectAnswerOf(const std::string& question, uint32_t picture) {
    EXPECT_EQ(last_.answer.tokens, Cold(MakeQuery(question, {picture})).answer.tokens)
        << "not the exact answer to the substitute";
  }
  static const LayerReport& Layer(const Report& report, const char* key) { return *report.layer(key); }

  std::shared_ptr<Places> places_ = std::make_shared<Places>();
  std::shared_ptr<PlacedEncoder> encoder_ = std::make_shared<PlacedEncoder>(places_, "placed/1");
  std::shared_ptr<PlacedHook> hook_ = std::make_shared<PlacedHook>(places_);
};

constexpr const char* kColour = "Which colour has it?";
constexpr const char* kParaphrase = "What colour is it?";

TEST_F(VectorLayersTest, ALikeQuestionAboutTheSamePictureIsAnsweredByTheOther) {
  Open();
  EXPECT_EQ(StatusLine(Serve(kColour)), "exact_text=miss semantic_text=miss prefix=miss fusion=miss kv_cache=miss");
  const Report report = Serve(kParaphrase);
  EXPECT_EQ(StatusLine(report), "exact_text=miss semantic_text=hit prefix=skip fusion=skip kv_cache=hit");
  EXPECT_EQ(report.provenance, "text:semantic");
  EXPECT_EQ(report.reuse_class, ReuseClass::kApproximate);
  EXPECT_EQ(report.substitution, "question");
  EXPECT_EQ(report.donor->question, kColour);
  EXPECT_NEAR(report.score, 0.9, 1e-5);
  EXPECT_EQ(report.stats.tokens_computed, 0);
  ExpectAnswerOf(kColour, 1);
}

TEST_F(VectorLayersTest, UnderTheThresholdItIsAMissThatShowsItsScore) {
  options_.similarity_threshold = 0.91;
  Open();
  Serve(kColour);
  const Report report = Serve(kParaphrase);
  EXPECT_EQ(report.provenance, "prefix:image");
  EXPECT_EQ(Layer(report, "semantic_text").status, LayerStatus::kMiss);
  EXPECT_EQ(Layer(report, "semantic_text").candidates.at(0).refused, "threshold: 0.900 is under 0.910");
}

TEST_F(VectorLayersTest, ALikeQuestionAboutAnotherPictureIsRefused) {
  Open();
  Serve(kColour, {1});
  const Report report = Serve(kParaphrase, {3});
  EXPECT_EQ(report.reuse_class, ReuseClass::kCold);
  EXPECT_EQ(Layer(report, "semantic_text").status, LayerStatus::kRefused);
  EXPECT_EQ(Layer(report, "semantic_text").reason, "image gate: another picture");
}

TEST_F(VectorLayersTest, NothingIsStoredUnderTheQuestionThatWasNotAnswered) {
  Open();
  Serve(kColour);
  ASSERT_EQ(Serve(kParaphrase).provenance, "text:semantic");
  options_.semantic_layer = false;
  Open();
  EXPECT_EQ(Serve(kParaphrase).provenance, "prefix:image");
}

TEST_F(VectorLayersTest, ALikePictureIsPutInForThisOneAndTheQuestionIsComputed) {
  UseOnly({{"vision", 64, 0.9}});
  Open();
  Serve(kColour, {1});
  const Report report = Serve("Is it red?", {2});
  EXPECT_EQ(StatusLine(report),
            "exact_text=miss embedding:vision=hit semantic_text=skip prefix=hit fusion=skip kv_cache=hit");
  EXPECT_EQ(report.provenance, "embedding:vision");
  EXPECT_EQ(report.reuse_class, ReuseClass::kApproximate);
  EXPECT_EQ(report.substitution, "picture");
  EXPECT_EQ(report.donor->image_paths, std::vector<std::string>{"picture1.png"});
  EXPECT_EQ(report.stats.images_encoded, 0);
  EXPECT_GT(report.stats.tokens_computed, 0);
  ExpectAnswerOf("Is it red?", 1);
}

TEST_F(VectorLayersTest, WhatIsComputedOnASubstitutedPictureIsStoredUnderIt) {
  UseOnly({{"vision", 64, 0.9}});
  Open();
  Serve(kColour, {1});
  ASSERT_EQ(Serve("Is it red?", {2}).substitution, "picture");
  options_.embedding_layers = {};
  Open();
  EXPECT_EQ(Serve("Is it red?", {2}).reuse_class, ReuseClass::kCold) << "nothing under the picture asked about";
  EXPECT_EQ(Serve("Is it red?", {1}).provenance, "text:exact") << "all of it under the picture answered about";
}

TEST_F(VectorLayersTest, WithoutThePrefixLayerAMatchedPictureIsStillPutIn) {
  UseOnly({{"vision", 64, 0.9}});
  options_.prefix_layer = false;
  Open();
  Serve(kColour, {1});
  const Report report = Serve("Is it red?", {2});
  EXPECT_EQ(report.provenance, "embedding:vision");
  EXPECT_TRUE(report.hit());
  ExpectAnswerOf("Is it red?", 1);
}

TEST_F(VectorLayersTest, EncoderOutputOfALikePictureServesToo) {
  UseOnly({{"vision", 64, 0.9}});
  options_.exact_layer = options_.prefix_layer = false;
  Open();
  Serve(kColour, {1});
  for (const std::string& file : ChunkFiles()) {
    if (file.ends_with(".kv")) std::filesystem::remove(file);
  }
  cache_.reset();
  Open();  // rows without files are forgotten, and their requests with them: the picture is asked about once more
  Serve("Is it big?", {1});
  options_.memory_bytes = 0;
  const Report report = Serve("Is it red?", {2});
  EXPECT_EQ(report.substitution, "picture");
  EXPECT_EQ(report.stats.images_encoded, 0);
  ExpectAnswerOf("Is it red?", 1);
}

TEST_F(VectorLayersTest, QuestionAndPictureAreSubstitutedTogetherOnlyForAnotherGain) {
  options_.embedding_layers = {{"vision", 64, 0.9}};
  Open();
  Serve(kColour, {1});
  const Report both = Serve(kParaphrase, {2});
  EXPECT_EQ(both.substitution, "question and picture");
  EXPECT_EQ(both.provenance, "embedding:vision") << "the first in order";
  EXPECT_EQ(Layer(both, "semantic_text").status, LayerStatus::kHit);
  EXPECT_EQ(Layer(both, "embedding:vision").status, LayerStatus::kHit);
  EXPECT_EQ(both.stats.tokens_computed, 0);
  EXPECT_EQ(both.donor->question, kColour);
  ExpectAnswerOf(kColour, 1);

  options_.folder = folder_ / "careful";
  options_.min_gain = 0.5;  // the picture saves far more than half of a cold run, the question then little
  Open();
  Serve(kColour, {1});
  EXPECT_EQ(Serve(kParaphrase, {2}).substitution, "picture");
  ExpectAnswerOf(kParaphrase, 1);
}

TEST_F(VectorLayersTest, AJointMatchSubstitutesTheWholeRequest) {
  UseOnly({{"scene", 64, 0.8}});
  places_->Near(Picture(5) + "Is it big?", Picture(1) + kColour, 0.85f);
  Open();
  Serve(kColour, {1});
  const Report report = Serve("Is it big?", {5});
  EXPECT_EQ(report.provenance, "embedding:scene");
  EXPECT_EQ(report.substitution, "question and picture");
  ExpectAnswerOf(kColour, 1);
}

TEST_F(VectorLayersTest, TwoLayersWorkSideBySideAndAlone) {
  options_.embedding_layers = {{"prompt", 64, 0.8}, {"vision", 64, 0.9}};
  options_.semantic_layer = false;
  Open();
  Serve(kColour, {1});
  EXPECT_EQ(Serve(kParaphrase, {1}).provenance, "embedding:prompt");
  EXPECT_EQ(Serve("Is it red?", {2}).provenance, "embedding:vision");
  options_.embedding_layers = {{"prompt", 64, 0.8}};
  Open();
  EXPECT_EQ(Serve("Is it green?", {2}).provenance, "");
}

TEST_F(VectorLayersTest, VectorsAndTheirHitsOutliveTheProcess) {
  options_.embedding_layers = {{"vision", 64, 0.9}};
  Open();
  Serve(kColour, {1});
  ASSERT_TRUE(cache_->Flush().ok());
  EXPECT_GT(cache_->stats().vector_bytes, 0u);
  Open();
  EXPECT_EQ(Serve(kParaphrase, {1}).provenance, "text:semantic");
  EXPECT_EQ(Serve("Is it red?", {2}).provenance, "embedding:vision");
}

TEST_F(VectorLayersTest, VectorsOfAnotherEncoderAreNotCompared) {
  Open();
  Serve(kColour);
  options_.text_encoder = std::make_shared<PlacedEncoder>(places_, "placed/2");
  Open();
  const Report report = Serve(kParaphrase);
  EXPECT_EQ(report.provenance, "prefix:image");
  EXPECT_TRUE(Layer(report, "semantic_text").candidates.empty());
}

TEST_F(VectorLayersTest, VectorsOfAnotherTenantAreNotSeen) {
  Open();
  Serve(kColour);
  options_.tenant = "other";
  Open();
  EXPECT_EQ(Serve(kParaphrase).reuse_class, ReuseClass::kCold);
}

TEST_F(VectorLayersTest, ALayerMayHaveAnotherDimensionThanItsSource) {
  UseOnly({{"prompt", 256, 0.8}});
  Open();
  Serve(kColour);
  const Report report = Serve(kParaphrase);
  EXPECT_EQ(report.provenance, "embedding:prompt");
  EXPECT_NEAR(report.score, 0.9, 0.1);
}

TEST_F(VectorLayersTest, ALayerItsHookHasNoSourceForIsAnErrorAtStart) {
  UseOnly({{"sound", 64, 0.8}});
  const Result<std::unique_ptr<Cache>> cache = TryOpen();
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().code, Errc::kInvalidArgument);
  EXPECT_NE(cache.error().message.find("prompt, vision, scene"), std::string::npos) << cache.error().message;
}

TEST_F(VectorLayersTest, WhateverAHookDoesTheRequestIsAnswered) {
  UseOnly({{"prompt", 64, 0.8}});
  Open();
  Serve(kColour);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Result<std::vector<std::vector<float>>>> answers = {
      Error{Errc::kInternal, "the hook died"}, std::vector<std::vector<float>>{},
      std::vector<std::vector<float>>{std::vector<float>(63, 1.0f)},
      std::vector<std::vector<float>>{std::vector<float>(64, nan)},
      std::vector<std::vector<float>>{std::vector<float>(64, 0.0f)}};
  for (const auto& answer : answers) {
    hook_->instead = [&](const EmbeddingInput&) { return answer; };
    const Report report = Serve("Is it new? " + std::to_string(&answer - answers.data()));
    EXPECT_EQ(report.provenance, "prefix:image");
    EXPECT_EQ(Layer(report, "embedding:prompt").status, LayerStatus::kMiss);
    EXPECT_NE(Layer(report, "embedding:prompt").reason, "");
  }
  hook_->instead = [](const EmbeddingInput&) { return Error{Errc::kNotFound, "nothing for it"}; };
  EXPECT_EQ(Layer(Serve("Is it round?"), "embedding:prompt").status, LayerStatus::kSkip);
}

TEST_F(VectorLayersTest, VectorsAreMadeOnceAndOnlyWhereTheyCanHelp) {
  options_.embedding_layers = {{"vision", 64, 0.9}};
  Open();
  Serve(kColour, {1});
  EXPECT_EQ(hook_->calls["vision"], 1);
  EXPECT_EQ(encoder_->calls, 1);
  const Report again = Serve(kColour, {1});
  EXPECT_EQ(Layer(again, "semantic_text").reason, "not needed");
  EXPECT_EQ(Layer(again, "embedding:vision").reason, "not needed");
  Serve("Is it red?", {1});
  EXPECT_EQ(hook_->calls["vision"], 1) << "this very picture is stored";
  EXPECT_EQ(encoder_->calls, 2);
}

TEST_F(VectorLayersTest, WithoutSubstitutionNoVectorIsMade) {
  options_.loosest = ReuseClass::kNormalized;
  options_.embedding_layers = {{"vision", 64, 0.9}};
  Open();
  Serve(kColour, {1});
  const Report report = Serve(kParaphrase, {2});
  EXPECT_EQ(Layer(report, "embedding:vision").status, LayerStatus::kSkip);
  EXPECT_EQ(hook_->calls["vision"] + encoder_->calls, 0);
}

TEST_F(VectorLayersTest, ADonorThatWasEvictedIsNoCandidate) {
  Open();
  Serve(kColour);
  ASSERT_TRUE(cache_->Flush().ok());
  options_.max_blocks = 8;  // less than one request
  Open();
  Serve("Is this another one, with many more tokens than there is room for?", {7});
  ASSERT_TRUE(cache_->Flush().ok());
  const Report report = Serve(kParaphrase);
  EXPECT_TRUE(report.substitution.empty());
  for (const CandidateReport& candidate : Layer(report, "semantic_text").candidates) {
    EXPECT_NE(candidate.donor.question, kColour);
  }
}

TEST_F(VectorLayersTest, APictureEncodedToFindOthersLikeItIsNotEncodedTwice) {
  UseOnly({{"vision", 64, 0.9}});
  hook_->instead = [&](const EmbeddingInput& input) -> Result<std::vector<std::vector<float>>> {
    const Result<std::vector<NamedTensor>> tensors = input.encoder_output();
    if (!tensors.ok()) return tensors.error();
    std::vector<float> vector(64, 0.01f);
    vector[static_cast<size_t>(tensors->at(0).values.at(0)) % 64] = 1;
    return std::vector<std::vector<float>>{vector};
  };
  Open();
  Serve(kColour, {1});
  const Report report = Serve(kColour, {3});
  EXPECT_EQ(report.stats.images_encoded, 1);
  EXPECT_EQ(report.stats.images_put_back, 0);
  EXPECT_EQ(report.stats.encode_ms, fake_.costs.encode_ms_per_image);
  EXPECT_EQ(Serve("Is it red?", {3}).stats.images_encoded, 0) << "and its output was kept";
}

TEST_F(VectorLayersTest, ARequestWithoutAPictureSkipsPictureLayers) {
  options_.embedding_layers = {{"vision", 64, 0.9}};
  Open();
  Serve("Is there a text without a picture that is long enough to be kept?", {});
  const Report report = Serve("Is there a text without a picture that is long enough to be found?", {});
  EXPECT_EQ(Layer(report, "embedding:vision").status, LayerStatus::kSkip);
  EXPECT_EQ(Layer(report, "embedding:vision").reason, "the request has no picture");
}

TEST_F(VectorLayersTest, ThePicturesThemselvesAreComparedAlsoAfterARestart) {
  UseOnly({{"vision", 64, 0.9}});
  options_.near_local = 2;
  Open();
  Serve(kColour, {1});
  const Report noise = Serve("Is it red?", {2});
  EXPECT_EQ(noise.substitution, "") << "like by its vector, and nothing alike";
  EXPECT_NE(Layer(noise, "embedding:vision").reason.find("image gate: one place differs by"), std::string::npos)
      << Layer(noise, "embedding:vision").reason;
  Open();
  EXPECT_NE(Layer(Serve("Is it new?", {4}), "embedding:vision").candidates.at(0).refused, "");
  options_.near_local = 255;
  Open();
  places_->Near(Picture(6), Picture(1), 0.95f);
  const Report near = Serve("Is it big?", {6});
  EXPECT_EQ(near.substitution, "picture");
  EXPECT_EQ(Layer(near, "embedding:vision").candidates.at(0).passed.size(), 2u);
}

TEST_F(VectorLayersTest, ALayerThatCostsMoreThanIsLeftToSaveIsNotAsked) {
  Open();
  Serve(kColour, {1});
  encoder_->cost = [&] { clock_.AdvanceMs(1e6); };
  Serve("Is it red?", {1});  // now it is known what asking takes
  const int calls = encoder_->calls;
  const Report report = Serve(kParaphrase, {1});
  EXPECT_EQ(Layer(report, "semantic_text").status, LayerStatus::kSkip);
  EXPECT_NE(Layer(report, "semantic_text").reason.find("not worth it"), std::string::npos);
  EXPECT_EQ(report.provenance, "prefix:image");
  EXPECT_EQ(encoder_->calls, calls + 1) << "made after the answer, to be found by";

  encoder_->cost = [&] { clock_.AdvanceMs(0.001); };
  bool asked = false;
  for (int i = 0; i < 300 && !asked; ++i) {
    asked = Layer(Serve("Is it one of " + std::to_string(i) + "?", {1}), "semantic_text").status != LayerStatus::kSkip;
  }
  EXPECT_TRUE(asked) << "what it takes now is learnt though nobody asks it";
}

TEST_F(VectorLayersTest, TheOriginalAnswersAboutWhateverPictureTheTextWasLastAskedAbout) {
  options_.image_gate = ImageGate::kOff;
  options_.license_whole = options_.greedy = true;
  options_.prefix_layer = false;
  Open();
  Serve(kColour, {1});
  Serve("Is it big?", {3});
  const Report exact = Serve(kColour, {3});
  EXPECT_EQ(exact.provenance, "text:exact");
  EXPECT_EQ(exact.substitution, "picture");
  ExpectAnswerOf(kColour, 1);
  const Report like = Serve(kParaphrase, {4});
  EXPECT_EQ(like.provenance, "text:semantic");
  EXPECT_EQ(like.substitution, "question and picture");
  ExpectAnswerOf(kColour, 1);
}

TEST_F(VectorLayersTest, AnOracleDecidesAlone) {
  std::string asked_about;
  options_.oracle = [&](const Query& asked, const Donor& donor, bool question, bool picture) -> std::optional<bool> {
    asked_about = asked.id + " / " + donor.id + (question ? " question" : "") + (picture ? " picture" : "");
    return donor.id == "Is it far from it?";
  };
  Open();
  Serve(kColour, {1});
  Serve("Is it far from it?", {1});
  const Report report = Serve(kParaphrase, {1});
  EXPECT_EQ(report.donor->question, "Is it far from it?") << "whatever its score";
  EXPECT_EQ(Layer(report, "semantic_text").candidates.at(0).refused,
            "oracle: the labels say that they are not the same");
}

// A layer of somebody else's: one class, and one line to add it.
class LastDonorLayer : public afterimage::Layer {
 public:
  std::string_view key() const override { return "last_donor"; }
  std::string_view provenance() const override { return "last"; }
  Modality modality() const override { return Modality::kText; }
  Result<std::vector<Candidate>> Lookup(const LayerQuery& query) override {
    if (last_.empty()) return std::vector<Candidate>();
    Candidate candidate;
    candidate.record.text = last_;
    candidate.record.donor.question = last_;
    candidate.pictures = query.pictures;
    candidate.score = 0.5;
    return std::vector<Candidate>{candidate};
  }
  void Record(const LayerQuery& query, RequestRow& /*row*/, std::vector<VectorRow>& /*vectors*/) override {
    last_ = query.input.question;
  }

 private:
  std::string last_;
};

TEST_F(VectorLayersTest, AnotherLayerIsOneClassAndOneLine) {
  more_layers_.emplace_back(
      [](const LayerSetup&) { return LayerSlot{"last_donor", "", std::make_unique<LastDonorLayer>()}; });
  Open();
  Serve("Is it red?");
  const Report report = Serve("Where is it?");
  EXPECT_EQ(report.provenance, "last");
  EXPECT_EQ(Layer(report, "last_donor").status, LayerStatus::kHit);
  ExpectAnswerOf("Is it red?", 1);
}

}  // namespace
}  // namespace afterimage
