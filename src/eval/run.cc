#include "eval/run.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

#include "eval/answer_replay.h"
#include "eval/score.h"

namespace afterimage {
namespace {

class Runner {
 public:
  Runner(const EngineInfo& engine, Cache& cache, Cache* baseline, Labels& labels, const RunOptions& options,
         RunObserver& observer)
      : engine_(engine), cache_(cache), baseline_(baseline), labels_(labels), options_(options), observer_(observer) {}

  SampleOutcome Serve(Sample sample) {
    SampleOutcome outcome;
    outcome.sample = std::move(sample);
    if (Status status = ServeInto(outcome); !status.ok()) outcome.error = status.error();
    return outcome;
  }

 private:
  Result<Query> MakeQuery(const SampleOutcome& outcome) {
    const Sample& sample = outcome.sample;
    std::vector<std::shared_ptr<const Image>> images;
    Query query;
    if (sample.has_image() && !engine_.vision) {
      if (!std::exchange(warned_of_pictures_, true)) {
        observer_.OnWarning("the model takes no pictures; questions about pictures are asked without them");
      }
    } else if (sample.has_image()) {
      Result<std::shared_ptr<const Image>> image = FindImage(sample);
      if (image.ok()) {
        images.push_back(*image);
        query.image_paths.push_back(sample.image_path);
      } else if (image.error().code != Errc::kNotFound) {
        return image.error();
      } else if (!std::exchange(warned_of_missing_, true)) {
        observer_.OnWarning(image.error().message + " It is asked about without its picture, as all such are.");
      }
    }
    query.request = Ask(std::move(images), outcome.prompt);
    query.request.sampling = options_.sampling;
    query.id = sample.id;
    query.question = sample.question;
    query.chunk_text = outcome.chunk_text;
    query.metadata = sample.metadata;
    return query;
  }

  static Result<std::shared_ptr<const Image>> FindImage(const Sample& sample) {
    if (!sample.image_path.empty()) return ReadImage(sample.image_path);
    return Error{Errc::kNotFound,
                 fmt::format("There is no file for picture '{}': give \"image\", or name the folder in "
                             "SEMANTIC_CACHE_IMAGE_ROOT, GQA_IMAGE_ROOT or LLAVA_IMAGE_ROOT.",
                             sample.image_id)};
  }

  Status ServeInto(SampleOutcome& outcome) {
    outcome.prompt = FillTemplate(options_.prompt_template, outcome.sample);
    outcome.chunk_text = ChunkText(outcome.sample, options_.chunk_source);
    const Result<Query> query = MakeQuery(outcome);
    if (!query.ok()) return query.error();
    outcome.pictures = query->image_paths.size();
    labels_.Add(outcome.sample);
    const bool baseline_first = std::exchange(baseline_first_, !baseline_first_);
    if (baseline_first) {
      if (Status status = ServeBaseline(*query, outcome); !status.ok()) return status;
    }
    Result<Served> served = ServeOrReplay(*query);
    if (!served.ok()) return served.error();
    outcome.answer = std::move(served->answer);
    outcome.report = std::move(served->report);
    outcome.verdict = JudgeReport(labels_, LabelQueryOf(*query), outcome.report);
    outcome.correct = ScoreOf(outcome.answer.text, outcome.sample);
    return baseline_first ? Status() : ServeBaseline(*query, outcome);
  }

  Result<Served> ServeOrReplay(const Query& query) {
    if (!options_.answer_replay) return cache_.Serve(query, nullptr);
    if (std::optional<Served> replayed = replay_.Find(query); replayed.has_value()) return std::move(*replayed);
    Result<Served> served = cache_.Serve(query, nullptr);
    if (served.ok()) replay_.Keep(query, *served);
    return served;
  }

  Status ServeBaseline(const Query& query, SampleOutcome& outcome) {
    if (baseline_ == nullptr) return {};
    Result<Served> served = baseline_->Serve(query, nullptr);
    if (!served.ok()) return served.error();
    const std::optional<double> correct = ScoreOf(served->answer.text, outcome.sample);
    outcome.baseline = {std::move(served->answer), served->report.ttft_ms, served->report.latency_ms,
                        served->report.stats.tokens_computed, correct};
    return {};
  }

  const EngineInfo& engine_;
  Cache& cache_;
  Cache* const baseline_;
  Labels& labels_;
  const RunOptions& options_;
  RunObserver& observer_;
  AnswerReplay replay_;
  bool warned_of_pictures_ = false;
  bool warned_of_missing_ = false;
  bool baseline_first_ = false;
};

}  // namespace

Result<RunSummary> Run(Dataset& dataset, const EngineInfo& engine, Cache& cache, Cache* baseline, Labels& labels,
                       const RunOptions& options, RunObserver& observer) {
  Runner runner(engine, cache, baseline, labels, options, observer);
  RunSummary summary;
  if (options.metrics) summary.metrics.emplace();
  for (;;) {
    Result<std::optional<Sample>> next = dataset.Next();
    SampleOutcome outcome;
    if (!next.ok()) {
      if (next.error().code != Errc::kInvalidArgument) return next.error();
      outcome.error = next.error();
    } else if (next->has_value()) {
      outcome = runner.Serve(std::move(**next));
    } else {
      break;
    }
    summary.Add(outcome);
    observer.OnSample(outcome);
  }
  // The answers stand whether or not they could be kept.
  if (Status status = cache.Flush(); !status.ok()) {
    observer.OnWarning(fmt::format("not everything could be kept: {}", status.error().message));
  }
  return summary;
}

}  // namespace afterimage
