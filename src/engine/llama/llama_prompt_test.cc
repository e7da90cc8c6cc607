// From a request to segments: chat template, text from outside, tiles, content identities and M-RoPE positions.
#include "engine/llama/llama_prompt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "engine/llama/llama_test_models.h"
#include "testing/engine_runs.h"

namespace afterimage {
namespace {

// Loaded once per shape and kept: making a prompt changes nothing in the runtime.
LlamaRuntime& RuntimeOf(const std::string& shape) {
  static std::map<std::string, std::unique_ptr<LlamaRuntime>> runtimes;
  std::unique_ptr<LlamaRuntime>& runtime = runtimes[shape];
  if (runtime == nullptr) runtime = LlamaRuntime::Load(TestOptions(shape)).value();
  return *runtime;
}

Result<std::unique_ptr<LlamaPrompt>> TryPrompt(const std::string& shape, const Request& request,
                                               const std::string& chat_template = "") {
  return LlamaPrompt::Make(RuntimeOf(shape), request, chat_template, Digest{});
}

std::unique_ptr<LlamaPrompt> MakePrompt(const std::string& shape, const Request& request,
                                        const std::string& chat_template = "") {
  Result<std::unique_ptr<LlamaPrompt>> prompt = TryPrompt(shape, request, chat_template);
  EXPECT_TRUE(prompt.ok()) << prompt.error().message;
  return std::move(*prompt);
}

Request Turns(std::vector<Message> messages) { return {.messages = std::move(messages), .sampling = {}}; }

// The prompt's tokens as text, control tokens included, with '#' for every picture or tile.
std::string TextOf(const LlamaPrompt& prompt) {
  std::string text;
  for (const Segment& segment : prompt.segments()) {
    if (segment.kind == Segment::Kind::kImage) text += '#';
    for (const llama_token token : segment.tokens) {
      std::array<char, 256> piece;
      const int n = llama_token_to_piece(prompt.runtime().vocab(), token, piece.data(), piece.size(), 0, true);
      text.append(piece.data(), static_cast<size_t>(std::max(n, 0)));
    }
  }
  return text;
}

std::vector<Segment> ImagesOf(const Prompt& prompt) {
  std::vector<Segment> images;
  std::ranges::copy_if(prompt.segments(), std::back_inserter(images),
                       [](const Segment& segment) { return segment.kind == Segment::Kind::kImage; });
  return images;
}

Digest ContentOf(const std::string& shape, std::shared_ptr<const Image> picture) {
  return ImagesOf(*MakePrompt(shape, Ask({std::move(picture)}, "?"))).at(0).content;
}

Errc CodeOf(const Result<std::unique_ptr<LlamaPrompt>>& prompt) {
  EXPECT_FALSE(prompt.ok());
  return prompt.ok() ? Errc::kInternal : prompt.error().code;
}

// Every segment begins where the one before ended, and text is as the 128-token rule says.
void ExpectSoundSegments(const Prompt& prompt) {
  int position = 0;
  for (size_t i = 0; i < prompt.segments().size(); ++i) {
    const Segment& segment = prompt.segments()[i];
    EXPECT_EQ(segment.first_position, position) << "segment " << i;
    position += segment.n_positions;
    if (segment.kind == Segment::Kind::kImage) {
      EXPECT_TRUE(segment.tokens.empty());
      continue;
    }
    EXPECT_EQ(segment.n_tokens, static_cast<int>(segment.tokens.size()));
    EXPECT_EQ(segment.n_positions, segment.n_tokens);
    EXPECT_LE(segment.n_tokens, kMaxTextSegmentTokens);
    EXPECT_EQ(segment.image, -1);
  }
  EXPECT_EQ(prompt.n_positions(), position);
  EXPECT_EQ(prompt.segments().back().n_tokens, 1);
}

class AnyShape : public testing::TestWithParam<std::string> {};
class VisionShape : public testing::TestWithParam<std::string> {};
class QwenShape : public testing::TestWithParam<std::string> {};

std::string NameOfShape(const testing::TestParamInfo<std::string>& shape) {
  std::string name = shape.param;
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(LlamaPrompt, AnyShape,
                         testing::Values("tiny-internvl", "tiny-qwen3vl", "tiny-qwen2.5vl", "tiny-text"), NameOfShape);
INSTANTIATE_TEST_SUITE_P(LlamaPrompt, VisionShape, testing::Values("tiny-internvl", "tiny-qwen3vl", "tiny-qwen2.5vl"),
                         NameOfShape);
INSTANTIATE_TEST_SUITE_P(LlamaPrompt, QwenShape, testing::Values("tiny-qwen3vl", "tiny-qwen2.5vl"), NameOfShape);

TEST_P(AnyShape, TheModelsOwnTemplateIsApplied) {
  const auto prompt = MakePrompt(GetParam(), Ask({}, "What is on the left?"));
  EXPECT_EQ(TextOf(*prompt), "<|im_start|>user\nWhat is on the left?<|im_end|>\n<|im_start|>assistant\n");
  ExpectSoundSegments(*prompt);
}

TEST_P(AnyShape, TurnsComeInTheirOrder) {
  const auto prompt = MakePrompt(GetParam(), Turns({{"system", {"Be brief."}},
                                                    {"user", {"What is it?"}},
                                                    {"assistant", {"A tree."}},
                                                    {"user", {"How ", "old?"}}}));
  EXPECT_EQ(TextOf(*prompt),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is it?<|im_end|>\n"
            "<|im_start|>assistant\nA tree.<|im_end|>\n<|im_start|>user\nHow old?<|im_end|>\n"
            "<|im_start|>assistant\n");
  ExpectSoundSegments(*prompt);
}

TEST_P(AnyShape, ASystemTurnChangesTheFirstSegment) {
  const auto without = MakePrompt(GetParam(), Turns({{"user", {"?"}}}));
  const auto with = MakePrompt(GetParam(), Turns({{"system", {"Be brief."}}, {"user", {"?"}}}));
  EXPECT_NE(with->segments()[0].content, without->segments()[0].content);
  EXPECT_EQ(with->segments().back().content, without->segments().back().content);
}

TEST_P(AnyShape, ALongerConversationKeepsTheSegmentsOfItsBeginning) {
  std::string rules;
  for (int i = 0; i < 80; ++i) rules += "rule " + std::to_string(i) + ", ";
  const std::vector<Message> start = {{"system", {rules}}, {"user", {"What is it?"}}};
  std::vector<Message> longer = start;
  longer.push_back({"assistant", {"A tree."}});
  longer.push_back({"user", {"How old?"}});
  const auto first = MakePrompt(GetParam(), Turns(start));
  const auto second = MakePrompt(GetParam(), Turns(longer));
  // All whole text segments of the first; its end, computed with the last token apart, is cut differently.
  ASSERT_GE(first->segments().size(), 4u);
  for (size_t i = 0; i + 2 < first->segments().size(); ++i) {
    EXPECT_EQ(first->segments()[i].content, second->segments()[i].content) << i;
  }
}

TEST_P(AnyShape, ATemplateByNameReplacesTheModelsOwn) {
  const Request request = Turns({{"system", {"Be brief."}}, {"user", {"What is on the left?"}}});
  const auto own = MakePrompt(GetParam(), request);
  EXPECT_EQ(TextOf(*MakePrompt(GetParam(), request, "chatml")), TextOf(*own));
  const auto other = MakePrompt(GetParam(), request, "vicuna");
  EXPECT_EQ(TextOf(*other), "Be brief.\n\nUSER: What is on the left?\nASSISTANT:");
  EXPECT_NE(other->segments()[0].content, own->segments()[0].content);
}

TEST_P(AnyShape, AnUnknownTemplateIsRefused) {
  for (const char* name : {"no such template", "chatml2", "{{ messages }}"}) {
    const auto prompt = TryPrompt(GetParam(), Ask({}, "?"), name);
    EXPECT_EQ(CodeOf(prompt), Errc::kInvalidArgument) << name;
  }
}

TEST_P(AnyShape, ARequestWithoutMessagesIsRefused) {
  EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Request{})), Errc::kInvalidArgument);
}

