// What makes two engines' rows the same or not: identity, model files, and what is not a model at all.
#include "engine/llama/llama_identity.h"

#include <gtest/gtest.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "engine/llama/llama_test_models.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

using Change = std::function<void(LlamaOptions&)>;

Identity IdentityWith(LlamaOptions options, const Change& change = [](LlamaOptions&) {}) {
  change(options);
  const auto engine = NewLlamaEngine(options);
  if (!engine.ok()) {
    ADD_FAILURE() << engine.error().message;
    return {};
  }
  return (*engine)->info().identity;
}

// The names of the fields that differ.
std::vector<std::string> Differences(const IdentityPart& a, const IdentityPart& b) {
  std::vector<std::string> names;
  EXPECT_EQ(a.fields().size(), b.fields().size());
  for (size_t i = 0; i < std::min(a.fields().size(), b.fields().size()); ++i) {
    EXPECT_EQ(a.fields()[i].first, b.fields()[i].first);
    if (a.fields()[i].second != b.fields()[i].second) names.push_back(a.fields()[i].first);
  }
  EXPECT_EQ(a.digest() == b.digest(), names.empty());
  return names;
}

using Names = std::vector<std::string>;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class LlamaIdentity : public testing::Test {
 protected:
  LlamaIdentity() {
    std::string path = testing::TempDir() + "llama_identity.XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~LlamaIdentity() override { fs::remove_all(folder_); }

  // A copy of the file with the lowest bit of one byte of its last tensor flipped. Tensors are padded to 32 bytes, and
  // the last one of either file is 64 floats: its last byte is the file's.
  std::string CopyWithOneBitFlipped(const std::string& path) const {
    std::string bytes = ReadFile(path);
    bytes[bytes.size() - 4] = static_cast<char>(bytes[bytes.size() - 4] ^ 1);
    return Write(fs::path(path).filename(), bytes);
  }

  std::string Write(const std::string& name, const std::string& bytes) const {
    std::string path = folder_ + "/" + name;
    WriteFile(path, bytes);
    return path;
  }

  std::string folder_;
};

TEST_F(LlamaIdentity, TheSameModelHasTheSameIdentityWhereverItsFilesLie) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const Identity here = IdentityWith(options);
  const Identity there = IdentityWith(options, [&](LlamaOptions& o) {
    o.model_path = Write("other-name.gguf", ReadFile(options.model_path));
    o.mmproj_path = Write("other-mmproj.gguf", ReadFile(options.mmproj_path));
  });
  EXPECT_EQ(here.compatibility.digest(), there.compatibility.digest());
  EXPECT_EQ(here.numerics.digest(), there.numerics.digest());
}

TEST_F(LlamaIdentity, RememberedDigestsAreTheSame) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const auto remember = [&](LlamaOptions& o) { o.file_digest_cache = folder_ + "/digests"; };
  const Identity computed = IdentityWith(options);
  EXPECT_EQ(Differences(computed.compatibility, IdentityWith(options, remember).compatibility), Names{});
  EXPECT_EQ(Differences(computed.compatibility, IdentityWith(options, remember).compatibility), Names{});
}

TEST_F(LlamaIdentity, WhatShapesRowsChangesCompatibilityAndIsNamed) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const Identity base = IdentityWith(options);
  const std::vector<std::pair<std::string, Change>> changes = {
      {"weights and tokenizer", [&](LlamaOptions& o) { o.model_path = CopyWithOneBitFlipped(o.model_path); }},
      {"projector", [&](LlamaOptions& o) { o.mmproj_path = CopyWithOneBitFlipped(o.mmproj_path); }},
      {"projector", [](LlamaOptions& o) { o.mmproj_path.clear(); }},
      {"chat template", [](LlamaOptions& o) { o.chat_template = "chatml"; }},
      {"kv types", [](LlamaOptions& o) { o.k_type = "f32"; }},
      {"kv types", [](LlamaOptions& o) { o.v_type = "f32"; }},
      {"kv types", [](LlamaOptions& o) { o.k_type = "q8_0"; }},
      {"flash attention", [](LlamaOptions& o) { o.flash_attention = false; }},
  };
  for (const auto& [name, change] : changes) {
    const Identity changed = IdentityWith(options, change);
    EXPECT_EQ(Differences(base.compatibility, changed.compatibility), Names{name});
    EXPECT_EQ(Differences(base.numerics, changed.numerics), Names{}) << name;
  }
}

