// The sentence encoder against a second computation of it (models/encoder/reference.py), and what is no encoder at all.
// Tests that need the encoder's file are skipped where scripts/fetch-model encoder has not put it.
#include "afterimage/llama_text_encoder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/llama/llama_test_models.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;

using Vector = std::vector<float>;

struct Reference {
  std::string text;
  Vector vector;
};

std::vector<Reference> ReadReferences() {
  std::vector<Reference> references;
  std::ifstream file(AFTERIMAGE_ENCODER_REFERENCE);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    references.push_back({json.at("text"), json.at("vector")});
  }
  return references;
}

double Product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

double Cosine(const Vector& a, const Vector& b) {
  return Product(a, b) / std::sqrt(Product(a, a)) / std::sqrt(Product(b, b));
}

class LlamaTextEncoder : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(AFTERIMAGE_ENCODER)) GTEST_SKIP() << "no " AFTERIMAGE_ENCODER ": scripts/fetch-model encoder";
    encoder_ = NewLlamaTextEncoder(AFTERIMAGE_ENCODER, 1, "").value();
  }

  Vector Encode(std::string_view text) const { return encoder_->Encode(text).value(); }

  std::unique_ptr<TextEncoder> encoder_;
};

TEST_F(LlamaTextEncoder, GivesTheVectorsOfTheReference) {
  const std::vector<Reference> references = ReadReferences();
  ASSERT_EQ(references.size(), 20u);
  for (const Reference& reference : references) {
    ASSERT_EQ(reference.vector.size(), static_cast<size_t>(encoder_->dim()));
    EXPECT_GE(Cosine(Encode(reference.text), reference.vector), 0.9999) << reference.text;
  }
}

TEST_F(LlamaTextEncoder, VectorsHaveLengthOne) {
  for (const char* text : {"", "a", "How many people are standing behind the counter?"}) {
    const Vector vector = Encode(text);
    EXPECT_EQ(vector.size(), 384u);
    EXPECT_NEAR(Product(vector, vector), 1, 1e-6) << text;
  }
}

TEST_F(LlamaTextEncoder, LikeQuestionsAreNearerThanOthers) {
  const Vector question = Encode("What color is the car?");
  const double paraphrase = Cosine(question, Encode("Which colour does the car have?"));
  EXPECT_GT(paraphrase, 0.7);
  EXPECT_GT(paraphrase, Cosine(question, Encode("What color is the horse?")));
  EXPECT_LT(Cosine(question, Encode("The central bank left interest rates unchanged.")), 0.3);
  // Why a threshold alone cannot license a substitution: the opposite question is nearer than the paraphrase.
  EXPECT_GT(Cosine(Encode("Is the dog to the left of the bench?"), Encode("Is the dog to the right of the bench?")),
            paraphrase);
}

TEST_F(LlamaTextEncoder, ATextHasTheSameVectorWhateverCameBefore) {
  const Vector first = Encode("Is the cat asleep?");
  (void)Encode(std::string(3000, 'x'));
  (void)Encode("");
  EXPECT_EQ(Encode("Is the cat asleep?"), first);
}

TEST_F(LlamaTextEncoder, ALongTextIsCutToTheContext) {
  std::string text;  // one token a word, and one at either end
  for (int i = 0; i < 510; ++i) text += "cat ";
  const Vector full = Encode(text);
  EXPECT_NE(Encode(text.substr(4)), full);
  EXPECT_EQ(Encode(text + "dog "), full);
  std::string longer = text;
  while (longer.size() < 1'000'000) longer += "dog \xC3\xA9 ";
  EXPECT_EQ(Encode(longer), full);
}