TEST_P(AnyShape, EmptyMessagesAreEmptyTurns) {
  for (const std::vector<Message::Part>& parts :
       {std::vector<Message::Part>{}, std::vector<Message::Part>{""}, std::vector<Message::Part>{"", ""}}) {
    const auto prompt = MakePrompt(GetParam(), Turns({{"user", parts}}));
    EXPECT_EQ(TextOf(*prompt), "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n");
  }
}

TEST_P(AnyShape, ANulOrThePictureMarkerInTextIsRefused) {
  const std::string marker = LlamaRuntime::media_marker();
  for (const std::string& text :
       {std::string("a\0b", 3), std::string(1, '\0'), std::string("end\0", 4), marker, "before " + marker + " after"}) {
    EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Ask({}, text))), Errc::kInvalidArgument) << text;
    EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Turns({{"system", {text}}, {"user", {"?"}}}))), Errc::kInvalidArgument);
  }
}

// A role is written into the prompt as text is.
TEST_P(AnyShape, ANulOrInvalidUtf8InARoleIsRefused) {
  for (const std::string& role : {std::string("user\0system", 11), std::string("us\xff"), std::string(300, '\xff')}) {
    const auto prompt = TryPrompt(GetParam(), Turns({{role, {"?"}}}));
    EXPECT_EQ(CodeOf(prompt), Errc::kInvalidArgument);
  }
}

