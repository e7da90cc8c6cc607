#include "engine/fake/fake_engine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <random>

#include "core/sha256.h"
#include "engine/segments.h"

namespace afterimage {
namespace {

constexpr int kVocab = 256;
constexpr int32_t kEndOfAnswer = '\n';
constexpr size_t kLayers = 2;
constexpr size_t kRowBytes = 8;  // of K and of V, in each layer
constexpr int kFusionFloats = 3;

using Row = std::array<uint64_t, 2 * kLayers>;  // K and V of every layer

uint64_t Mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a = (a ^ (a >> 30)) * 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 27);
}

// "Attention": what all rows so far come to. Every row counts.
uint64_t Attend(uint64_t attended, const Row& row) {
  for (const uint64_t value : row) attended = Mix(attended, value);
  return attended;
}

Row NextRow(uint64_t attended, uint64_t input, int position) {
  Row row;
  uint64_t state = Mix(attended, Mix(input, static_cast<uint64_t>(position)));
  for (uint64_t& value : row) value = state = Mix(state, 1);
  return row;
}

std::vector<float> LogitsAfter(uint64_t attended) {
  std::vector<float> logits(kVocab);
  uint64_t state = attended;
  for (float& logit : logits) {
    state = Mix(state, 2);
    logit = static_cast<float>(state % 100000) / 10000.0f;
  }
  return logits;
}

class FakePrompt : public Prompt {
 public:
  FakePrompt(std::vector<Segment> segments, std::vector<std::shared_ptr<const Image>> images, const Engine* engine)
      : Prompt(std::move(segments)), engine_(engine), images_(std::move(images)), output_(this->segments().size()) {}

  const Engine* engine() const { return engine_; }
  bool has_output(size_t segment) const { return !output_[segment].empty(); }
  void set_output(size_t segment, std::vector<float> output) { output_[segment] = std::move(output); }

  bool CanEncode(size_t segment) const {
    return has_output(segment) || images_[static_cast<size_t>(segments()[segment].image)]->has_pixels();
  }

  // The "encoder": a few numbers per token out of the picture's digest. REQUIRES: CanEncode.
  const std::vector<float>& Output(size_t segment) {
    std::vector<float>& output = output_[segment];
    if (output.empty()) {
      const Segment& s = segments()[segment];
      const Digest& digest = images_[static_cast<size_t>(s.image)]->digest();
      for (int i = 0; i < s.n_tokens * kFusionFloats; ++i) {
        output.push_back(static_cast<float>(digest.bytes[static_cast<size_t>(i) % 32]) + static_cast<float>(i));
      }
    }
    return output;
  }

 private:
  const Engine* engine_;
  std::vector<std::shared_ptr<const Image>> images_;
  std::vector<std::vector<float>> output_;
};

class FakeFusion : public FusionProvider {
 public:
  FakeFusion(const Engine* engine, ManualClock& clock, const FakeCosts& costs)
      : engine_(engine), clock_(clock), costs_(costs) {}

  std::string name() const override { return "fake/1"; }

  Result<std::vector<NamedTensor>> Capture(Prompt& prompt, size_t segment) override {
    if (!IsPicture(prompt, segment)) return Error{Errc::kInvalidArgument, "the segment is not a picture"};
    auto& ours = static_cast<FakePrompt&>(prompt);
    if (!ours.CanEncode(segment)) return Error{Errc::kInvalidArgument, "a picture without pixels cannot be encoded"};
    if (!ours.has_output(segment)) clock_.AdvanceMs(costs_.encode_ms_per_image);
    std::vector<NamedTensor> tensors;
    tensors.push_back({"output", ShapeOf(prompt, segment), ours.Output(segment)});
    return tensors;
  }