TEST_F(LlamaTextEncoder, ACharacterCutInTwoAtTheEndOfALongTextIsNothing) {
  const Vector nothing = Encode("");
  for (const size_t spaces : {65'533u, 65'534u, 65'535u}) {
    EXPECT_EQ(Encode(std::string(spaces, ' ') + "\xF0\x9F\x98\x80"), nothing) << spaces;
  }
  EXPECT_NE(Encode(std::string(65'532, ' ') + "\xF0\x9F\x98\x80"), nothing);
}

TEST_F(LlamaTextEncoder, WhatIsNotATextIsRefused) {
  for (const std::string_view text : {std::string_view("\xFF"), std::string_view("caf\xC3"),
                                      std::string_view("a\0b", 3), std::string_view("\0", 1)}) {
    const auto vector = encoder_->Encode(text);
    ASSERT_FALSE(vector.ok());
    EXPECT_EQ(vector.error().code, Errc::kInvalidArgument);
  }
}

TEST_F(LlamaTextEncoder, NamesOfSpecialTokensAreOrdinaryText) {
  EXPECT_EQ(Encode("a cat [SEP] a dog"), Encode("a cat [ sep ] a dog"));
  EXPECT_EQ(Encode("[CLS]"), Encode("[ cls ]"));
}

TEST_F(LlamaTextEncoder, TheIdentityNamesTheWeights) {
  const std::string folder = testing::TempDir() + "llama_text_encoder." + std::to_string(getpid());
  fs::create_directories(folder);
  const std::string copy = folder + "/other-name.gguf";
  fs::copy_file(AFTERIMAGE_ENCODER, copy);
  EXPECT_EQ(NewLlamaTextEncoder(copy, 2, "").value()->identity(), encoder_->identity());
  {
    std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4, std::ios::end);  // the last bits of the last tensor's last number
    file.put('\x01');
  }
  const auto changed = NewLlamaTextEncoder(copy, 1, "").value();
  EXPECT_NE(changed->identity(), encoder_->identity());
  EXPECT_NE(encoder_->identity().find("llama.cpp"), std::string::npos) << encoder_->identity();
  fs::remove_all(folder);
}

TEST_F(LlamaTextEncoder, ThreadsGetTheVectorsOfTheirTexts) {
  const std::vector<std::string> texts = {"Is it red?", "How many cats are there?", "What is on the table?"};
  std::vector<Vector> expected;
  for (const std::string& text : texts) expected.push_back(Encode(text));
  std::atomic<bool> wrong = false;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < texts.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        if (encoder_->Encode(texts[t]).value() != expected[t]) wrong = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
}

Error LoadError(const std::string& path, int threads = 1) {
  const auto encoder = NewLlamaTextEncoder(path, threads, "");
  EXPECT_FALSE(encoder.ok());
  return encoder.ok() ? Error{} : encoder.error();
}

TEST(LlamaTextEncoderFile, AModelThatGeneratesIsNoEncoder) {
  const Error error = LoadError(TestOptions("tiny-text").model_path);
  EXPECT_EQ(error.code, Errc::kUnsupported);
  EXPECT_NE(error.message.find("tiny-text.gguf' is no text encoder"), std::string::npos) << error.message;
}

TEST(LlamaTextEncoderFile, WhatIsNoModelIsRefusedAndNamed) {
  const std::string absent = testing::TempDir() + "absent.gguf";
  EXPECT_EQ(LoadError(absent).code, Errc::kNotFound);
  EXPECT_NE(LoadError(absent).message.find(absent), std::string::npos);
  EXPECT_EQ(LoadError("").code, Errc::kNotFound);
  EXPECT_EQ(LoadError(AFTERIMAGE_ENCODER_REFERENCE).code, Errc::kInvalidArgument);
  EXPECT_EQ(LoadError(TestOptions("tiny-internvl").mmproj_path).code, Errc::kInvalidArgument);
}

TEST(LlamaTextEncoderFile, ThreadsOutOfRangeAreRefused) {
  for (const int threads : {0, -1, 513}) {
    EXPECT_EQ(LoadError(TestOptions("tiny-text").model_path, threads).code, Errc::kInvalidArgument);
  }
}

// The encoder with another value of one of its fields, of 32 bits.
TEST_F(LlamaTextEncoder, AnEncoderThatDoesNotPoolIsRefused) {
  std::ifstream in(AFTERIMAGE_ENCODER, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string key = "bert.pooling_type";
  const size_t at = bytes.find(key);
  ASSERT_NE(at, std::string::npos);
  const std::string path = testing::TempDir() + "no_pooling." + std::to_string(getpid()) + ".gguf";
  for (const char pooling : {'\0', '\4'}) {  // none; rank
    bytes[at + key.size() + 4] = pooling;
    std::ofstream(path, std::ios::binary) << bytes;
    const Error error = LoadError(path);
    EXPECT_EQ(error.code, Errc::kUnsupported);
    EXPECT_NE(error.message.find("pooling"), std::string::npos) << error.message;
  }
  fs::remove(path);
}

}  // namespace
}  // namespace afterimage
