#include "cli/bench_reuse.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "afterimage/clock.h"
#include "cli/bench_tools.h"
#include "cli/command.h"
#include "cli/machine.h"
#include "engine/llama/plain_run.h"

namespace afterimage {
namespace {

using Rows = std::vector<std::byte>;

// One way to get to the first token, measured `pairs` times.
struct Way {
  const char* key;
  const char* label;
  bool encodes;  // runs the vision encoder
  std::vector<double> ttft_ms;
  std::vector<double> without_encoder_ms;
  std::vector<double> bound_ms;  // the least it could take on this machine, in that repeat
};

enum WayIndex { kPlain, kCold, kFusion, kNewQuestion, kLastToken, kFullHit };

struct ShapeResult {
  std::string shape;
  std::string model;
  std::string engine;
  int threads = 0;
  int image_tokens = 0;
  int text_tokens = 0;
  uint64_t prompt_bytes = 0;
  std::vector<Way> ways = {{"plain", "plain llama.cpp", true, {}, {}, {}},
                           {"cold", "cold, canonical steps", true, {}, {}, {}},
                           {"fusion", "encoder output put back", false, {}, {}, {}},
                           {"new_question", "stored picture, new question", false, {}, {}, {}},
                           {"last_token", "full hit without stored logits", false, {}, {}, {}},
                           {"full_hit", "full hit", false, {}, {}, {}}};
  // Canonical steps against plain llama.cpp, pair by pair, both with the encoder's output put back: the encoder's time
  // is the same for both, and its noise is larger than the difference.
  std::vector<double> plain_prefill_ms;
  std::vector<double> canonical_prefill_ms;
  int compared = 0;                 // hits whose logits were compared with a cold run's
  int identical = 0;                // of them, to the bit
  double plain_max_difference = 0;  // of logits: plain run against canonical steps
};

struct Stored {
  std::vector<Rows> rows;
  std::vector<float> logits;
};

struct Measured {
  std::vector<float> logits;
  double ttft_ms = 0;
  SequenceStats stats;
  Stored captured;  // if asked for
};

// Segments up to and with the picture.
size_t PictureEnd(const Prompt& prompt) {
  size_t end = 0;
  for (size_t i = 0; i < prompt.segments().size(); ++i) {
    if (prompt.segments()[i].kind == Segment::Kind::kImage) end = i + 1;
  }
  return end;
}

// Gives the prompt the encoder output of its first pictures.
Status PutBackFusion(Engine& engine, Prompt& prompt, const std::vector<std::vector<NamedTensor>>& fusion) {
  size_t picture = 0;
  for (size_t i = 0; i < prompt.segments().size() && picture < fusion.size(); ++i) {
    if (prompt.segments()[i].kind != Segment::Kind::kImage) continue;
    if (Status status = engine.fusion().Inject(prompt, i, fusion[picture++]); !status.ok()) return status;
  }
  return {};
}

// Prepare to first token, on top of whatever is stored.
Result<Measured> Measure(Engine& engine, const Request& request, const Stored& stored, size_t n_stored,
                         const std::vector<std::vector<NamedTensor>>& fusion, bool capture) {
  const Clock& clock = SteadyClock();
  Measured measured;
  const auto start = clock.Now();
  Result<std::unique_ptr<Prompt>> prompt = engine.Prepare(request);
  if (!prompt.ok()) return prompt.error();
  const size_t n_segments = (*prompt)->segments().size();
  if (Status status = PutBackFusion(engine, **prompt, fusion); !status.ok()) return status.error();
  Result<std::unique_ptr<Sequence>> sequence = engine.Start(**prompt);
  if (!sequence.ok()) return sequence.error();
  if (n_stored > 0) {
    std::vector<SpanKvSource> sources(stored.rows.begin(), stored.rows.begin() + static_cast<std::ptrdiff_t>(n_stored));
    std::vector<KvSource*> chunks;
    for (SpanKvSource& source : sources) chunks.push_back(&source);
    const std::span<const float> logits = n_stored == n_segments ? std::span(stored.logits) : std::span<const float>();
    if (Status status = (*sequence)->Inject(chunks, logits); !status.ok()) return status.error();
  }
  if (Status status = (*sequence)->Prefill(); !status.ok()) return status.error();
  measured.logits.assign((*sequence)->logits().begin(), (*sequence)->logits().end());
  if (Result<Answer> answer = (*sequence)->Generate(request.sampling, nullptr); !answer.ok()) return answer.error();
  measured.ttft_ms = Milliseconds(clock.Now() - start);
  measured.stats = (*sequence)->stats();
  if (capture) {
    Result<std::vector<Rows>> rows = (*sequence)->Capture(0, n_segments);
    if (!rows.ok()) return rows.error();
    measured.captured = {std::move(*rows), measured.logits};
  }
  return measured;
}

// What it takes to move that many bytes once, now.
double CopyMs(const Stored& stored, size_t n_rows, Rows& scratch) {
  const Clock& clock = SteadyClock();
  double ms = 0;
  {
    const StageTimer timer(clock, ms);
    size_t offset = 0;
    for (size_t i = 0; i < n_rows; ++i) {
      std::memcpy(scratch.data() + offset, stored.rows[i].data(), stored.rows[i].size());
      offset += stored.rows[i].size();
    }
  }
  return ms;
}

void Compare(const std::vector<float>& hit, const std::vector<float>& cold, ShapeResult& result) {
  ++result.compared;
  const bool same = hit.size() == cold.size() && std::memcmp(hit.data(), cold.data(), cold.size() * sizeof(float)) == 0;
  result.identical += same ? 1 : 0;
}

double MaxDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

class ReuseBench {
 public:
  ReuseBench(Engine& engine, std::shared_ptr<const Image> picture, const ReuseBenchFlags& flags, ShapeResult& result)
      : engine_(engine), picture_(std::move(picture)), flags_(flags), result_(result) {}

