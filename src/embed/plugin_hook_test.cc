#include "embed/plugin_hook.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

const std::vector<std::string> kLengths{"lengths"};
const std::vector<std::string> kEncoded{"encoded"};

std::unique_ptr<EmbeddingHook> Load(const std::string& factory) {
  Result<std::unique_ptr<EmbeddingHook>> hook = NewPluginHook(TEST_PLUGINS, factory);
  EXPECT_TRUE(hook.ok()) << hook.error().message;
  return std::move(*hook);
}

Error ErrorOf(const std::string& path, const std::string& factory) {
  const Result<std::unique_ptr<EmbeddingHook>> hook = NewPluginHook(path, factory);
  EXPECT_FALSE(hook.ok());
  return hook.ok() ? Error{} : hook.error();
}

std::shared_ptr<const Image> OneColour(uint8_t red, uint8_t green, uint8_t blue) {
  std::vector<uint8_t> rgb;
  for (int i = 0; i < 6; ++i) rgb.insert(rgb.end(), {red, green, blue});
  return Image::FromRgb(3, 2, std::move(rgb)).value();
}

TEST(PluginHookTest, TheExampleCountsColours) {
  const auto hook = NewPluginHook(HISTOGRAM_HOOK, "histogram_hook");
  ASSERT_TRUE(hook.ok()) << hook.error().message;
  ASSERT_EQ((*hook)->sources().size(), 1u);
  const EmbeddingSource& source = (*hook)->sources()[0];
  EXPECT_EQ(source.name, "vision");
  EXPECT_EQ(source.dim, 64);
  EXPECT_EQ(source.modality, Modality::kImage);
  EXPECT_EQ(source.identity, "histogram_hook/1");

  const std::vector<std::string> names{"vision"};
  const std::vector images{OneColour(255, 0, 130)};
  EmbeddingInput input;
  input.images = images;
  const auto vectors = (*hook)->Embed(names, input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  std::vector<float> expected(64);
  expected[3 * 16 + 0 * 4 + 2] = 1;
  EXPECT_EQ((*vectors)[0], expected);
}

TEST(PluginHookTest, ARequestWithoutAPictureIsASkip) {
  const auto hook = NewPluginHook(HISTOGRAM_HOOK, "histogram_hook");
  ASSERT_TRUE(hook.ok());
  const std::vector<std::string> names{"vision"};
  const auto vectors = (*hook)->Embed(names, {});
  ASSERT_FALSE(vectors.ok());
  EXPECT_EQ(vectors.error().code, Errc::kNotFound);
  EXPECT_EQ(vectors.error().message, "The request has no picture.");
}

TEST(PluginHookTest, AHookSeesTheTextsOfTheRequest) {
  EmbeddingInput input;
  input.id = "1";
  input.question = "22";
  input.chunk_text = "333";
  input.metadata = "4444";
  const auto vectors = Load("good")->Embed(kLengths, input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ((*vectors)[0], (std::vector<float>{1, 2, 3, 4}));
}

TEST(PluginHookTest, VectorsComeInTheOrderOfTheNames) {
  EmbeddingInput input;
  input.encoder_output = [] { return std::vector<NamedTensor>{{"t", {1, 1}, {0.5f}}, {"t", {1, 1}, {2.5f}}}; };
  const std::vector<std::string> names{"encoded", "lengths"};
  const auto vectors = Load("good")->Embed(names, input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ((*vectors)[0], (std::vector<float>{2, 0.5f}));
  EXPECT_EQ((*vectors)[1], (std::vector<float>{0, 0, 0, 0}));
}

TEST(PluginHookTest, WhyThereIsNoEncoderOutputReachesTheCaller) {
  EmbeddingInput input;
  input.encoder_output = []() -> Result<std::vector<NamedTensor>> {
    return Error{Errc::kInternal, "The encoder is on fire."};
  };
  const auto vectors = Load("good")->Embed(kEncoded, input);
  ASSERT_FALSE(vectors.ok());
  EXPECT_NE(vectors.error().message.find("The encoder is on fire."), std::string::npos);
}

TEST(PluginHookTest, AHookMayDoWithoutEncoderOutput) {
  const auto vectors = Load("good")->Embed(kEncoded, {});
  ASSERT_FALSE(vectors.ok());
  EXPECT_EQ(vectors.error().code, Errc::kNotFound);
}

TEST(PluginHookTest, AVectorNotWrittenToItsEndIsRefused) {
  const auto vectors = Load("too_little")->Embed(kLengths, {});
  ASSERT_FALSE(vectors.ok());
  EXPECT_EQ(vectors.error().code, Errc::kInternal);
}

TEST(PluginHookTest, AVectorThatIsNotFiniteIsRefused) {
  const auto vectors = Load("infinite")->Embed(kLengths, {});
  ASSERT_FALSE(vectors.ok());
  EXPECT_EQ(vectors.error().code, Errc::kInternal);
  EXPECT_NE(vectors.error().message.find("not finite"), std::string::npos);
}

TEST(PluginHookTest, AnErrorTextWithoutAnEndIsCut) {
  const auto vectors = Load("failing")->Embed(kLengths, {});
  ASSERT_FALSE(vectors.ok());
  EXPECT_NE(vectors.error().message.find("xxx"), std::string::npos);
  EXPECT_LT(vectors.error().message.size(), 2000u);
}

TEST(PluginHookTest, AWrongPathIsNamed) {
  const Error error = ErrorOf("nowhere/libnone.so", "good");
  EXPECT_EQ(error.code, Errc::kNotFound);
  EXPECT_NE(error.message.find("nowhere/libnone.so"), std::string::npos);
}

TEST(PluginHookTest, AFileThatIsNoSharedObjectIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text.so") << "not an object";
  EXPECT_EQ(ErrorOf(folder / "text.so", "good").code, Errc::kInvalidArgument);
}

TEST(PluginHookTest, AMissingFactoryIsNamed) {
  const Error error = ErrorOf(TEST_PLUGINS, "absent");
  EXPECT_EQ(error.code, Errc::kNotFound);
  EXPECT_NE(error.message.find("'absent'"), std::string::npos);
}

TEST(PluginHookTest, AnotherVersionOfTheHeaderIsRefused) {
  const Error error = ErrorOf(TEST_PLUGINS, "other_abi");
  EXPECT_EQ(error.code, Errc::kUnsupported);
  EXPECT_NE(error.message.find("version 2"), std::string::npos);
}

TEST(PluginHookTest, AFactoryThatReturnsNullSaysWhy) {
  const Error error = ErrorOf(TEST_PLUGINS, "refusing");
  EXPECT_EQ(error.code, Errc::kInternal);
  EXPECT_NE(error.message.find("The weights are missing."), std::string::npos);
}

TEST(PluginHookTest, SourcesThatCannotBeAreRefused) {
  for (const char* factory : {"no_sources", "no_embed", "huge", "nameless", "no_modality"}) {
    EXPECT_EQ(ErrorOf(TEST_PLUGINS, factory).code, Errc::kInvalidArgument) << factory;
  }
}

TEST(PluginHookTest, TheObjectStaysLoadedAsLongAsAHookOfItLives) {
  const auto is_loaded = [] {
    void* library = dlopen(TEST_PLUGINS, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) dlclose(library);
    return library != nullptr;
  };
  EXPECT_FALSE(is_loaded());
  auto one = Load("good");
  auto other = Load("too_little");
  one.reset();
  EXPECT_TRUE(is_loaded());
  other.reset();
  EXPECT_FALSE(is_loaded());
}

TEST(PluginHookTest, AHookIsDestroyedWithItsState) {
  void* library = dlopen(TEST_PLUGINS, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto n_alive = reinterpret_cast<int (*)()>(dlsym(library, "n_alive"));
  ASSERT_NE(n_alive, nullptr);
  auto hook = Load("good");
  EXPECT_EQ(n_alive(), 1);
  hook.reset();
  EXPECT_EQ(n_alive(), 0);
  dlclose(library);
}

}  // namespace
}  // namespace afterimage