TEST_P(VisionShape, AMarkerPutTogetherFromTwoPartsIsRefusedAsWell) {
  const std::string marker = LlamaRuntime::media_marker();
  const Message::Part left = marker.substr(0, 5);
  const Message::Part right = marker.substr(5);
  EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Turns({{"user", {left, right}}}))), Errc::kInvalidArgument);
  const Message::Part picture = NoisePicture(1);
  EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Turns({{"user", {left, right, picture, "?"}}}))), Errc::kInvalidArgument);
  EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Turns({{"user" + marker, {picture, "?"}}}))), Errc::kInvalidArgument);
}

TEST_P(AnyShape, LibmtmdsOwnMarkerIsJustText) {
  const auto prompt = MakePrompt(GetParam(), Ask({}, "What does <__media__> mean?"));
  EXPECT_TRUE(ImagesOf(*prompt).empty());
  EXPECT_EQ(TextOf(*prompt), "<|im_start|>user\nWhat does <__media__> mean?<|im_end|>\n<|im_start|>assistant\n");
}

TEST_P(VisionShape, LibmtmdsOwnMarkerBesideAPictureIsJustText) {
  const auto prompt = MakePrompt(GetParam(), Ask({NoisePicture(1)}, "What does <__media__> mean?"));
  EXPECT_EQ(ImagesOf(*prompt).size(), 1u);
  EXPECT_NE(TextOf(*prompt).find("What does <__media__> mean?<|im_end|>"), std::string::npos);
}

// Bytes that begin nothing, characters cut short, encodings too long, surrogates, code points past the last, every byte
// there is, and enough of them that llama.cpp would make more tokens than there are bytes.
TEST_P(AnyShape, InvalidUtf8IsRefusedAndNamed) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  for (const std::string& text :
       {std::string("\xff\xfe\x80"), std::string("caf\xc3"), std::string("\xf0\x9f\x98"), std::string("\xc0\xaf"),
        std::string("\xed\xa0\x80"), std::string("\xf4\x90\x80\x80"), std::string("a\x80z"), every_byte,
        std::string(300, '\xff'), std::string(5000, '\xff')}) {
    const auto prompt = TryPrompt(GetParam(), Ask({}, text));
    ASSERT_FALSE(prompt.ok()) << text.substr(0, 12);
    EXPECT_EQ(prompt.error().code, Errc::kInvalidArgument);
    EXPECT_NE(prompt.error().message.find("UTF-8"), std::string::npos) << prompt.error().message;
  }
}

TEST_P(AnyShape, CharactersOfEveryLengthComeThrough) {
  const std::string text = "caf\u00e9 \u20ac \U0001F600 \U0010FFFF \u007f";
  EXPECT_EQ(TextOf(*MakePrompt(GetParam(), Ask({}, text))),
            "<|im_start|>user\n" + text + "<|im_end|>\n<|im_start|>assistant\n");
}

