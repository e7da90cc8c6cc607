#include "embed/builtin_hook.h"

#include <gtest/gtest.h>

#include <limits>

#include "embed/pixel_descriptor.h"

namespace afterimage {
namespace {

// The length of a text, twice.
class LengthEncoder : public TextEncoder {
 public:
  explicit LengthEncoder(int dim = 2) : dim_(dim) {}
  int dim() const override { return dim_; }
  const std::string& identity() const override { return identity_; }
  Result<std::vector<float>> Encode(std::string_view text) override {
    if (text == "bad") return Error{Errc::kInvalidArgument, "a bad text"};
    const auto length = static_cast<float>(text.size());
    return std::vector<float>{length, text == "nan" ? std::numeric_limits<float>::quiet_NaN() : length};
  }

 private:
  const int dim_;
  const std::string identity_ = "length/1";
};

HookParts WithEncoders() {
  HookParts parts;
  parts.new_text_encoder = [] { return std::shared_ptr<TextEncoder>(std::make_unique<LengthEncoder>()); };
  parts.encoder_identity = "model-7";
  parts.encoder_dim = 3;
  return parts;
}

std::unique_ptr<EmbeddingHook> Hook(const std::string& name, const std::string& vision = "pixels") {
  HookParts parts = WithEncoders();
  parts.vision = vision;
  return NewBuiltinHook(name, parts).value();
}

Result<std::vector<std::vector<float>>> Embed(EmbeddingHook& hook, const std::string& name,
                                              const EmbeddingInput& input) {
  const std::vector<std::string> names{name};
  return hook.Embed(names, input);
}

std::vector<std::shared_ptr<const Image>> OnePicture() {
  return {Image::FromRgb(2, 1, {255, 0, 0, 0, 0, 255}).value()};
}

TEST(BuiltinHookTest, NoneHasNoSources) { EXPECT_TRUE(Hook("none")->sources().empty()); }

TEST(BuiltinHookTest, NoneAndVisionNeedNoTextEncoder) {
  HookParts parts;
  parts.new_text_encoder = []() -> Result<std::shared_ptr<TextEncoder>> {
    ADD_FAILURE() << "loaded for nothing";
    return Error{Errc::kInternal, ""};
  };
  EXPECT_TRUE(NewBuiltinHook("none", parts).ok());
  EXPECT_TRUE(NewBuiltinHook("vision", parts).ok());
}

TEST(BuiltinHookTest, PromptEncodesTheQuestion) {
  const auto hook = Hook("prompt");
  ASSERT_EQ(hook->sources().size(), 1u);
  EXPECT_EQ(hook->sources()[0].name, "prompt");
  EXPECT_EQ(hook->sources()[0].dim, 2);
  EXPECT_EQ(hook->sources()[0].modality, Modality::kText);
  EXPECT_EQ(hook->sources()[0].identity, "length/1");
  EmbeddingInput input;
  input.question = "four";
  input.chunk_text = "not this";
  const auto vectors = Embed(*hook, "prompt", input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ(*vectors, (std::vector<std::vector<float>>{{4, 4}}));
}

TEST(BuiltinHookTest, VisionDescribesThePixels) {
  const auto hook = Hook("vision");
  ASSERT_EQ(hook->sources().size(), 1u);
  EXPECT_EQ(hook->sources()[0].name, "vision");
  EXPECT_EQ(hook->sources()[0].dim, kPixelDescriptorDim);
  EXPECT_EQ(hook->sources()[0].modality, Modality::kImage);
  EXPECT_EQ(hook->sources()[0].identity, kPixelDescriptorIdentity);
  const auto images = OnePicture();
  EmbeddingInput input;
  input.images = images;
  const auto vectors = Embed(*hook, "vision", input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ((*vectors)[0], PixelDescriptor(images));
}

TEST(BuiltinHookTest, VisionByTheEncoderIsTheMeanOfAllRows) {
  const auto hook = Hook("vision", "encoder");
  EXPECT_EQ(hook->sources()[0].dim, 3);
  EXPECT_NE(hook->sources()[0].identity.find("model-7"), std::string::npos);
  const auto images = OnePicture();
  EmbeddingInput input;
  input.images = images;
  input.encoder_output = [] {
    return std::vector<NamedTensor>{{"a", {2, 3}, {1, 2, 3, 3, 4, 5}}, {"b", {1, 3}, {5, 6, 7}}};
  };
  const auto vectors = Embed(*hook, "vision", input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ((*vectors)[0], (std::vector<float>{3, 4, 5}));
}

TEST(BuiltinHookTest, EncoderOutputOfAnotherShapeIsRefused) {
  const auto images = OnePicture();
  EmbeddingInput input;
  input.images = images;
  for (const NamedTensor& tensor : {NamedTensor{"a", {3, 2}, {1, 2, 3, 4, 5, 6}}, NamedTensor{"a", {1, 3}, {1, 2}},
                                    NamedTensor{"a", {}, {1}}, NamedTensor{"a", {0, 3}, {}}}) {
    input.encoder_output = [&] { return std::vector<NamedTensor>{tensor}; };
    const auto vectors = Embed(*Hook("vision", "encoder"), "vision", input);
    ASSERT_FALSE(vectors.ok());
    EXPECT_EQ(vectors.error().code, Errc::kInternal);
  }
}

TEST(BuiltinHookTest, WithoutEncoderOutputThereIsAnError) {
  const auto images = OnePicture();
  EmbeddingInput input;
  input.images = images;
  EXPECT_EQ(Embed(*Hook("vision", "encoder"), "vision", input).error().code, Errc::kUnsupported);
  input.encoder_output = []() -> Result<std::vector<NamedTensor>> { return Error{Errc::kIo, "gone"}; };
  EXPECT_EQ(Embed(*Hook("vision", "encoder"), "vision", input).error().message, "gone");
}

TEST(BuiltinHookTest, PromptVisionGivesBothInTheOrderAsked) {
  const auto hook = Hook("prompt_vision");
  ASSERT_EQ(hook->sources().size(), 2u);
  EXPECT_EQ(hook->sources()[0].name, "prompt");
  EXPECT_EQ(hook->sources()[1].name, "vision");
  const auto images = OnePicture();
  EmbeddingInput input;
  input.question = "four";
  input.images = images;
  const std::vector<std::string> names{"vision", "prompt"};
  const auto vectors = hook->Embed(names, input);
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ((*vectors)[0].size(), static_cast<size_t>(kPixelDescriptorDim));
  EXPECT_EQ((*vectors)[1], (std::vector<float>{4, 4}));
}

TEST(BuiltinHookTest, ARequestWithNothingForASourceIsASkip) {
  const std::vector<std::shared_ptr<const Image>> grey{Image::FromRgb(1, 1, {9, 9, 9}).value()};
  EmbeddingInput input;
  EXPECT_EQ(Embed(*Hook("prompt"), "prompt", input).error().code, Errc::kNotFound);
  EXPECT_EQ(Embed(*Hook("vision"), "vision", input).error().code, Errc::kNotFound);
  EXPECT_EQ(Embed(*Hook("vision", "encoder"), "vision", input).error().code, Errc::kNotFound);
  input.images = grey;
  EXPECT_EQ(Embed(*Hook("vision"), "vision", input).error().code, Errc::kNotFound);
}

TEST(BuiltinHookTest, WhatTheEncoderDoesWrongIsAnError) {
  EmbeddingInput input;
  input.question = "bad";
  EXPECT_EQ(Embed(*Hook("prompt"), "prompt", input).error().message, "a bad text");
  input.question = "nan";
  EXPECT_EQ(Embed(*Hook("prompt"), "prompt", input).error().code, Errc::kInternal);

  HookParts parts;
  parts.new_text_encoder = [] { return std::shared_ptr<TextEncoder>(std::make_unique<LengthEncoder>(3)); };
  input.question = "fine";
  EXPECT_EQ(Embed(**NewBuiltinHook("prompt", parts), "prompt", input).error().code, Errc::kInternal);
}

TEST(BuiltinHookTest, AMissingPartIsAnErrorAtTheStart) {
  EXPECT_EQ(NewBuiltinHook("prompt", {}).error().code, Errc::kUnsupported);
  HookParts parts;
  parts.vision = "encoder";
  EXPECT_EQ(NewBuiltinHook("vision", parts).error().code, Errc::kUnsupported);
  parts.encoder_dim = 3;
  EXPECT_EQ(NewBuiltinHook("vision", parts).error().code, Errc::kUnsupported);
  parts = {};
  parts.new_text_encoder = []() -> Result<std::shared_ptr<TextEncoder>> { return Error{Errc::kNotFound, "no model"}; };
  EXPECT_EQ(NewBuiltinHook("prompt", parts).error().message, "no model");
}

TEST(BuiltinHookTest, AnUnknownNameIsAnsweredWithThoseThereAre) {
  const auto hook = NewBuiltinHook("promt", {});
  ASSERT_FALSE(hook.ok());
  EXPECT_NE(hook.error().message.find("prompt_vision"), std::string::npos);
  HookParts parts;
  parts.vision = "eyes";
  EXPECT_NE(NewBuiltinHook("vision", parts).error().message.find("pixels, encoder"), std::string::npos);
}

}  // namespace
}  // namespace afterimage
