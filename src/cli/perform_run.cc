#include "cli/perform_run.h"

#include <fmt/core.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "cli/machine.h"
#include "cli/model_files.h"
#include "cli/progress.h"
#include "core/posix_file.h"
#include "data/image_finder.h"
#include "data/pairs.h"
#include "eval/experiment_log.h"
#include "eval/labels.h"
#include "eval/report_json.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Prints and writes samples as they are done.
class Log : public RunObserver {
 public:
  Log(std::FILE* out, std::FILE* samples_file, std::optional<size_t> total)
      : out_(out), samples_file_(samples_file), progress_(stderr, total) {}

  void OnSample(const SampleOutcome& outcome) override {
    progress_.Hide();
    if (out_ != nullptr) {
      fmt::print(out_, "{}\n", LogLine(outcome));
      std::fflush(out_);
    }
    if (samples_file_ != nullptr) {
      fmt::print(samples_file_, "{}\n", SampleLine(outcome));
      std::fflush(samples_file_);  // a run that is stopped leaves what it did
    }
    progress_.Show(++done_);
  }

  void OnWarning(const std::string& message) override {
    progress_.Hide();
    fmt::print(stderr, "afterimage: warning: {}\n", message);
  }

 private:
  std::FILE* const out_;           // may be null
  std::FILE* const samples_file_;  // may be null
  Progress progress_;
  size_t done_ = 0;
};

// Those of the whole data set where it has pairs, since a pair may name samples that are not run; else none yet: a
// sample's own list is added as it is run.
Result<Labels> OpenLabels(const DatasetChoice& choice) {
  const Result<std::string> pairs_file = FindPairs(choice, FindShipped);
  if (!pairs_file.ok()) return pairs_file.error();
  if (pairs_file->empty()) return Labels();
  Result<PairsFile> pairs = PairsFile::Open(*pairs_file);
  if (!pairs.ok()) return pairs.error();
  DatasetChoice whole = choice;
  whole.max_samples = -1;
  whole.shuffle_seed = -1;
  const Result<std::unique_ptr<Dataset>> dataset = OpenDataset(whole, ImageFinder::RootsFromEnvironment(), FindShipped);
  if (!dataset.ok()) return dataset.error();
  return ReadLabels(**dataset, *pairs);
}

// Options about what is written where say nothing of what was run.
Json RowHead(const Json& options, const Json& error) {
  Json row = {{"name", options["name"]}};
  for (const auto& [key, value] : options.items()) {
    if (key != "name" && key != "samples_file") row[key] = value;
  }
  const std::string samples_file = options["samples_file"].get<std::string>();
  row["samples_file"] = samples_file.empty() ? Json() : Json(samples_file);
  row["error"] = error;
  return row;
}

}  // namespace

Result<Engine*> EngineKeeper::Load(const LlamaOptions& options) {
  if (engine_ != nullptr && options_ == options) return engine_.get();
  engine_.reset();  // two models at once may be more than the machine holds
  options_ = options;
  Result<std::unique_ptr<Engine>> loaded = NewLlamaEngine(options);
  if (!loaded.ok()) return loaded.error();
  engine_ = std::move(*loaded);
  return engine_.get();
}

Result<FinishedRun> PerformRun(const RunFlags& flags, EngineKeeper& engines, std::FILE* out) {
  Result<CacheOptions> cache_options = flags.cache.Resolve();
  if (!cache_options.ok()) return cache_options.error();
  Result<std::unique_ptr<Dataset>> dataset =
      OpenDataset(flags.dataset, ImageFinder::RootsFromEnvironment(), FindShipped);
  if (!dataset.ok()) return dataset.error();
  Result<Labels> labels = OpenLabels(flags.dataset);
  if (!labels.ok()) return labels.error();
  if (flags.oracle) {
    cache_options->oracle = [&labels](const Query& asked, const Donor& donor, bool question, bool picture) {
      return labels->Same(LabelQueryOf(asked), donor, question, picture);
    };
  }
  const File samples_file(flags.samples_file.empty() ? nullptr : std::fopen(flags.samples_file.c_str(), "wbe"));
  if (!flags.samples_file.empty() && samples_file == nullptr) return WriteError(flags.samples_file, errno);

  const Result<LlamaOptions> options = flags.engine.Resolve();
  if (!options.ok()) return options.error();
  const Result<Engine*> loaded = engines.Load(*options);
  if (!loaded.ok()) return loaded.error();
  Engine& engine = **loaded;
  Result<std::unique_ptr<Cache>> cache = flags.cache.Open(*cache_options, engine);
  if (!cache.ok()) return cache.error();
  std::unique_ptr<Cache> baseline;
  if (flags.baseline) {
    CacheOptions off;
    off.mode = CacheMode::kOff;
    Result<std::unique_ptr<Cache>> opened = Cache::Open(off, engine);
    if (!opened.ok()) return opened.error();
    baseline = std::move(*opened);
  }

  Log log(out, samples_file.get(), (*dataset)->size_hint());
  Result<RunSummary> summary = Run(**dataset, engine.info(), **cache, baseline.get(), *labels, flags.run, log);
  if (!summary.ok()) return summary.error();
  if (samples_file != nullptr && std::ferror(samples_file.get()) != 0) return WriteError(flags.samples_file, errno);
  return FinishedRun{std::move(*summary),
                     {flags.engine.preset, options->model_path, flags.dataset.name, engine.info(), cache_options->mode,
                      (*cache)->stats(), MachineName(), ProgramCommit()}};
}

Json RunJson(const FinishedRun& run) { return SummaryJson(run.summary, run.info); }

Json RunRow(const Json& options, const FinishedRun& run) {
  Json row = RowHead(options, nullptr);
  const Json results = Flattened(RunJson(run));
  for (const auto& [key, value] : results.items()) {
    if (!row.contains(key)) row[key] = value;  // the model is there as it was given
  }
  return row;
}

Json RunRow(const Json& options, const Error& error) { return RowHead(options, error.message); }

Status CheckAnswered(const RunSummary& summary) {
  if (summary.samples > 0) return {};
  if (summary.errors == 0) return Error{Errc::kNotFound, "The data set holds no samples."};
  return Error{Errc::kInternal,
               fmt::format("None of {} samples could be answered; the first: {}", summary.errors, summary.first_error)};
}

}  // namespace afterimage