TEST_P(AnyShape, LongTextIsTooLargeNotACrash) {
  std::string words;
  while (words.size() < 100'000) words += "what is it? ";
  for (const std::string& text : {std::string(100'000, 'a'), std::string(100'000, ' '), std::string(100'000, '\n'),
                                  std::string(100'000, '<'), words}) {
    EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Ask({}, text))), Errc::kTooLarge) << text.substr(0, 12);
  }
}

TEST_P(AnyShape, ManySmallTurnsAreRenderedWhole) {
  std::vector<Message> turns;
  std::string expected;
  for (int i = 0; i < 60; ++i) {
    const std::string role = i % 2 == 0 ? "user" : "assistant";
    turns.push_back({role, {"x"}});
    expected += "<|im_start|>" + role + "\nx<|im_end|>\n";
  }
  EXPECT_EQ(TextOf(*MakePrompt(GetParam(), Turns(std::move(turns)))), expected + "<|im_start|>assistant\n");
}

TEST_P(AnyShape, ATemplateThatWritesMoreThanExpectedIsRenderedWhole) {
  // Roles are written by the template, and are as long as the client likes.
  std::string role;
  for (int i = 0; i < 600; ++i) role += " the";
  const auto prompt = MakePrompt(GetParam(), Turns({{role, {"x"}}}));
  EXPECT_EQ(TextOf(*prompt), "<|im_start|>" + role + "\nx<|im_end|>\n<|im_start|>assistant\n");
}

TEST(LlamaPrompt, APictureForATextModelIsRefused) {
  EXPECT_EQ(CodeOf(TryPrompt("tiny-text", Ask({NoisePicture(1)}, "?"))), Errc::kInvalidArgument);
}

TEST_P(AnyShape, ANullPictureIsRefused) {
  EXPECT_EQ(CodeOf(TryPrompt(GetParam(), Ask({nullptr}, "?"))), Errc::kInvalidArgument);
}

TEST_P(VisionShape, PicturesStandWhereTheRequestHasThem) {
  const Message::Part one = NoisePicture(1);
  const Message::Part two = NoisePicture(2);
  const auto prompt = MakePrompt(GetParam(), Turns({{"system", {"Be brief."}},
                                                    {"user", {"Is ", one, " a tree?"}},
                                                    {"assistant", {"Yes."}},
                                                    {"user", {two, "and this?"}}}));
  const bool internvl = GetParam() == "tiny-internvl";
  const std::string open = internvl ? "<img>" : "<|vision_start|>";
  const std::string close = internvl ? "</img>" : "<|vision_end|>";
  const std::string picture = open + "#" + close;
  EXPECT_EQ(TextOf(*prompt), "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nIs " + picture +
                                 " a tree?<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>\n<|im_start|>user\n" +
                                 picture + "and this?<|im_end|>\n<|im_start|>assistant\n");
  ExpectSoundSegments(*prompt);
  const std::vector<Segment> images = ImagesOf(*prompt);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].image, 0);
  EXPECT_EQ(images[1].image, 1);
  EXPECT_EQ(images[0].tile, 0);
  EXPECT_EQ(images[1].tile, 0);
  EXPECT_NE(images[0].content, images[1].content);
}

TEST_P(VisionShape, TheSamePictureTwiceHasOneContent) {
  const auto prompt = MakePrompt(GetParam(), Ask({NoisePicture(1), NoisePicture(1), NoisePicture(2)}, "?"));
  const std::vector<Segment> images = ImagesOf(*prompt);
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images[0].content, images[1].content);
  EXPECT_NE(images[0].content, images[2].content);
  EXPECT_EQ(images[1].image, 1);
  EXPECT_EQ(images[0].content, ContentOf(GetParam(), NoisePicture(1))) << "another prompt, the same picture";
}

TEST_P(VisionShape, OtherPixelsOrAnotherSizeAreAnotherContent) {
  const auto picture = NoisePicture(1, 96, 64);
  const Digest content = ContentOf(GetParam(), picture);
  EXPECT_EQ(ContentOf(GetParam(), NoisePicture(1, 96, 64)), content);
  std::vector<uint8_t> pixels(picture->rgb().begin(), picture->rgb().end());
  EXPECT_NE(ContentOf(GetParam(), Image::FromRgb(64, 96, pixels).value()), content) << "the same bytes on end";
  pixels.back() ^= 1;
  EXPECT_NE(ContentOf(GetParam(), Image::FromRgb(96, 64, pixels).value()), content) << "one bit of one pixel";
  EXPECT_NE(ContentOf(GetParam(), NoisePicture(1, 97, 64)), content);
}

TEST_P(VisionShape, OtherPreprocessingIsAnotherContent) {
  LlamaRuntime& runtime = RuntimeOf(GetParam());
  const Request request = Ask({NoisePicture(1)}, "?");
  Digest other;
  other.bytes[31] = 1;
  const auto one = LlamaPrompt::Make(runtime, request, "", Digest{}).value();
  const auto two = LlamaPrompt::Make(runtime, request, "", other).value();
  EXPECT_NE(ImagesOf(*one)[0].content, ImagesOf(*two)[0].content);
  EXPECT_EQ(one->segments()[0].content, two->segments()[0].content) << "text has none";
}

