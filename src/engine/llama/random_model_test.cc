#include "engine/llama/random_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "llama.h"
#include "mtmd-helper.h"
#include "mtmd.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

struct FreeModel {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct FreeContext {
  void operator()(llama_context* context) const { llama_free(context); }
};

void SilenceLlama() {
  const ggml_log_callback silent = [](ggml_log_level, const char*, void*) {};
  llama_log_set(silent, nullptr);
  mtmd_helper_log_set(silent, nullptr);
}

// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = ::testing::TempDir() + "random_model.XXXXXX";
    path_ = mkdtemp(path.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string Bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

RandomModelFiles Write(const RandomModelShape& shape, const std::string& dir) {
  const Result<RandomModelFiles> files = WriteRandomModel(shape, dir);
  EXPECT_TRUE(files.ok()) << files.error().message;
  return files.ok() ? *files : RandomModelFiles{};
}

mtmd::bitmap_ptr RandomPicture(uint32_t width, uint32_t height, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> pixels(size_t{3} * width * height);
  for (unsigned char& value : pixels) value = static_cast<unsigned char>(random());
  return mtmd::bitmap_ptr(mtmd_bitmap_init(width, height, pixels.data()));
}

// A written model, loaded; vision() is null for a text model.
class LoadedModel {
 public:
  explicit LoadedModel(const RandomModelFiles& files) {
    SilenceLlama();
    llama_model_params model_params = llama_model_default_params();
    model_params.n_gpu_layers = 0;
    model_.reset(llama_model_load_from_file(files.model_path.c_str(), model_params));
    if (model_ == nullptr) return;
    llama_context_params context_params = llama_context_default_params();
    context_params.n_ctx = 1024;
    context_params.n_threads = context_params.n_threads_batch = 1;
    context_.reset(llama_init_from_model(model_.get(), context_params));
    if (files.mmproj_path.empty()) return;
    mtmd_context_params vision_params = mtmd_context_params_default();
    vision_params.use_gpu = false;
    vision_params.n_threads = 1;
    vision_params.warmup = false;  // for the Qwen families that is a picture of 8,464 patches
    vision_.reset(mtmd_init_from_file(files.mmproj_path.c_str(), model_.get(), vision_params));
  }

  llama_model* model() { return model_.get(); }
  mtmd_context* vision() { return vision_.get(); }

  std::vector<llama_token> Tokens(const std::string& text) {
    std::vector<llama_token> tokens(text.size() + 1);
    const int n =
        llama_tokenize(llama_model_get_vocab(model()), text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                       static_cast<int32_t>(tokens.size()), /*add_special=*/true, /*parse_special=*/true);
    tokens.resize(static_cast<size_t>(std::max(n, 0)));
    return tokens;
  }

  mtmd::input_chunks_ptr Chunks(const mtmd_bitmap* picture) {
    mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
    const std::string prompt = std::string("<|im_start|>user\n") + mtmd_default_marker() +
                               "\nWhat is in this picture?<|im_end|>\n<|im_start|>assistant\n";
    const mtmd_input_text text = {
        .text = prompt.c_str(), .text_len = prompt.size(), .add_special = false, .parse_special = true};
    EXPECT_EQ(mtmd_tokenize(vision(), chunks.get(), &text, &picture, 1), 0);
    return chunks;
  }

  // Of the last token of a prompt about the picture, or of a text prompt.
  std::vector<float> Logits(const mtmd_bitmap* picture) {
    llama_memory_clear(llama_get_memory(context_.get()), true);
    llama_pos n_past = 0;
    const mtmd::input_chunks_ptr chunks = Chunks(picture);
    EXPECT_EQ(mtmd_helper_eval_chunks(vision(), context_.get(), chunks.get(), 0, 0, 512, true, &n_past), 0);
    return LastLogits();
  }
  std::vector<float> Logits(const std::string& text) {
    llama_memory_clear(llama_get_memory(context_.get()), true);
    std::vector<llama_token> tokens = Tokens(text);
    EXPECT_EQ(llama_decode(context_.get(), llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))), 0);
    return LastLogits();
  }

 private:
  std::vector<float> LastLogits() {
    const float* logits = llama_get_logits_ith(context_.get(), -1);
    return {logits, logits + llama_vocab_n_tokens(llama_model_get_vocab(model()))};
  }

  std::unique_ptr<llama_model, FreeModel> model_;
  std::unique_ptr<llama_context, FreeContext> context_;
  mtmd::context_ptr vision_;
};

std::vector<const mtmd_input_chunk*> ImageChunks(const mtmd_input_chunks* chunks) {
  std::vector<const mtmd_input_chunk*> images;
  for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
    const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks, i);
    if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE) images.push_back(chunk);
  }
  return images;
}