  Status Run() {
    // The first run is the warm-up, the donor of every hit, and the answer a full hit must give.
    Result<Request> question = QuestionOfLength(engine_, picture_, flags_.text_tokens, 0);
    if (!question.ok()) return question.error();
    asked_ = *question;
    Result<Measured> donor = Measure(engine_, asked_, {}, 0, {}, /*capture=*/true);
    if (!donor.ok()) return donor.error();
    stored_ = std::move(donor->captured);
    const std::unique_ptr<Prompt> prompt = engine_.Prepare(asked_).value();
    picture_end_ = PictureEnd(*prompt);
    n_segments_ = prompt->segments().size();
    result_.text_tokens = TextTokens(*prompt);
    result_.image_tokens = prompt->n_tokens() - result_.text_tokens;
    for (size_t i = 0; i < n_segments_; ++i) {
      result_.prompt_bytes += stored_.rows[i].size();
      if (prompt->segments()[i].kind != Segment::Kind::kImage) continue;
      Result<std::vector<NamedTensor>> tensors = engine_.fusion().Capture(*prompt, i);
      if (!tensors.ok()) return tensors.error();
      fusion_.push_back(std::move(*tensors));
    }
    scratch_.resize(result_.prompt_bytes);
    for (int pair = 0; pair < flags_.pairs; ++pair) {
      Progress("repeat", pair, flags_.pairs);
      if (Status status = RunPair(pair); !status.ok()) return status;
    }
    for (int pair = 0; pair < flags_.prefill_pairs; ++pair) {
      Progress("canonical steps against plain, pair", pair, flags_.prefill_pairs);
      if (Status status = RunPrefillPair(pair); !status.ok()) return status;
    }
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
    return {};
  }

 private:
  void Progress(const char* what, int i, int n) const {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K{}: {} {} of {} ", result_.shape, what, i + 1, n);
  }

  Status RunPrefillPair(int pair) {
    const Result<Request> fresh = QuestionOfLength(engine_, picture_, flags_.text_tokens, pair + 1);
    if (!fresh.ok()) return fresh.error();
    const auto plain = [&]() -> Status {
      const Result<std::unique_ptr<Prompt>> prompt = Fused(*fresh);
      if (!prompt.ok()) return prompt.error();
      const Result<PlainRun> run = RunPlain(**prompt);
      if (run.ok()) result_.plain_prefill_ms.push_back(run->prefill_ms);
      return run.ok() ? Status() : run.error();
    };
    const auto canonical = [&]() -> Status {
      const Result<Measured> run = Measure(engine_, *fresh, {}, 0, fusion_, false);
      if (run.ok()) result_.canonical_prefill_ms.push_back(run->stats.prefill_ms);
      return run.ok() ? Status() : run.error();
    };
    if (Status first = pair % 2 == 0 ? plain() : canonical(); !first.ok()) return first;
    return pair % 2 == 0 ? canonical() : plain();
  }

  Result<std::unique_ptr<Prompt>> Fused(const Request& request) {
    Result<std::unique_ptr<Prompt>> prompt = engine_.Prepare(request);
    if (!prompt.ok()) return prompt.error();
    if (Status status = PutBackFusion(engine_, **prompt, fusion_); !status.ok()) return status.error();
    return prompt;
  }