TEST_P(QwenShape, TokenLimitsChangeContentAndTokens) {
  const Request request = Ask({NoisePicture(1, 160, 128)}, "?");
  const auto segment_with = [&](int min_tokens, int max_tokens) {
    LlamaOptions options = TestOptions(GetParam());
    options.image_min_tokens = min_tokens;
    options.image_max_tokens = max_tokens;
    const auto engine = NewLlamaEngine(options).value();
    return ImagesOf(*engine->Prepare(request).value()).at(0);
  };
  const Segment own = segment_with(0, 0);
  const Segment few = segment_with(0, own.n_tokens / 2);
  const Segment many = segment_with(2 * own.n_tokens, 0);
  const Segment same = segment_with(1, 0);  // a limit that changes nothing for this picture
  EXPECT_LT(few.n_tokens, own.n_tokens);
  EXPECT_GT(many.n_tokens, own.n_tokens);
  EXPECT_EQ(same.n_tokens, own.n_tokens);
  const std::set<Digest> contents = {own.content, few.content, many.content, same.content};
  EXPECT_EQ(contents.size(), 4u);
}

TEST_P(QwenShape, APictureTakesAsManyPositionsAsItsLongerSide) {
  for (const auto& [width, height] : {std::pair{256u, 96u}, std::pair{96u, 256u}, std::pair{160u, 160u}}) {
    SCOPED_TRACE(testing::Message() << width << " x " << height);
    const auto prompt = MakePrompt(GetParam(), Turns({{"user", {"Is ", NoisePicture(1, width, height), " a tree?"}}}));
    ExpectSoundSegments(*prompt);
    ASSERT_EQ(prompt->segments()[1].kind, Segment::Kind::kImage);
    const Segment& picture = prompt->segments()[1];
    const std::vector<StateCell> cells = prompt->CellsOf(1);
    ASSERT_EQ(cells.size(), static_cast<size_t>(picture.n_tokens));
    const int columns = std::ranges::max(cells, {}, &StateCell::x).x - picture.first_position + 1;
    const int rows = std::ranges::max(cells, {}, &StateCell::y).y - picture.first_position + 1;
    EXPECT_EQ(rows * columns, picture.n_tokens);
    EXPECT_EQ(rows > columns, height > width);
    EXPECT_EQ(columns > rows, width > height);
    EXPECT_EQ(picture.n_positions, std::max(rows, columns));
    EXPECT_LT(picture.n_positions, picture.n_tokens);
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto n = static_cast<int32_t>(i);
      const StateCell expected = {picture.first_position, picture.first_position + n % columns,
                                  picture.first_position + n / columns, LLAMA_TOKEN_NULL};
      EXPECT_EQ(cells[i], expected) << i;
    }
    const Segment& behind = prompt->segments()[2];
    EXPECT_EQ(behind.first_position, picture.first_position + std::max(rows, columns));
    const StateCell first = prompt->CellsOf(2)[0];
    EXPECT_EQ(first,
              (StateCell{behind.first_position, behind.first_position, behind.first_position, behind.tokens[0]}));
  }
}

TEST(LlamaPrompt, WithPlainRopeAPictureTakesAPositionPerToken) {
  const auto prompt = MakePrompt("tiny-internvl", Ask({NoisePicture(1)}, "?"));
  ExpectSoundSegments(*prompt);
  const Segment picture = ImagesOf(*prompt).at(0);
  EXPECT_EQ(picture.n_tokens, 16);
  EXPECT_EQ(picture.n_positions, 16);
  const std::vector<StateCell> cells = prompt->CellsOf(1);
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i], StateCell{.position = picture.first_position + static_cast<int32_t>(i)});
  }
}

// tiny-internvl cuts pictures over 112 pixels into tiles, with an overview.
TEST(LlamaPrompt, ALargePictureBecomesTiles) {
  const auto prompt = MakePrompt("tiny-internvl", Ask({NoisePicture(1, 256, 192)}, "?"));
  ExpectSoundSegments(*prompt);
  const std::vector<Segment> tiles = ImagesOf(*prompt);
  ASSERT_EQ(tiles.size(), 5u);
  std::set<Digest> contents;
  for (size_t i = 0; i < tiles.size(); ++i) {
    EXPECT_EQ(tiles[i].image, 0);
    EXPECT_EQ(tiles[i].tile, static_cast<int>(i));
    EXPECT_EQ(tiles[i].n_tokens, 16);
    EXPECT_TRUE(contents.insert(tiles[i].content).second) << "tile " << i;
  }
}

