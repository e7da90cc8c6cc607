// State blobs that a context wrote: the bytes of this llama.cpp build are those of state_blob.h, and no damage to them
// leads anywhere but to an error or to the row it was done to.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "engine/llama/llama_prompt.h"
#include "engine/llama/llama_test_models.h"
#include "engine/llama/state_blob_checks.h"
#include "testing/engine_runs.h"

namespace afterimage {
namespace {

// Blobs that a real context wrote, of a prompt with a picture.
class RealBlob : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int kStreams = 3;

  RealBlob() {
    LlamaOptions options = TestOptions(GetParam());
    options.max_sequences = kStreams;
    runtime_ = LlamaRuntime::Load(options).value();
    prompt_ = LlamaPrompt::Make(*runtime_, Ask({NoisePicture(1, 96, 64)}, "What is on the left?"), "", {}).value();
    for (size_t i = 0; i < prompt_->segments().size(); ++i) {
      const std::vector<StateCell> own = prompt_->CellsOf(i);
      cells_.insert(cells_.end(), own.begin(), own.end());
      counts_.push_back(own.size());
    }
    Prefill(0);
    blob_ = Capture(0);
    format_ = LearnStateFormat(blob_, runtime_->mrope(), n_cells()).value();
  }

  uint32_t n_cells() const { return static_cast<uint32_t>(cells_.size()); }
  // Where the cells end and the layers begin.
  size_t cells_end() const { return 16 + cells_.size() * (runtime_->mrope() ? 24 : 12); }

  // Where the type and row size of each tensor are: K of every layer, then V.
  std::vector<size_t> Heads() const {
    std::vector<size_t> heads;
    size_t at = cells_end() + 8;
    for (const bool is_k : {true, false}) {
      for (const StateFormat::Layer& layer : format_.layers) {
        heads.push_back(at);
        at += 12 + cells_.size() * (is_k ? layer.k_row_bytes : layer.v_row_bytes);
      }
    }
    EXPECT_EQ(at + 4 * (kStreams - 1), blob_.size());
    return heads;
  }