  Status Inject(Prompt& prompt, size_t segment, std::span<const NamedTensor> tensors) override {
    if (!IsPicture(prompt, segment)) return Error{Errc::kInvalidArgument, "the segment is not a picture"};
    if (tensors.size() != 1 || tensors[0].name != "output" || tensors[0].shape != ShapeOf(prompt, segment) ||
        static_cast<int64_t>(tensors[0].values.size()) != tensors[0].shape[0] * tensors[0].shape[1]) {
      return Error{Errc::kCorrupt, "other tensors than this picture's"};
    }
    static_cast<FakePrompt&>(prompt).set_output(segment, tensors[0].values);
    return {};
  }

 private:
  bool IsPicture(const Prompt& prompt, size_t segment) const {
    const auto* ours = dynamic_cast<const FakePrompt*>(&prompt);
    return ours != nullptr && ours->engine() == engine_ && segment < prompt.segments().size() &&
           prompt.segments()[segment].kind == Segment::Kind::kImage;
  }
  static std::vector<int64_t> ShapeOf(const Prompt& prompt, size_t segment) {
    return {prompt.segments()[segment].n_tokens, kFusionFloats};
  }

  const Engine* engine_;
  ManualClock& clock_;
  const FakeCosts& costs_;
};

class FakeSequence : public Sequence {
 public:
  FakeSequence(FakePrompt& prompt, const FakeOptions& options, ManualClock& clock, std::function<void()> on_end)
      : prompt_(prompt), options_(options), clock_(clock), on_end_(std::move(on_end)) {}
  ~FakeSequence() override { on_end_(); }