TEST_F(LlamaIdentity, KAndVTypesAreNotInterchangeable) {
  const LlamaOptions options = TestOptions("tiny-text");
  const Identity k = IdentityWith(options, [](LlamaOptions& o) { o.k_type = "f32"; });
  const Identity v = IdentityWith(options, [](LlamaOptions& o) { o.v_type = "f32"; });
  EXPECT_EQ(Differences(k.compatibility, v.compatibility), Names{"kv types"});
}

TEST_F(LlamaIdentity, TokenLimitsOfPicturesChangeCompatibility) {
  for (const char* shape : {"tiny-qwen3vl", "tiny-qwen2.5vl"}) {
    const LlamaOptions options = TestOptions(shape);
    const Identity base = IdentityWith(options);
    const Identity min = IdentityWith(options, [](LlamaOptions& o) { o.image_min_tokens = 20; });
    const Identity max = IdentityWith(options, [](LlamaOptions& o) { o.image_max_tokens = 20; });
    EXPECT_EQ(Differences(base.compatibility, min.compatibility), Names{"preprocessing"});
    EXPECT_EQ(Differences(base.compatibility, max.compatibility), Names{"preprocessing"});
    EXPECT_EQ(Differences(min.compatibility, max.compatibility), Names{"preprocessing"});
    EXPECT_NE(PreprocessingOf(base), PreprocessingOf(min));
    EXPECT_NE(PreprocessingOf(min), PreprocessingOf(max));
  }
}

TEST_F(LlamaIdentity, PreprocessingIsThePictureSideOnly) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const Digest base = PreprocessingOf(IdentityWith(options));
  EXPECT_EQ(PreprocessingOf(IdentityWith(options, [](LlamaOptions& o) { o.chat_template = "chatml"; })), base);
  EXPECT_EQ(PreprocessingOf(
                IdentityWith(options, [&](LlamaOptions& o) { o.model_path = CopyWithOneBitFlipped(o.model_path); })),
            base);
  EXPECT_NE(PreprocessingOf(
                IdentityWith(options, [&](LlamaOptions& o) { o.mmproj_path = CopyWithOneBitFlipped(o.mmproj_path); })),
            base);
}

TEST_F(LlamaIdentity, WhatOnlyShapesTheLastBitsChangesNumericsAlone) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const Identity base = IdentityWith(options);
  const std::vector<std::pair<std::string, Change>> changes = {
      {"threads", [](LlamaOptions& o) { o.threads = 2; }},
      {"batch tokens", [](LlamaOptions& o) { o.batch_tokens = 256; }},
      {"gpu layers", [](LlamaOptions& o) { o.gpu_layers = 1; }},
  };
  for (const auto& [name, change] : changes) {
    const Identity changed = IdentityWith(options, change);
    EXPECT_EQ(Differences(base.compatibility, changed.compatibility), Names{}) << name;
    EXPECT_EQ(Differences(base.numerics, changed.numerics), Names{name});
  }
}

TEST_F(LlamaIdentity, SizesOfTheContextChangeNothing) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const Identity base = IdentityWith(options);
  const std::vector<Change> changes = {[](LlamaOptions& o) { o.max_sequences = 3; },
                                       [](LlamaOptions& o) { o.context_tokens = 2048; }};
  for (const Change& change : changes) {
    const Identity changed = IdentityWith(options, change);
    EXPECT_EQ(Differences(base.compatibility, changed.compatibility), Names{});
    EXPECT_EQ(Differences(base.numerics, changed.numerics), Names{});
  }
}