  void Prefill(llama_seq_id sequence) {
    for (size_t i = 0; i < prompt_->segments().size(); ++i) {
      const Segment& segment = prompt_->segments()[i];
      const Status status = segment.kind == Segment::Kind::kText
                                ? runtime_->DecodeText(sequence, segment.tokens, segment.first_position, nullptr)
                                : runtime_->DecodeImage(sequence, prompt_->image_chunk(i),
                                                        prompt_->EncoderOutput(i).value(), segment.first_position);
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
  }

  Blob Capture(llama_seq_id sequence) {
    auto* context = const_cast<llama_context*>(runtime_->context());  // the runtime hands out rows only
    Blob blob(llama_state_seq_get_size(context, sequence));
    EXPECT_EQ(llama_state_seq_get_data(context, reinterpret_cast<uint8_t*>(blob.data()), blob.size(), sequence),
              blob.size());
    return blob;
  }

  std::unique_ptr<LlamaRuntime> runtime_;
  std::unique_ptr<LlamaPrompt> prompt_;
  std::vector<StateCell> cells_;  // of the whole prompt
  std::vector<size_t> counts_;    // cells of each segment
  Blob blob_;
  StateFormat format_;
};

INSTANTIATE_TEST_SUITE_P(StateBlob, RealBlob, testing::Values("tiny-internvl", "tiny-qwen3vl"),
                         [](const testing::TestParamInfo<std::string>& shape) {
                           return shape.param == "tiny-internvl" ? "InternVl" : "Qwen3Vl";
                         });

TEST_P(RealBlob, TheFormatIsTheOneLearnedAtStart) {
  EXPECT_EQ(runtime_->state_format().value(), format_);
  EXPECT_EQ(format_.magic, 0xaf143cd8u);
  EXPECT_EQ(format_.n_streams, static_cast<uint32_t>(kStreams));
  EXPECT_EQ(format_.layers.size(), 3u);
}

TEST_P(RealBlob, TheCellsAreThoseThePromptExpects) {
  const Result<StateView> view = ParseState(blob_, format_, n_cells());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->cells, cells_);
}

TEST_P(RealBlob, ACutAndRebuiltBlobIsTheSame) {
  const Result<StateView> view = ParseState(blob_, format_, n_cells());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(Rebuild(format_, cells_, *view, {cells_.size()}), blob_);
  EXPECT_EQ(Rebuild(format_, cells_, *view, counts_), blob_);
}

TEST_P(RealBlob, ABlobOfAnotherStreamIsRebuiltForAnySequence) {
  Prefill(2);
  const Blob third = Capture(2);
  EXPECT_NE(third, blob_);
  const Result<StateView> view = ParseState(third, format_, n_cells());
  ASSERT_TRUE(view.ok()) << view.error().message;
  const Blob rebuilt = Rebuild(format_, cells_, *view, counts_);
  EXPECT_EQ(rebuilt, blob_);
  for (const llama_seq_id sequence : {1, 2}) {
    ASSERT_TRUE(runtime_->LoadState(sequence, rebuilt).ok());
    const Blob again = Capture(sequence);
    const Result<StateView> loaded = ParseState(again, format_, n_cells());
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ(Rebuild(format_, cells_, *loaded, counts_), blob_);
  }
}

TEST_P(RealBlob, TruncatedAndLengthenedBlobsAreRefused) {
  std::vector<size_t> sizes;
  for (size_t size = 0; size < blob_.size(); size += size < cells_end() + 32 ? 1 : 61) sizes.push_back(size);
  for (size_t size = blob_.size() - 64; size < blob_.size(); ++size) sizes.push_back(size);
  for (const size_t size : sizes) {
    const Blob cut(blob_.begin(), blob_.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_TRUE(Refused(cut, format_, n_cells())) << size;
  }
  for (int value = 0; value < 256; ++value) {
    Blob longer = blob_;
    longer.push_back(static_cast<std::byte>(value));
    ASSERT_TRUE(Refused(longer, format_, n_cells())) << value;
  }
}

TEST_P(RealBlob, NoFlippedBitOfTheMetadataGivesOtherRows) {
  const Result<StateView> whole = ParseState(blob_, format_, n_cells());
  ASSERT_TRUE(whole.ok());
  const Blob rows = CutRows(*whole, format_, cells_).value();
  std::vector<size_t> bytes(cells_end() + 8);
  std::iota(bytes.begin(), bytes.end(), 0);
  for (const size_t head : Heads()) {
    for (size_t i = 0; i < 12; ++i) bytes.push_back(head + i);
  }
  for (size_t i = 1; i <= 4 * (kStreams - 1); ++i) bytes.push_back(blob_.size() - i);
  size_t refused = 0;
  for (const size_t byte : bytes) {
    for (size_t bit = 8 * byte; bit < 8 * byte + 8; ++bit) {
      const Blob damaged = WithFlippedBit(blob_, bit);
      const Result<StateView> view = ParseState(damaged, format_, n_cells());
      if (!view.ok()) {
        ASSERT_EQ(view.error().code, Errc::kCorrupt);
        ++refused;
        continue;
      }
      ASSERT_TRUE(HasRightSizes(*view, damaged, format_, n_cells())) << "bit " << bit;
      const Result<Blob> cut = CutRows(*view, format_, cells_);
      ASSERT_TRUE(!cut.ok() || *cut == rows) << "bit " << bit;
    }
  }
  EXPECT_GT(refused, 8 * 4u * cells_.size());  // the sequence counts of the cells alone
}

TEST_P(RealBlob, AFlippedBitOfARowChangesThatRowAlone) {
  const Result<StateView> whole = ParseState(blob_, format_, n_cells());
  ASSERT_TRUE(whole.ok());
  const Blob rows = CutRows(*whole, format_, cells_).value();
  const std::vector<size_t> heads = Heads();
  std::mt19937 random(2);
  for (int sample = 0; sample < 600; ++sample) {
    const size_t tensor = random() % heads.size();
    const bool is_k = tensor < format_.layers.size();
    const size_t layer = tensor % format_.layers.size();
    const uint64_t row_bytes = is_k ? format_.layers[layer].k_row_bytes : format_.layers[layer].v_row_bytes;
    const size_t cell = random() % cells_.size();
    const size_t byte = random() % row_bytes;
    const Blob damaged = WithFlippedBit(blob_, 8 * (heads[tensor] + 12 + cell * row_bytes + byte) + random() % 8);
    const Result<StateView> view = ParseState(damaged, format_, n_cells());
    ASSERT_TRUE(view.ok()) << view.error().message;
    ASSERT_TRUE(HasRightSizes(*view, damaged, format_, n_cells()));
    const Blob cut = CutRows(*view, format_, cells_).value();
    // Canonical order: K and V of each layer in turn.
    size_t expected = cell * row_bytes + byte;
    for (size_t i = 0; i < layer; ++i) {
      expected += cells_.size() * (format_.layers[i].k_row_bytes + format_.layers[i].v_row_bytes);
    }
    if (!is_k) expected += cells_.size() * format_.layers[layer].k_row_bytes;
    const auto [a, b] = std::ranges::mismatch(cut, rows);
    ASSERT_EQ(a - cut.begin(), static_cast<std::ptrdiff_t>(expected));
    ASSERT_TRUE(std::equal(a + 1, cut.end(), b + 1)) << "another row changed as well";
  }
}

TEST_P(RealBlob, OverwrittenBytesNeverLeadOutOfTheBlob) {
  std::mt19937 random(3);
  const size_t interesting = cells_end() + 20;
  size_t accepted = 0;
  for (int sample = 0; sample < 4000; ++sample) {
    Blob damaged = blob_;
    for (uint32_t n = 1 + random() % 8; n > 0; --n) {
      const size_t range = random() % 4 == 0 ? damaged.size() : interesting;
      damaged[random() % range] = static_cast<std::byte>(random() % 3 == 0 ? 0xFF : random());
    }
    const Result<StateView> view = ParseState(damaged, format_, n_cells());
    if (!view.ok()) continue;
    ++accepted;
    ASSERT_TRUE(HasRightSizes(*view, damaged, format_, n_cells()));
    const Result<Blob> rows = CutRows(*view, format_, cells_);
    ASSERT_TRUE(!rows.ok() || rows->size() == cells_.size() * format_.row_bytes());
  }
  EXPECT_GT(accepted, 0u);
}

TEST_P(RealBlob, ALyingCellCountIsRefused) {
  for (const uint32_t n : {0u, 1u, n_cells() - 1, n_cells() + 1, 2 * n_cells(), 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    EXPECT_TRUE(Refused(With(blob_, 12, n), format_, 0xFFFFFFFFu)) << n;
  }
}

// One pool for all sequences, as other programs use llama.cpp: there a sequence's cells can lie in any order.
TEST(StateBlob, ARealBlobWithCellsOutOfOrderIsCutInPromptOrder) {
  const LlamaOptions options = TestOptions("tiny-text");
  // Installs the log callback and proves that the file loads.
  const std::unique_ptr<LlamaRuntime> runtime = LlamaRuntime::Load(options).value();
  const llama_model_ptr model(llama_model_load_from_file(options.model_path.c_str(), llama_model_default_params()));
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 256;
  params.n_seq_max = 2;
  params.n_threads = params.n_threads_batch = 1;
  params.kv_unified = true;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
  const auto decode = [](llama_context* context, llama_seq_id sequence, int first, int count) {
    llama_batch batch = llama_batch_init(count, 0, 1);
    for (int i = 0; i < count; ++i) {
      batch.token[i] = (first + i) % 250;
      batch.pos[i] = first + i;
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = sequence;
      batch.logits[i] = 0;
    }
    batch.n_tokens = count;
    EXPECT_EQ(llama_decode(context, batch), 0);
    llama_batch_free(batch);
  };
  const auto capture = [](llama_context* context) {
    Blob blob(llama_state_seq_get_size(context, 0));
    llama_state_seq_get_data(context, reinterpret_cast<uint8_t*>(blob.data()), blob.size(), 0);
    return blob;
  };
  const llama_context_ptr straight(llama_init_from_model(model.get(), params));
  decode(straight.get(), 0, 0, 40);
  decode(straight.get(), 0, 40, 20);
  // A neighbour takes the first cells, this sequence goes behind it, and once the neighbour is gone goes on before.
  const llama_context_ptr crossed(llama_init_from_model(model.get(), params));
  decode(crossed.get(), 1, 0, 100);
  decode(crossed.get(), 0, 0, 40);
  llama_memory_seq_rm(llama_get_memory(crossed.get()), 1, -1, -1);
  decode(crossed.get(), 0, 40, 20);

  std::vector<StateCell> cells(60);
  for (int32_t i = 0; i < 60; ++i) cells[static_cast<size_t>(i)].position = i;
  const Blob in_order = capture(straight.get());
  const Blob out_of_order = capture(crossed.get());
  const Result<StateFormat> format = LearnStateFormat(out_of_order, false, 60);
  ASSERT_TRUE(format.ok()) << format.error().message;
  const Result<StateView> expected = ParseState(in_order, *format, 256);
  const Result<StateView> found = ParseState(out_of_order, *format, 256);
  ASSERT_TRUE(expected.ok() && found.ok());
  EXPECT_EQ(expected->cells, cells);
  ASSERT_NE(found->cells, cells) << "the cells came in order: this test shows nothing";
  const Blob expected_rows = CutRows(*expected, *format, cells).value();
  const Result<Blob> rows = CutRows(*found, *format, cells);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  // The first layer's rows follow from token and position alone, so they are the same to the bit.
  const size_t first_layer = 60 * (format->layers[0].k_row_bytes + format->layers[0].v_row_bytes);
  ASSERT_GE(rows->size(), first_layer);
  EXPECT_TRUE(
      std::equal(rows->begin(), rows->begin() + static_cast<std::ptrdiff_t>(first_layer), expected_rows.begin()));
}

}  // namespace
}  // namespace afterimage