  Status Inject(std::span<KvSource* const> chunks, std::span<const float> logits) override {
    const bool whole = chunks.size() == prompt_.segments().size();
    if (n_done_ != 0 || chunks.empty() || chunks.size() > prompt_.segments().size() ||
        logits.size() != (whole ? static_cast<size_t>(kVocab) : 0)) {
      return Error{Errc::kInvalidArgument, "chunks or logits do not fit the prompt"};
    }
    std::vector<Row> rows;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const auto n = static_cast<size_t>(prompt_.segments()[i].n_tokens);
      if (chunks[i]->size() != n * sizeof(Row)) return Error{Errc::kCorrupt, "a chunk of the wrong size"};
      std::vector<std::vector<std::byte>> columns(2 * kLayers, std::vector<std::byte>(n * kRowBytes));
      const std::vector<std::span<std::byte>> parts(columns.begin(), columns.end());
      const StageTimer timer(clock_, stats_.load_ms);
      if (Status status = chunks[i]->CopyTo(parts); !status.ok()) return status;
      for (size_t token = 0; token < n; ++token) {
        Row& row = rows.emplace_back();
        for (size_t c = 0; c < columns.size(); ++c) {
          std::memcpy(&row[c], columns[c].data() + token * kRowBytes, kRowBytes);
        }
      }
    }
    for (const Row& row : rows) attended_ = Attend(attended_, row);
    rows_ = std::move(rows);
    n_done_ = chunks.size();
    logits_.assign(logits.begin(), logits.end());
    stats_.tokens_reused = static_cast<int>(rows_.size());
    Spend(stats_.inject_ms, options_.costs.inject_ms_per_token * stats_.tokens_reused);
    return {};
  }

  Status Prefill() override {
    for (; n_done_ < prompt_.segments().size(); ++n_done_) {
      const Segment& segment = prompt_.segments()[n_done_];
      SequenceStats::Step step = {.segment = n_done_};
      if (segment.kind == Segment::Kind::kImage) {
        if (prompt_.has_output(n_done_)) {
          ++stats_.images_put_back;
        } else if (!prompt_.CanEncode(n_done_)) {
          n_done_ = 0;
          rows_.clear();
          attended_ = 0;
          stats_ = {};
          return Error{Errc::kInvalidArgument, "a picture without pixels cannot be encoded"};
        } else {
          ++stats_.images_encoded;
          step.encode_ms = options_.costs.encode_ms_per_image;
          Spend(stats_.encode_ms, step.encode_ms);
        }
      }
      for (int i = 0; i < segment.n_tokens; ++i) {
        AppendRow(segment.kind == Segment::Kind::kText ? static_cast<uint64_t>(segment.tokens[static_cast<size_t>(i)])
                                                       : PictureInput(n_done_, i),
                  segment.first_position + i);
      }
      stats_.tokens_computed += segment.n_tokens;
      step.prefill_ms = options_.costs.prefill_ms_per_token * segment.n_tokens;
      Spend(stats_.prefill_ms, step.prefill_ms);
      stats_.steps.push_back(step);
    }
    if (logits_.empty()) logits_ = LogitsAfter(attended_);
    return {};
  }

  std::span<const float> logits() const override { return logits_; }

  Result<Answer> Generate(const Sampling& sampling, const TextCallback& on_text) override {
    if (logits_.empty()) return Error{Errc::kInvalidArgument, "the prompt is not prefilled"};
    if (sampling.max_tokens < 1) return Error{Errc::kInvalidArgument, "max-tokens must be at least 1"};
    std::mt19937 random(sampling.seed);
    Answer answer;
    for (;;) {
      const int32_t token = Pick(sampling, random);
      if (token == kEndOfAnswer || std::ranges::count(sampling.stop_tokens, token) > 0) return answer;
      answer.tokens.push_back(token);
      const char letter = static_cast<char>('a' + token % 26);
      answer.text += letter;
      const auto n = static_cast<int>(answer.tokens.size());
      stats_.tokens_generated = n;
      Spend(stats_.decode_ms, options_.costs.decode_ms_per_token);
      if (on_text != nullptr && !on_text(std::string_view(&letter, 1))) {
        answer.finish = Answer::Finish::kCancelled;
        return answer;
      }
      if (n == sampling.max_tokens) {
        answer.finish = Answer::Finish::kMaxTokens;
        return answer;
      }
      if (prompt_.n_tokens() + n > options_.context_tokens) {
        answer.finish = Answer::Finish::kContextFull;
        return answer;
      }
      AppendRow(static_cast<uint64_t>(token), prompt_.n_positions() + n - 1);
      logits_ = LogitsAfter(attended_);
    }
  }

  Result<std::vector<std::vector<std::byte>>> Capture(size_t first, size_t count) override {
    if (count == 0 || first > n_done_ || count > n_done_ - first) {
      return Error{Errc::kInvalidArgument, "only segments that were prefilled can be captured"};
    }
    std::vector<std::vector<std::byte>> all;
    for (size_t s = first; s < first + count; ++s) {
      const auto begin = static_cast<size_t>(prompt_.n_tokens_before(s));
      const auto n = static_cast<size_t>(prompt_.segments()[s].n_tokens);
      std::vector<std::byte>& out = all.emplace_back(n * sizeof(Row));
      for (size_t c = 0; c < 2 * kLayers; ++c) {
        for (size_t i = 0; i < n; ++i)
          std::memcpy(out.data() + (c * n + i) * kRowBytes, &rows_[begin + i][c], kRowBytes);
      }
    }
    return all;
  }

  const SequenceStats& stats() const override { return stats_; }

 private:
  void Spend(double& stage_ms, double ms) {
    const StageTimer timer(clock_, stage_ms);
    clock_.AdvanceMs(ms);
  }
  void AppendRow(uint64_t input, int position) {
    rows_.push_back(NextRow(attended_, input, position));
    attended_ = Attend(attended_, rows_.back());
  }
  uint64_t PictureInput(size_t segment, int token) {
    uint64_t input = 3;
    for (int i = 0; i < kFusionFloats; ++i) {
      input =
          Mix(input, std::bit_cast<uint32_t>(prompt_.Output(segment)[static_cast<size_t>(token * kFusionFloats + i)]));
    }
    return input;
  }
  int32_t Pick(const Sampling& sampling, std::mt19937& random) const {
    if (sampling.temperature <= 0) return static_cast<int32_t>(std::ranges::max_element(logits_) - logits_.begin());
    std::vector<float> shares = logits_;
    return static_cast<int32_t>(std::discrete_distribution<int>(shares.begin(), shares.end())(random));
  }

  FakePrompt& prompt_;
  const FakeOptions& options_;
  ManualClock& clock_;
  std::function<void()> on_end_;
  size_t n_done_ = 0;
  std::vector<Row> rows_;
  uint64_t attended_ = 0;  // over rows_
  std::vector<float> logits_;
  SequenceStats stats_;
};