  Status RunPair(int pair) {
    const Result<Request> fresh = QuestionOfLength(engine_, picture_, flags_.text_tokens, pair + 1);
    if (!fresh.ok()) return fresh.error();
    // Plain and cold take turns in going first, so that neither always finds the caches the other left.
    const Result<Measured> cold_first = pair % 2 == 0 ? Cold(*fresh) : Result<Measured>(Measured{});
    if (!cold_first.ok()) return cold_first.error();
    const Clock& clock = SteadyClock();
    const auto start = clock.Now();
    const Result<std::unique_ptr<Prompt>> prompt = engine_.Prepare(*fresh);
    if (!prompt.ok()) return prompt.error();
    const Result<PlainRun> plain = RunPlain(**prompt);
    if (!plain.ok()) return plain.error();
    const double plain_ms = Milliseconds(clock.Now() - start);
    Record(kPlain, plain_ms, plain_ms - plain->encode_ms, 0);
    const Result<Measured> cold_second = pair % 2 == 0 ? Result<Measured>(Measured{}) : Cold(*fresh);
    if (!cold_second.ok()) return cold_second.error();
    const Measured& cold = pair % 2 == 0 ? *cold_first : *cold_second;
    Record(kCold, cold.ttft_ms, cold.ttft_ms - cold.stats.encode_ms, 0);
    result_.plain_max_difference = std::max(result_.plain_max_difference, MaxDifference(plain->logits, cold.logits));

    const Result<Measured> fused = Measure(engine_, *fresh, {}, 0, fusion_, false);
    if (!fused.ok()) return fused.error();
    Record(kFusion, fused->ttft_ms, fused->ttft_ms, 0);
    Compare(fused->logits, cold.logits, result_);

    const double copy_prefix_ms = CopyMs(stored_, picture_end_, scratch_);
    const Result<Measured> prefix = Measure(engine_, *fresh, stored_, picture_end_, {}, false);
    if (!prefix.ok()) return prefix.error();
    Record(kNewQuestion, prefix->ttft_ms, prefix->ttft_ms, copy_prefix_ms + prefix->stats.prefill_ms);
    Compare(prefix->logits, cold.logits, result_);

    const double copy_ms = CopyMs(stored_, n_segments_, scratch_);
    const Result<Measured> last = Measure(engine_, asked_, stored_, n_segments_ - 1, {}, false);
    if (!last.ok()) return last.error();
    Record(kLastToken, last->ttft_ms, last->ttft_ms,
           CopyMs(stored_, n_segments_ - 1, scratch_) + last->stats.prefill_ms);
    Compare(last->logits, stored_.logits, result_);

    const Result<Measured> full = Measure(engine_, asked_, stored_, n_segments_, {}, false);
    if (!full.ok()) return full.error();
    Record(kFullHit, full->ttft_ms, full->ttft_ms, copy_ms);
    Compare(full->logits, stored_.logits, result_);
    return {};
  }

  Result<Measured> Cold(const Request& request) { return Measure(engine_, request, {}, 0, {}, false); }

  void Record(WayIndex way, double ttft_ms, double without_encoder_ms, double bound_ms) {
    result_.ways[way].ttft_ms.push_back(ttft_ms);
    result_.ways[way].without_encoder_ms.push_back(without_encoder_ms);
    result_.ways[way].bound_ms.push_back(bound_ms);
  }

