// `afterimage run`: a data set through the engine and the cache; one log line a sample, then what it came to.
#include "eval/run.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "afterimage/cache.h"
#include "afterimage/llama_engine.h"
#include "cli/cache_flags.h"
#include "cli/chunk_source_flag.h"
#include "cli/command.h"
#include "cli/engine_flags.h"
#include "cli/model_files.h"
#include "cli/option_table.h"
#include "cli/progress.h"
#include "core/json_text.h"
#include "data/image_finder.h"
#include "data/open_dataset.h"
#include "data/pairs.h"
#include "eval/labels.h"
#include "eval/report_json.h"

namespace afterimage {
namespace {

struct RunFlags {
  RunFlags() {
    cache.options.folder = "semantic_cache";
    cache.options.loosest = ReuseClass::kApproximate;
  }

  EngineFlags engine;
  CacheFlags cache;
  RunOptions run;
  DatasetChoice dataset;
  bool baseline = false;
  bool oracle = false;
  std::string samples_file;
  bool json = false;
};

void AddDatasetOptions(OptionTable& table, DatasetChoice& choice) {
  table.Add("--dataset", choice.name, fmt::format("{}, or a .jsonl file of questions", kDatasetNames));
  table.Add("--data-dir", choice.data_dir, "Folder of the data set's files, or its file; empty: what is shipped");
  table.Add("--split", choice.split, "Which part of the data set: train, val, testdev");
  table
      .Add(
          "--dataset-config", choice.config,
          "Which questions of it; of the world: balanced, or the streams paraphrases, flips, clips, twins, lookalikes, "
          "traffic, heldout; default: balanced, for gqa val_balanced_instructions")
      .get = [&choice]() -> OptionTable::Json { return WithDefaults(choice).config; };
  table.Add("--max-samples", choice.max_samples, "How many samples; -1: all");
  table.AddParsed(
      "--shuffle-seed", "INT",
      [&choice](const std::string& text) -> Status {
        int64_t seed = 0;
        if (Status status = option_table_internal::ParseText(text, seed); !status.ok()) return status;
        choice.shuffle_seed = seed;
        return {};
      },
      [&choice]() -> OptionTable::Json { return *WithDefaults(choice).shuffle_seed; },
      "Seed of the order they are drawn in; -1: as they come, the default for streams, frames and pairs; else 7");
}

OptionTable RunOptionTable(RunFlags& flags) {
  OptionTable table;
  AddModelOptions(table, flags.engine);
  AddDatasetOptions(table, flags.dataset);
  AddChunkSource(table, flags.run.chunk_source);
  table.Add("--prompt-template", flags.run.prompt_template,
            fmt::format("What the model is asked: a text with {{question}}, {{image_id}} and the like, or one of {}",
                        kTemplateNames));
  table.AddFlag("--baseline", flags.baseline, "Also run every sample without the cache, and compare");
  table.AddFlag("--oracle", flags.oracle,
                "The labels decide which substitutions are made: what a perfect judge would save");
  table.Add("--samples-file", flags.samples_file, "Write one JSON line a sample to this file");
  table.AddFlag("--metrics", flags.run.metrics,
                "Also GQA's own report: accuracy by kind of question, consistency, distribution");
  table.AddFlag("--json", flags.json, "Print one JSON object on stdout; log lines go to stderr");
  AddCacheOptions(table, flags.cache);
  AddSamplingOptions(table, flags.run.sampling);
  AddEngineOptions(table, flags.engine);
  return table;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error WriteError(const std::string& path) {
  return {Errc::kIo, fmt::format("Cannot write '{}': {}.", path, std::system_category().message(errno))};
}

// Prints and writes samples as they are done.
class Log : public RunObserver {
 public:
  Log(std::FILE* out, std::FILE* samples_file, std::optional<size_t> total)
      : out_(out), samples_file_(samples_file), progress_(stderr, total) {}

  void OnSample(const SampleOutcome& outcome) override {
    progress_.Hide();
    fmt::print(out_, "{}\n", LogLine(outcome));
    std::fflush(out_);
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

  void Finish() { progress_.Hide(); }

 private:
  std::FILE* const out_;
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

void PrintSummary(const RunSummary& summary, const RunInfo& info, bool json) {
  if (json) {
    fmt::print("{}\n", JsonText(SummaryJson(summary, info), 2));
  } else {
    fmt::print("\n{}", SummaryTable(summary, info));
  }
  std::fflush(stdout);
  if (summary.errors > 0) {
    fmt::print(stderr, "afterimage: {} of {} samples failed; the first: {}\n", summary.errors,
               summary.errors + summary.samples, summary.first_error);
  }
}

int RunRun(const RunFlags& flags) {
  Result<CacheOptions> cache_options = flags.cache.Resolve();
  if (!cache_options.ok()) return Fail(cache_options.error());
  Result<std::unique_ptr<Dataset>> dataset =
      OpenDataset(flags.dataset, ImageFinder::RootsFromEnvironment(), FindShipped);
  if (!dataset.ok()) return Fail(dataset.error());
  Result<Labels> labels = OpenLabels(flags.dataset);
  if (!labels.ok()) return Fail(labels.error());
  if (flags.oracle) {
    cache_options->oracle = [&labels](const Query& asked, const Donor& donor, bool question, bool picture) {
      return labels->Same(LabelQueryOf(asked), donor, question, picture);
    };
  }
  File samples_file(flags.samples_file.empty() ? nullptr : std::fopen(flags.samples_file.c_str(), "wbe"));
  if (!flags.samples_file.empty() && samples_file == nullptr) return Fail(WriteError(flags.samples_file));

  const Result<LlamaOptions> options = flags.engine.Resolve();
  if (!options.ok()) return Fail(options.error());
  Result<std::unique_ptr<Engine>> engine = NewLlamaEngine(*options);
  if (!engine.ok()) return Fail(engine.error());
  Result<std::unique_ptr<Cache>> cache = flags.cache.Open(*cache_options, **engine);
  if (!cache.ok()) return Fail(cache.error());
  std::unique_ptr<Cache> baseline;
  if (flags.baseline) {
    CacheOptions off;
    off.mode = CacheMode::kOff;
    Result<std::unique_ptr<Cache>> opened = Cache::Open(off, **engine);
    if (!opened.ok()) return Fail(opened.error());
    baseline = std::move(*opened);
  }

  Log log(flags.json ? stderr : stdout, samples_file.get(), (*dataset)->size_hint());
  const Result<RunSummary> summary =
      Run(**dataset, (*engine)->info(), **cache, baseline.get(), *labels, flags.run, log);
  log.Finish();
  if (!summary.ok()) return Fail(summary.error());
  PrintSummary(*summary,
               {flags.engine.preset, options->model_path, flags.dataset.name, (*engine)->info(), cache_options->mode,
                (*cache)->stats()},
               flags.json);
  if (samples_file != nullptr && std::ferror(samples_file.get()) != 0) return Fail(WriteError(flags.samples_file));
  if (summary->samples > 0) return kExitOk;
  return summary->errors > 0 ? kExitFailed : Fail({Errc::kNotFound, "The data set holds no samples."});
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RunFlags>();
  auto print_config = std::make_shared<bool>(false);
  auto print_options = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("run", "Run a data set through the model and the cache; prints what it saved");
  OptionTable table = RunOptionTable(*flags);
  table.AddTo(*command);
  command->add_flag("--print-config", *print_config, "Print all options as JSON, and do nothing else");
  command->add_flag("--print-options", *print_options, "Print this list as Markdown, and do nothing else");
  command->callback([flags, print_config, print_options, table, &exit_code]() mutable {
    if (*print_options) {
      fmt::print("{}", table.ToMarkdown());
      return;
    }
    Status status = ApplyCompat(table, flags->cache);
    if (status.ok()) status = ApplyPreset(table, flags->engine);
    if (!status.ok()) {
      exit_code = Fail(status.error());
    } else if (*print_config) {
      fmt::print("{}\n", JsonText(table.ToJson(), 2));
    } else {
      exit_code = RunRun(*flags);
    }
  });
}

}  // namespace afterimage
