// What a real model wrote, as a chunk file: no damage to it is ever put back, and none to its rows does harm.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "afterimage/llama_engine.h"
#include "engine/llama/llama_test_models.h"
#include "store/chunk_format.h"
#include "testing/engine_runs.h"

namespace afterimage {
namespace {

class CapturedChunk : public testing::TestWithParam<const char*> {
 protected:
  // The file of one segment; with the logits if it is the last.
  std::vector<std::byte> FileOf(size_t index, const Digest& parent) const {
    const std::unique_ptr<Prompt> prompt = engine_->Prepare(request_).value();
    const Segment& segment = prompt->segments()[index];
    ChunkHeader header;
    header.compatibility = engine_->info().identity.compatibility.digest();
    header.numerics = engine_->info().identity.numerics.digest();
    header.parent = parent;
    header.content = segment.content;
    header.first_position = segment.first_position;
    header.n_positions = segment.n_positions;
    header.n_tokens = segment.n_tokens;
    header.tokens = segment.tokens;
    header.rows_bytes = cold_.rows[index].size();
    std::span<const std::byte> logits;
    if (index + 1 == prompt->segments().size()) logits = std::as_bytes(std::span(cold_.logits));
    header.logits_bytes = logits.size();
    return BuildChunk(header, cold_.rows[index], logits);
  }

  std::unique_ptr<Engine> engine_ = NewLlamaEngine(TestOptions(GetParam())).value();
  Request request_ = Ask({NoisePicture(1)}, "What is on the left?");
  Outcome cold_ = RunRequest(*engine_, request_);
};

TEST_P(CapturedChunk, AChainReadBackFromItsFilesEqualsTheColdRun) {
  std::vector<Rows> rows;
  std::vector<float> logits;
  Digest parent;
  for (size_t i = 0; i < cold_.rows.size(); ++i) {
    const std::vector<std::byte> file = FileOf(i, parent);
    const Result<ChunkView> view = ParseChunk(file);
    ASSERT_TRUE(view.ok()) << view.error().message;
    rows.emplace_back(view->rows.begin(), view->rows.end());
    logits.resize(view->logits.size() / sizeof(float));
    if (!logits.empty()) std::memcpy(logits.data(), view->logits.data(), view->logits.size());
    parent = view->header.id();
  }
  const Outcome hit = RunRequest(*engine_, request_, {rows, logits, {}});
  EXPECT_TRUE(SameBits(hit.logits, cold_.logits));
  EXPECT_EQ(hit.answer.tokens, cold_.answer.tokens);
  EXPECT_EQ(hit.stats.tokens_computed, 0);
}

TEST_P(CapturedChunk, EverySingleBitOfDamageIsRefused) {
  for (const size_t index : {size_t{1}, cold_.rows.size() - 1}) {  // the picture; the last token with its logits
    std::vector<std::byte> file = FileOf(index, {});
    ASSERT_TRUE(ParseChunk(file).ok());
    for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
      const auto mask = static_cast<std::byte>(1 << (bit % 8));
      file[bit / 8] ^= mask;
      const Result<ChunkView> view = ParseChunk(file);
      ASSERT_FALSE(view.ok()) << "bit " << bit;
      ASSERT_EQ(view.error().code, Errc::kCorrupt);
      file[bit / 8] ^= mask;
    }
  }
}

TEST_P(CapturedChunk, EveryTruncationIsRefused) {
  for (const size_t index : {size_t{1}, cold_.rows.size() - 1}) {
    const std::vector<std::byte> file = FileOf(index, {});
    for (size_t size = 0; size < file.size(); ++size) {
      // A buffer of its own, so that a sanitizer sees a read past its end.
      const std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      const Result<ChunkView> view = ParseChunk(cut);
      ASSERT_FALSE(view.ok()) << size << " bytes";
      ASSERT_EQ(view.error().code, Errc::kCorrupt);
    }
  }
}

TEST_P(CapturedChunk, DamagedRowsPutBackWithoutTheirChecksumHarmNobodyElse) {
  std::mt19937 random(7);
  const std::vector<Rows> most = FirstOf(cold_.rows, cold_.rows.size() - 1);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<Rows> rows = most;
    Rows& damaged = rows[random() % rows.size()];
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 << (random() % 8));
    std::vector<SpanKvSource> sources(rows.begin(), rows.end());
    std::vector<KvSource*> chunks;
    for (SpanKvSource& source : sources) chunks.push_back(&source);
    const std::unique_ptr<Prompt> prompt = engine_->Prepare(request_).value();
    const std::unique_ptr<Sequence> sequence = engine_->Start(*prompt).value();
    const Status injected = sequence->Inject(chunks, {});
    refused += injected.ok() ? 0 : 1;
    const bool prefilled = sequence->Prefill().ok();
    if (!injected.ok()) {
      ASSERT_TRUE(prefilled);
      ASSERT_TRUE(SameBits(sequence->logits(), cold_.logits));
    }
  }
  EXPECT_LT(refused, 300);
  EXPECT_TRUE(SameBits(RunRequest(*engine_, request_).logits, cold_.logits));
}

INSTANTIATE_TEST_SUITE_P(Shapes, CapturedChunk, testing::Values("tiny-internvl", "tiny-qwen3vl"),
                         [](const auto& shape) { return std::string(shape.param).substr(5); });

}  // namespace
}  // namespace afterimage