TEST(LlamaPrompt, TilesAreCountedForEachPicture) {
  const auto large = NoisePicture(1, 256, 192);
  const auto small = NoisePicture(2);
  const auto places = [](const std::vector<std::shared_ptr<const Image>>& pictures) {
    std::vector<std::pair<int, int>> found;
    for (const Segment& segment : ImagesOf(*MakePrompt("tiny-internvl", Ask(pictures, "?")))) {
      found.emplace_back(segment.image, segment.tile);
    }
    return found;
  };
  using Places = std::vector<std::pair<int, int>>;
  EXPECT_EQ(places({large, small}), (Places{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}}));
  EXPECT_EQ(places({small, large}), (Places{{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}}));
  EXPECT_EQ(places({large, large}),
            (Places{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}}));
}

TEST(LlamaPrompt, ATiledPictureTwiceHasTheSameContentsTwice) {
  const std::vector<Segment> tiles =
      ImagesOf(*MakePrompt("tiny-internvl", Ask({NoisePicture(1, 256, 192), NoisePicture(1, 256, 192)}, "?")));
  ASSERT_EQ(tiles.size(), 10u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(tiles[i].content, tiles[i + 5].content) << i;
}

TEST(LlamaPrompt, EveryPrefixHitOfATiledRequestEqualsTheColdRun) {
  const auto engine = NewLlamaEngine(TestOptions("tiny-internvl")).value();
  Request request = Ask({NoisePicture(1, 256, 192), NoisePicture(2)}, "What is on the left?");
  request.sampling.max_tokens = 6;
  const Outcome cold = RunRequest(*engine, request);
  EXPECT_EQ(cold.stats.images_encoded, 6);
  ASSERT_GE(cold.rows.size(), 9u);
  for (size_t n = 1; n < cold.rows.size(); ++n) {
    SCOPED_TRACE(n);
    const Outcome hit = RunRequest(*engine, request, {FirstOf(cold.rows, n), {}, {}});
    EXPECT_TRUE(SameBits(hit.logits, cold.logits)) << MaxDifference(hit.logits, cold.logits);
    EXPECT_EQ(hit.answer.tokens, cold.answer.tokens);
    EXPECT_TRUE(hit.rows == cold.rows);
    EXPECT_LE(hit.stats.images_encoded, 6);
  }
  const Outcome fused = RunRequest(*engine, request, {{}, {}, EncodeAll(*engine, request)});
  EXPECT_TRUE(SameBits(fused.logits, cold.logits));
  EXPECT_EQ(fused.stats.images_put_back, 6);
}

// The control: tiles are not interchangeable.
TEST(LlamaPrompt, TilesSwappedGiveOtherLogits) {
  const auto engine = NewLlamaEngine(TestOptions("tiny-internvl")).value();
  const Request request = Ask({NoisePicture(1, 256, 192)}, "What is on the left?");
  const Outcome cold = RunRequest(*engine, request);
  std::vector<std::vector<NamedTensor>> tiles = EncodeAll(*engine, request);
  ASSERT_EQ(tiles.size(), 5u);
  std::swap(tiles[0], tiles[1]);
  EXPECT_FALSE(SameBits(RunRequest(*engine, request, {{}, {}, tiles}).logits, cold.logits));
}

TEST_P(VisionShape, PicturesOfAwkwardSizesAreSoundSegments) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, std::pair{1u, 40u}, std::pair{40u, 1u}, std::pair{3u, 200u},
                                      std::pair{112u, 113u}, std::pair{13u, 17u}}) {
    SCOPED_TRACE(testing::Message() << width << " x " << height);
    const auto prompt = TryPrompt(GetParam(), Ask({NoisePicture(1, width, height)}, "?"));
    if (!prompt.ok()) {
      EXPECT_TRUE(CodeOf(prompt) == Errc::kInvalidArgument || CodeOf(prompt) == Errc::kTooLarge)
          << prompt.error().message;
      continue;
    }
    ExpectSoundSegments(**prompt);
    ASSERT_GE(ImagesOf(**prompt).size(), 1u);
    // What was counted without pixels is what preprocessing makes of them.
    for (size_t i = 0; i < (*prompt)->segments().size(); ++i) {
      if ((*prompt)->segments()[i].kind != Segment::Kind::kImage) continue;
      const auto output = (*prompt)->EncoderOutput(i);
      ASSERT_TRUE(output.ok()) << output.error().message;
      EXPECT_EQ(output->size(), static_cast<size_t>((*prompt)->segments()[i].n_tokens) *
                                    static_cast<size_t>((*prompt)->runtime().image_row_floats()));
    }
  }
}

}  // namespace
}  // namespace afterimage