void ExpectSensible(const std::vector<float>& logits) {
  ASSERT_FALSE(logits.empty());
  double sum = 0;
  double squares = 0;
  for (const float logit : logits) {
    ASSERT_TRUE(std::isfinite(logit));
    sum += logit;
    squares += double{logit} * logit;
  }
  const double n = static_cast<double>(logits.size());
  const double deviation = std::sqrt(squares / n - (sum / n) * (sum / n));
  EXPECT_GT(deviation, 0.1);
  EXPECT_LT(deviation, 30.0);
}

// By how much two sets of logits differ, in the root of the mean square.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(double{a[i]} - b[i], 2);
  return std::sqrt(squares / static_cast<double>(a.size()));
}

class TinyModel : public ::testing::TestWithParam<std::string> {
 protected:
  RandomModelShape shape_ = NamedShape(GetParam()).value();
  TemporaryFolder folder_;
};

class TinyVisionModel : public TinyModel {};

TEST_P(TinyModel, LogitsAreFiniteAndDifferFromTokenToToken) {
  LoadedModel model(Write(shape_, folder_.path()));
  ASSERT_NE(model.model(), nullptr);
  const std::vector<float> logits = model.Logits("What is in this picture?");
  ExpectSensible(logits);
  EXPECT_GT(Difference(logits, model.Logits("How is in this picture?")), 0.1);
}

TEST_P(TinyModel, TokenizerMergesWordsKnowsControlTokensAndSpeaksChatMl) {
  LoadedModel model(Write(shape_, folder_.path()));
  ASSERT_NE(model.model(), nullptr);
  EXPECT_EQ(model.Tokens(" the").size(), 1u);
  EXPECT_EQ(model.Tokens("<|im_start|>user\nx").size(), 4u);
  EXPECT_EQ(model.Tokens("<img></img><|vision_start|><|vision_end|>").size(), 4u);
  EXPECT_EQ(model.Tokens("h\xc3\xa9").size(), 3u);
  const llama_vocab* vocab = llama_model_get_vocab(model.model());
  EXPECT_EQ(llama_vocab_n_tokens(vocab), shape_.vocab);
  EXPECT_EQ(model.Tokens("<|im_end|>"), std::vector<llama_token>{llama_vocab_eos(vocab)});

  const llama_chat_message message = {.role = "user", .content = "x"};
  std::string chat(100, '\0');
  const int n = llama_chat_apply_template(llama_model_chat_template(model.model(), nullptr), &message, 1, true,
                                          chat.data(), static_cast<int32_t>(chat.size()));
  ASSERT_GT(n, 0);
  EXPECT_EQ(chat.substr(0, static_cast<size_t>(n)), "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n");
}

TEST_P(TinyModel, SameShapeGivesSameBytesAndAnotherSeedDoesNot) {
  TemporaryFolder other;
  const RandomModelFiles first = Write(shape_, folder_.path());
  const RandomModelFiles second = Write(shape_, other.path());
  EXPECT_EQ(Bytes(first.model_path), Bytes(second.model_path));
  EXPECT_EQ(Bytes(first.mmproj_path), Bytes(second.mmproj_path));
  EXPECT_EQ(first.mmproj_path.empty(), shape_.family == RandomModelShape::Family::kText);

  shape_.seed = 2;
  const std::string old_model = Bytes(second.model_path);
  EXPECT_NE(Bytes(Write(shape_, other.path()).model_path), old_model);
}

TEST_P(TinyModel, IsSmall) {
  Write(shape_, folder_.path());
  uintmax_t size = 0;
  for (const auto& file : fs::directory_iterator(folder_.path())) size += file.file_size();
  EXPECT_LT(size, 1u << 20);
}

TEST_P(TinyVisionModel, LogitsDependOnThePicture) {
  LoadedModel model(Write(shape_, folder_.path()));
  ASSERT_NE(model.vision(), nullptr);
  const std::vector<float> logits = model.Logits(RandomPicture(96, 96, 1).get());
  ExpectSensible(logits);
  EXPECT_EQ(logits, model.Logits(RandomPicture(96, 96, 1).get()));
  EXPECT_GT(Difference(logits, model.Logits(RandomPicture(96, 96, 2).get())), 0.1);
}

TEST_P(TinyVisionModel, SmallPictureIsOneChunkOfFewTokens) {
  LoadedModel model(Write(shape_, folder_.path()));
  ASSERT_NE(model.vision(), nullptr);
  const mtmd::input_chunks_ptr chunks = model.Chunks(RandomPicture(96, 96, 1).get());
  const std::vector<const mtmd_input_chunk*> images = ImageChunks(chunks.get());
  ASSERT_EQ(images.size(), 1u);
  EXPECT_GE(mtmd_input_chunk_get_n_tokens(images[0]), 4u);
  EXPECT_LE(mtmd_input_chunk_get_n_tokens(images[0]), 16u);
}