class FakeEngine : public Engine {
 public:
  FakeEngine(const FakeOptions& options, ManualClock& clock)
      : options_(options), clock_(clock), fusion_(this, clock, options_.costs) {
    info_.name = "fake";
    info_.model = options.weights;
    info_.identity.compatibility = IdentityPart(IdentityPart::Fields{{"weights", options.weights}});
    info_.identity.numerics = IdentityPart(IdentityPart::Fields{{"build", options.build}});
    info_.kv.layers.assign(kLayers, {"fake", "fake", kRowBytes, kRowBytes});
    info_.vocab_size = kVocab;
    info_.context_tokens = options.context_tokens;
    info_.max_sequences = options.max_sequences;
    info_.vision = true;
  }

  const EngineInfo& info() const override { return info_; }

  Result<std::unique_ptr<Prompt>> Prepare(const Request& request) override {
    std::vector<PromptPiece> pieces;
    std::vector<std::shared_ptr<const Image>> images;
    const auto add_text = [&](std::string_view text) {
      if (text.empty()) return;
      PromptPiece& piece = pieces.emplace_back();
      for (const char c : text) piece.tokens.push_back(static_cast<unsigned char>(c));
    };
    for (const Message& message : request.messages) {
      add_text(message.role + ":");
      for (const Message::Part& part : message.parts) {
        if (const auto* text = std::get_if<std::string>(&part)) {
          add_text(*text);
          continue;
        }
        const auto& image = std::get<std::shared_ptr<const Image>>(part);
        if (image == nullptr) return Error{Errc::kInvalidArgument, "a picture of the request is null"};
        PromptPiece& piece = pieces.emplace_back();
        piece.n_tokens = piece.n_positions = options_.image_tokens;
        piece.image = static_cast<int>(images.size());
        piece.content = Sha256().Add("fake picture").Add(image->digest()).Finish();
        images.push_back(image);
      }
      add_text("\n");
    }
    add_text("assistant:");
    Result<std::vector<Segment>> segments = CutIntoSegments(pieces);
    if (!segments.ok()) return segments.error();
    auto prompt = std::make_unique<FakePrompt>(std::move(*segments), std::move(images), this);
    if (prompt->n_tokens() >= options_.context_tokens) return Error{Errc::kTooLarge, "the prompt is over the context"};
    return std::unique_ptr<Prompt>(std::move(prompt));
  }

  Result<std::unique_ptr<Sequence>> Start(Prompt& prompt) override {
    auto* ours = dynamic_cast<FakePrompt*>(&prompt);
    if (ours == nullptr || ours->engine() != this) {
      return Error{Errc::kInvalidArgument, "the prompt was prepared by another engine"};
    }
    const std::lock_guard lock(mutex_);
    if (n_running_ == options_.max_sequences) return Error{Errc::kBusy, "all sequences of the context are in use"};
    ++n_running_;
    return std::unique_ptr<Sequence>(std::make_unique<FakeSequence>(*ours, options_, clock_, [this] {
      const std::lock_guard end_lock(mutex_);
      --n_running_;
    }));
  }

  FusionProvider& fusion() override { return fusion_; }

 private:
  const FakeOptions options_;
  ManualClock& clock_;
  EngineInfo info_;
  FakeFusion fusion_;
  std::mutex mutex_;
  int n_running_ = 0;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Engine> NewFakeEngine(const FakeOptions& options, ManualClock& clock) {
  return std::make_unique<FakeEngine>(options, clock);
}

}  // namespace afterimage