TEST_F(LlamaIdentity, ThreadsChosenByTheEngineAreNamedByTheirNumber) {
  const LlamaOptions options = TestOptions("tiny-text");
  const Identity chosen = IdentityWith(options, [](LlamaOptions& o) { o.threads = 0; });
  const auto field =
      std::ranges::find(chosen.numerics.fields(), "threads", &std::pair<std::string, std::string>::first);
  ASSERT_NE(field, chosen.numerics.fields().end());
  const int threads = std::stoi(field->second);
  ASSERT_GE(threads, 1);
  const Identity asked = IdentityWith(options, [&](LlamaOptions& o) { o.threads = threads; });
  EXPECT_EQ(Differences(chosen.numerics, asked.numerics), Names{});
}

TEST_F(LlamaIdentity, NoFieldIsEmptyAndNoNameIsTwice) {
  const Identity identity = IdentityWith(TestOptions("tiny-internvl"));
  std::vector<std::string> names;
  for (const IdentityPart* part : {&identity.compatibility, &identity.numerics}) {
    for (const auto& [name, value] : part->fields()) {
      EXPECT_FALSE(value.empty()) << name;
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(ModelFiles, OfASplitModelAreAllItsParts) {
  EXPECT_EQ(ModelFiles("/m/x-00001-of-00003.gguf"),
            (Names{"/m/x-00001-of-00003.gguf", "/m/x-00002-of-00003.gguf", "/m/x-00003-of-00003.gguf"}));
  EXPECT_EQ(ModelFiles("x-00001-of-00001.gguf"), Names{"x-00001-of-00001.gguf"});
  EXPECT_EQ(ModelFiles("a-00001-of-00002.gguf-00001-of-00002.gguf"),
            (Names{"a-00001-of-00002.gguf-00001-of-00002.gguf", "a-00001-of-00002.gguf-00002-of-00002.gguf"}));
  const Names many = ModelFiles("x-00001-of-00120.gguf");
  ASSERT_EQ(many.size(), 120u);
  EXPECT_EQ(many[99], "x-00100-of-00120.gguf");
}

TEST(ModelFiles, OfAnyOtherNameAreThatOne) {
  for (const char* path : {"model.gguf", "x-00002-of-00003.gguf", "x-00001-of-3.gguf", "x-00001-of-00003.bin",
                           "x-00001-of-00003.gguf.part", "00001-of-00003.gguf", ""}) {
    EXPECT_EQ(ModelFiles(path), Names{path});
  }
}

// A model without split keys loads under any name, so under any name its bytes must be part of its identity.
TEST(ModelFiles, AlwaysIncludeTheFileThatIsLoaded) {
  EXPECT_EQ(ModelFiles("x-00001-of-00000.gguf"), Names{"x-00001-of-00000.gguf"});
}

TEST_F(LlamaIdentity, AModelNamedAsOneOfZeroPartsHasItsWeightsInItsIdentity) {
  LlamaOptions options = TestOptions("tiny-text");
  const std::string bytes = ReadFile(options.model_path);
  options.model_path = Write("x-00001-of-00000.gguf", bytes);
  const Identity identity = IdentityWith(options);
  for (const auto& [name, value] : identity.compatibility.fields()) {
    EXPECT_FALSE(value.empty()) << name;
  }
}

// A folder may be called anything: the parts of a split model behind a line break are parts all the same.
TEST(ModelFiles, OfASplitModelInAFolderWithALineBreakAreAllItsParts) {
  EXPECT_EQ(ModelFiles("/a\nb/x-00001-of-00002.gguf"),
            (Names{"/a\nb/x-00001-of-00002.gguf", "/a\nb/x-00002-of-00002.gguf"}));
}

TEST_F(LlamaIdentity, AMissingPartOfAModelIsNotFound) {
  LlamaOptions options = TestOptions("tiny-text");
  options.model_path = Write("x-00001-of-00002.gguf", ReadFile(options.model_path));
  const auto engine = NewLlamaEngine(options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, Errc::kNotFound);
  EXPECT_NE(engine.error().message.find("x-00002-of-00002.gguf"), std::string::npos) << engine.error().message;
}

// The error of an engine that must not start.
Error StartError(LlamaOptions options, const Change& change) {
  change(options);
  const auto engine = NewLlamaEngine(options);
  EXPECT_FALSE(engine.ok());
  return engine.ok() ? Error{} : engine.error();
}

TEST_F(LlamaIdentity, AMissingFileIsNotFoundAndNamed) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const std::string absent = folder_ + "/absent.gguf";
  const std::vector<Change> changes = {[&](LlamaOptions& o) { o.model_path = absent; },
                                       [&](LlamaOptions& o) { o.mmproj_path = absent; },
                                       [&](LlamaOptions& o) { o.lora_paths = {absent}; }};
  for (const Change& change : changes) {
    const Error error = StartError(options, change);
    EXPECT_EQ(error.code, Errc::kNotFound) << error.message;
    EXPECT_NE(error.message.find(absent), std::string::npos) << error.message;
  }
  EXPECT_EQ(StartError(options, [](LlamaOptions& o) { o.model_path.clear(); }).code, Errc::kNotFound);
  EXPECT_EQ(StartError(options, [&](LlamaOptions& o) { o.model_path = folder_; }).code, Errc::kNotFound);
}

TEST_F(LlamaIdentity, WhatIsNoModelIsRefusedAndNamed) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const std::string model = ReadFile(options.model_path);
  const std::string mmproj = ReadFile(options.mmproj_path);
  const auto garbage = [&](const std::string& whole) {
    return std::vector<std::string>{"",
                                    "not a model",
                                    std::string(4096, '\0'),
                                    std::string(100'000, '\xff'),
                                    "GGUF",
                                    std::string("GGUF\x03\0\0\0", 8) + std::string(64, '\xff'),
                                    whole.substr(0, 3),
                                    whole.substr(0, 30),
                                    whole.substr(0, 1000),
                                    whole.substr(0, whole.size() / 2)};
  };
  const auto refused = [](const Error& error) {
    EXPECT_EQ(error.code, Errc::kInvalidArgument) << error.message;
    EXPECT_NE(error.message.find("bad.gguf"), std::string::npos) << error.message;
  };
  for (const std::string& bytes : garbage(model)) {
    SCOPED_TRACE(testing::Message() << "model of " << bytes.size() << " bytes");
    refused(StartError(options, [&](LlamaOptions& o) { o.model_path = Write("bad.gguf", bytes); }));
  }
  for (const std::string& bytes : garbage(mmproj)) {
    SCOPED_TRACE(testing::Message() << "projector of " << bytes.size() << " bytes");
    refused(StartError(options, [&](LlamaOptions& o) { o.mmproj_path = Write("bad.gguf", bytes); }));
  }
  refused(StartError(options, [&](LlamaOptions& o) { o.model_path = Write("bad.gguf", mmproj); }));
  refused(StartError(options, [&](LlamaOptions& o) { o.mmproj_path = Write("bad.gguf", model); }));
}

// As an interrupted copy leaves it: everything is there but the end of the last tensor.
TEST_F(LlamaIdentity, AFileCutShortInItsLastTensorIsRefused) {
  const LlamaOptions options = TestOptions("tiny-internvl");
  const auto cut = [&](const std::string& path, size_t n) {
    const std::string bytes = ReadFile(path);
    return Write("cut.gguf", bytes.substr(0, bytes.size() - n));
  };
  for (const size_t n : {1u, 100u}) {
    EXPECT_EQ(StartError(options, [&](LlamaOptions& o) { o.model_path = cut(o.model_path, n); }).code,
              Errc::kInvalidArgument)
        << "model, " << n;
    EXPECT_EQ(StartError(options, [&](LlamaOptions& o) { o.mmproj_path = cut(o.mmproj_path, n); }).code,
              Errc::kInvalidArgument)
        << "projector, " << n;
  }
}

TEST_F(LlamaIdentity, TheProjectorOfAModelOfAnotherWidthIsRefused) {
#if defined(__SANITIZE_ADDRESS__)
  const __lsan::ScopedDisabler libmtmd_leaks_here;  // mtmd_context throws from its constructor, after clip_init
#endif
  const LlamaOptions other = TestOptions("tiny-qwen2.5vl");
  const Error error =
      StartError(TestOptions("tiny-internvl"), [&](LlamaOptions& o) { o.mmproj_path = other.mmproj_path; });
  EXPECT_EQ(error.code, Errc::kInvalidArgument) << error.message;
  EXPECT_NE(error.message.find("tiny-qwen2.5vl-mmproj"), std::string::npos) << error.message;
}

TEST_F(LlamaIdentity, OptionsOutOfRangeAreRefused) {
  const LlamaOptions options = TestOptions("tiny-text");
  const std::vector<std::pair<std::string, Change>> changes = {
      {"context of 0 tokens", [](LlamaOptions& o) { o.context_tokens = 0; }},
      {"context of -1 tokens", [](LlamaOptions& o) { o.context_tokens = -1; }},
      {"context of 4194305 tokens", [](LlamaOptions& o) { o.context_tokens = (1 << 22) + 1; }},
      {"0 sequences", [](LlamaOptions& o) { o.max_sequences = 0; }},
      {"257 sequences", [](LlamaOptions& o) { o.max_sequences = 257; }},
      {"-1 threads", [](LlamaOptions& o) { o.threads = -1; }},
      {"513 threads", [](LlamaOptions& o) { o.threads = 513; }},
      {"batch of 127 tokens", [](LlamaOptions& o) { o.batch_tokens = 127; }},
      {"batch of 65537 tokens", [](LlamaOptions& o) { o.batch_tokens = 65537; }},
      {"'f8'/'f16'", [](LlamaOptions& o) { o.k_type = "f8"; }},
      {"'f16'/''", [](LlamaOptions& o) { o.v_type = ""; }},
      {"'F16'/'f16'", [](LlamaOptions& o) { o.k_type = "F16"; }},
  };
  for (const auto& [words, change] : changes) {
    const Error error = StartError(options, change);
    EXPECT_EQ(error.code, Errc::kInvalidArgument) << words;
    EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
  }
}

// libmtmd multiplies these by pixels in 32 bits: a limit that overflows ends the process at the first picture. A
// negative one does nothing but change the identity.
TEST_F(LlamaIdentity, PictureTokenLimitsOutOfRangeAreRefused) {
  const LlamaOptions options = TestOptions("tiny-qwen3vl");
  const std::vector<std::pair<int, int>> limits = {{-1, 0}, {0, -1}, {2'000'000'000, 0}, {0, 2'000'000'000}, {100, 10}};
  for (const auto& [min_tokens, max_tokens] : limits) {
    SCOPED_TRACE(testing::Message() << "from " << min_tokens << " to " << max_tokens);
    const Error error = StartError(options, [&, low = min_tokens, high = max_tokens](LlamaOptions& o) {
      o.image_min_tokens = low;
      o.image_max_tokens = high;
    });
    EXPECT_EQ(error.code, Errc::kInvalidArgument) << error.message;
  }
}

TEST_F(LlamaIdentity, TheEndsOfTheRangesAreAccepted) {
  const LlamaOptions options = TestOptions("tiny-text");
  const std::vector<Change> changes = {[](LlamaOptions& o) { o.context_tokens = 1; },
                                       [](LlamaOptions& o) { o.batch_tokens = kMaxTextSegmentTokens; },
                                       [](LlamaOptions& o) {
                                         o.max_sequences = 256;
                                         o.context_tokens = 256;
                                       }};
  for (const Change& change : changes) {
    LlamaOptions changed = options;
    change(changed);
    const auto engine = NewLlamaEngine(changed);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    EXPECT_EQ((*engine)->info().cache_refusal, "");
    EXPECT_EQ((*engine)->info().context_tokens, changed.context_tokens == 1024 ? 1024 : 256);
    EXPECT_EQ((*engine)->info().max_sequences, changed.max_sequences);
  }
}

}  // namespace
}  // namespace afterimage