TEST_P(TinyVisionModel, LargePictureIsTilesForInternVlAndMoreTokensForQwen) {
  LoadedModel model(Write(shape_, folder_.path()));
  ASSERT_NE(model.vision(), nullptr);
  const mtmd::bitmap_ptr picture = RandomPicture(256, 192, 1);
  const mtmd::input_chunks_ptr chunks = model.Chunks(picture.get());
  const std::vector<const mtmd_input_chunk*> images = ImageChunks(chunks.get());
  if (shape_.family == RandomModelShape::Family::kInternVl) {
    EXPECT_EQ(images.size(), 5u);  // two rows of two tiles, and the overview
    for (const mtmd_input_chunk* image : images) EXPECT_EQ(mtmd_input_chunk_get_n_tokens(image), 16u);
  } else {
    ASSERT_EQ(images.size(), 1u);
    EXPECT_GT(mtmd_input_chunk_get_n_tokens(images[0]), 40u);
  }
  ExpectSensible(model.Logits(picture.get()));
}

const auto kNameOfShape = [](const ::testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param) name += c == '-' || c == '.' ? '_' : c;
  return name;
};
INSTANTIATE_TEST_SUITE_P(RandomModel, TinyModel,
                         ::testing::Values("tiny-internvl", "tiny-qwen3vl", "tiny-qwen2.5vl", "tiny-text"),
                         kNameOfShape);
INSTANTIATE_TEST_SUITE_P(RandomModel, TinyVisionModel,
                         ::testing::Values("tiny-internvl", "tiny-qwen3vl", "tiny-qwen2.5vl"), kNameOfShape);

TEST(RandomModel, EveryNameHasAShapeAndOtherNamesHaveNone) {
  EXPECT_EQ(ShapeNames().size(), 7u);
  for (const std::string& name : ShapeNames()) {
    ASSERT_TRUE(NamedShape(name).has_value());
    EXPECT_EQ(NamedShape(name)->name, name);
  }
  EXPECT_EQ(NamedShape("70b"), std::nullopt);
}

TEST(RandomModel, FilesOfTheSameShapeAreKept) {
  const TemporaryFolder folder;
  const RandomModelShape shape = NamedShape("tiny-internvl").value();
  const RandomModelFiles files = Write(shape, folder.path());
  const fs::file_time_type past = fs::last_write_time(files.model_path) - std::chrono::hours(1);
  fs::last_write_time(files.model_path, past);
  fs::last_write_time(files.mmproj_path, past);
  Write(shape, folder.path());
  EXPECT_EQ(fs::last_write_time(files.model_path), past);
  EXPECT_EQ(fs::last_write_time(files.mmproj_path), past);
}

TEST(RandomModel, FilesOfAnotherShapeAndIncompleteFilesAreReplaced) {
  const TemporaryFolder folder;
  RandomModelShape shape = NamedShape("tiny-internvl").value();
  const RandomModelFiles files = Write(shape, folder.path());
  const std::string model = Bytes(files.model_path);
  const std::string mmproj = Bytes(files.mmproj_path);

  RandomModelShape other = shape;
  other.seed = 2;
  Write(other, folder.path());
  EXPECT_NE(Bytes(files.model_path), model);
  EXPECT_NE(Bytes(files.mmproj_path), mmproj);

  fs::resize_file(files.model_path, 1000);
  fs::remove(files.mmproj_path);
  Write(shape, folder.path());
  EXPECT_EQ(Bytes(files.model_path), model);
  EXPECT_EQ(Bytes(files.mmproj_path), mmproj);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "a temporary file was left behind";
}

TEST(RandomModel, ShapesLlamaCppCouldNotRunAreRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](auto change) {
    RandomModelShape shape = NamedShape("tiny-qwen2.5vl").value();
    change(shape);
    const Result<RandomModelFiles> files = WriteRandomModel(shape, folder.path());
    return !files.ok() && files.error().code == Errc::kInvalidArgument;
  };
  EXPECT_FALSE(refused([](RandomModelShape&) {}));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.name = "../escape"; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.layers = 0; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.kv_heads = 3; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.width = 96; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.feed_forward = 100; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.vocab = 265; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.patch_size = 0; }));
  EXPECT_TRUE(refused([](RandomModelShape& s) { s.image_size = 100; }));
}

TEST(RandomModel, FolderThatCannotBeMadeIsAnIoError) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "x";
  const Result<RandomModelFiles> files = WriteRandomModel(NamedShape("tiny-text").value(), file + "/sub");
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, Errc::kIo);
}

}  // namespace
}  // namespace afterimage