  Engine& engine_;
  std::shared_ptr<const Image> picture_;
  const ReuseBenchFlags& flags_;
  ShapeResult& result_;
  Request asked_;
  Stored stored_;
  std::vector<std::vector<NamedTensor>> fusion_;
  size_t picture_end_ = 0;
  size_t n_segments_ = 0;
  Rows scratch_;
};

// What canonical steps take longer, as a share of plain llama.cpp's time to the first token, encoder included.
Summary CanonicalShare(const ShapeResult& result) {
  const double plain_ms = Summarize(result.ways[kPlain].ttft_ms).median;
  std::vector<double> shares;
  for (size_t i = 0; i < result.plain_prefill_ms.size(); ++i) {
    shares.push_back((result.canonical_prefill_ms[i] - result.plain_prefill_ms[i]) / plain_ms);
  }
  return Summarize(std::move(shares));
}

Result<ShapeResult> BenchShape(const std::string& name, const ReuseBenchFlags& flags) {
  const Result<BenchModel> model = LoadBenchModel(name, flags.models_dir, flags.threads);
  if (!model.ok()) return model.error();
  ShapeResult result;
  result.shape = name;
  result.model = model->engine->info().model;
  result.engine = model->engine->info().name;
  result.threads = model->threads;
  ReuseBench bench(*model->engine, BenchPicture(model->image_size, 1), flags, result);
  if (Status status = bench.Run(); !status.ok()) return status.error();
  return result;
}

void PrintTable(const ShapeResult& result, int pairs) {
  fmt::print("{}: {}, random weights; {} picture + {} text tokens, {:.1f} MB of state\n", result.shape, result.model,
             result.image_tokens, result.text_tokens, static_cast<double>(result.prompt_bytes) / 1e6);
  fmt::print("{} threads; medians of {} interleaved repeats, 95 % intervals in brackets\n\n", result.threads, pairs);
  fmt::print("{:<32}{:>26}{:>26}{:>22}\n", "", "time to first token, ms", "faster than plain", "without encoder, ms");
  const Way& plain = result.ways[kPlain];
  for (const Way& way : result.ways) {
    fmt::print("{:<32}{:>26}{:>26}{:>22}\n", way.label, Short(Summarize(way.ttft_ms), ""),
               &way == &plain ? "" : Short(Ratio(plain.ttft_ms, way.ttft_ms), "x"),
               way.encodes ? Short(Summarize(way.without_encoder_ms).median) : "");
  }
  if (!result.plain_prefill_ms.empty()) {
    const Summary alone = Ratio(result.canonical_prefill_ms, result.plain_prefill_ms);
    const Summary cold = CanonicalShare(result);
    fmt::print(
        "\ncanonical steps cost {:+.2f} % [{:+.2f}, {:+.2f}] of a cold run, {:+.2f} % [{:+.2f}, {:+.2f}] of its "
        "prefill ({} pairs without the encoder)\n",
        100 * cold.median, 100 * cold.low, 100 * cold.high, 100 * (alone.median - 1), 100 * (alone.low - 1),
        100 * (alone.high - 1), result.plain_prefill_ms.size());
  }
  for (const WayIndex index : {kNewQuestion, kLastToken, kFullHit}) {
    const Way& way = result.ways[index];
    fmt::print("{}: {:.0f} % of the bound ({})\n", way.label, 100 * Ratio(way.bound_ms, way.ttft_ms).median,
               index == kFullHit ? "its bytes copied once" : "its bytes copied once, and its own computing");
  }
  fmt::print("logits bit-identical to the cold run: {} of {} hits; plain llama.cpp differs by up to {:.1e}\n\n",
             result.identical, result.compared, result.plain_max_difference);
}

nlohmann::ordered_json ToJson(const ShapeResult& result) {
  nlohmann::ordered_json json = {{"shape", result.shape},
                                 {"model", result.model},
                                 {"threads", result.threads},
                                 {"tokens", {{"image", result.image_tokens}, {"text", result.text_tokens}}},
                                 {"state_bytes", result.prompt_bytes}};
  for (const Way& way : result.ways) {
    nlohmann::ordered_json& entry = json["ways"][way.key];
    entry["ttft_ms"] = ToJson(Summarize(way.ttft_ms));
    entry["without_encoder_ms"] = ToJson(Summarize(way.without_encoder_ms));
    entry["speedup_over_plain"] = ToJson(Ratio(result.ways[kPlain].ttft_ms, way.ttft_ms));
    entry["speedup_over_cold"] = ToJson(Ratio(result.ways[kCold].ttft_ms, way.ttft_ms));
    if (way.bound_ms.front() > 0) entry["share_of_bound"] = Ratio(way.bound_ms, way.ttft_ms).median;
    entry["samples_ms"] = way.ttft_ms;
  }
  json["canonical_cost"] = ToJson(Ratio(result.ways[kCold].ttft_ms, result.ways[kPlain].ttft_ms));
  if (!result.plain_prefill_ms.empty()) {
    json["canonical_share_of_cold"] = ToJson(CanonicalShare(result));
    json["canonical_prefill_cost"] = ToJson(Ratio(result.canonical_prefill_ms, result.plain_prefill_ms));
    json["prefill_samples_ms"] = {{"plain", result.plain_prefill_ms}, {"canonical", result.canonical_prefill_ms}};
  }
  json["hits_compared"] = result.compared;
  json["hits_bit_identical"] = result.identical;
  json["plain_max_logit_difference"] = result.plain_max_difference;
  return json;
}

}  // namespace

int RunReuseBench(const ReuseBenchFlags& flags) {
  if (flags.prefill_pairs < 0) return Fail({Errc::kInvalidArgument, "--prefill-pairs: give 0 or more"});
  if (flags.pairs < 1) return Fail({Errc::kInvalidArgument, "--pairs: give at least 1"});
  nlohmann::ordered_json json = {
      {"machine", MachineName()}, {"pairs", flags.pairs}, {"results", nlohmann::ordered_json::array()}};
  bool identical = true;
  bool first = true;
  for (const std::string& shape : flags.shapes) {
    const Result<ShapeResult> result = BenchShape(shape, flags);
    if (!result.ok()) return Fail(result.error());
    identical = identical && result->identical == result->compared;
    json["engine"] = result->engine;
    json["results"].push_back(ToJson(*result));
    if (flags.json) continue;
    if (first) fmt::print("{}, {}\n\n", MachineName(), result->engine);
    first = false;
    PrintTable(*result, flags.pairs);
    std::fflush(stdout);
  }
  if (flags.json) fmt::print("{}\n", json.dump(2));
  return identical ? kExitOk : Fail({Errc::kInternal, "a hit's logits were not those of the cold run"});
}

}  // namespace afterimage
