// `afterimage sweep`: many runs, one row each.
#include "cli/sweep.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/command.h"
#include "cli/experiment_spec.h"
#include "cli/perform_run.h"
#include "cli/run_flags.h"
#include "eval/experiment_log.h"
#include "store/listing.h"

namespace afterimage {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// An experiment with its options understood. The table refers to the flags, so it stays where it is.
struct PreparedExperiment {
  PreparedExperiment() = default;
  PreparedExperiment(const PreparedExperiment&) = delete;
  PreparedExperiment& operator=(const PreparedExperiment&) = delete;

  RunFlags flags;
  OptionTable table = RunOptionTable(flags);
  bool own_cache_dir = false;
};

std::string Under(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

Status Prepare(const Experiment& experiment, const SweepFlags& sweep, PreparedExperiment& prepared) {
  for (const auto& [key, value] : experiment.options.items()) {
    Status status = key == "samples_file"
                        ? Status(Error{Errc::kInvalidArgument, "The samples file goes by --samples-dir."})
                        : prepared.table.Set(key, value);
    if (status.ok()) continue;
    return Error{Errc::kInvalidArgument, fmt::format("Experiment '{}': {}", experiment.name, status.error().message)};
  }
  RunFlags& flags = prepared.flags;
  if (sweep.samples.has_value()) flags.dataset.max_samples = *sweep.samples;
  if (Status status = ApplyDefaults(prepared.table, flags); !status.ok()) return status;
  flags.samples_file = Under(sweep.samples_dir, experiment.file_name + ".jsonl");
  prepared.own_cache_dir = experiment.own_cache_dir;
  if (experiment.own_cache_dir) return {};
  CacheOptions& cache = flags.cache.options;
  cache.folder = Under(cache.folder, experiment.file_name);
  if (!cache.fusion_folder.empty()) cache.fusion_folder = Under(cache.fusion_folder, experiment.file_name);
  return {};
}

// Nothing, where there is no cache. Errors: PurgeFolder's.
Status EmptyCache(const std::string& folder) {
  const DiskLayout layout = FindLayout(folder);
  const Result<FolderState> state = InspectFolder(PosixFileSystem(), layout);
  if (!state.ok()) return state.error();
  if (*state == FolderState::kFresh) return {};
  const Result<Purged> purged = PurgeFolder(PosixFileSystem(), layout);
  return purged.ok() ? Status() : Status(purged.error());
}

// What is left of a cache that was emptied.
void RemoveFolder(const CacheOptions& cache) {
  std::error_code ignored;
  fs::remove(DiskLayout(cache.folder).lock(), ignored);
  fs::remove(cache.folder, ignored);
  if (cache.fusion_folder.empty()) return;
  fs::remove(Under(cache.fusion_folder, "lock"), ignored);
  fs::remove(cache.fusion_folder, ignored);
}

Result<FinishedRun> RunExperiment(const PreparedExperiment& experiment, const SweepFlags& sweep,
                                  EngineKeeper& engines) {
  const RunFlags& flags = experiment.flags;
  const CacheOptions& cache = flags.cache.options;
  // A samples file without a row in the log: this experiment was begun before, and did not end.
  const bool interrupted = fs::exists(flags.samples_file);
  if (!experiment.own_cache_dir || sweep.purge || interrupted) {
    if (Status status = EmptyCache(cache.folder); !status.ok()) return status.error();
  }
  Result<FinishedRun> run = PerformRun(flags, engines, nullptr);
  if (run.ok()) {
    if (Status status = CheckAnswered(run->summary); !status.ok()) return status.error();
  }
  if (sweep.purge && EmptyCache(cache.folder).ok() && !experiment.own_cache_dir) RemoveFolder(cache);
  return run;
}

std::string Share(const Json& value) {
  return value.is_number() ? fmt::format("{:.1f} %", value.get<double>() * 100) : std::string("-");
}

void PrintResult(const FinishedRun& run) {
  const Json json = RunJson(run);
  fmt::print("    hits {}, accuracy {}", Share(json["hit_rate"]), Share(json["accuracy"]));
  if (json.contains("baseline")) fmt::print(" (without the cache {})", Share(json["baseline"]["accuracy"]));
  if (json.contains("false_hits")) fmt::print(", false hits {}", json["false_hits"]["count"].get<size_t>());
  if (json.contains("wrong_donors")) fmt::print(", wrong donors {}", json["wrong_donors"]["count"].get<size_t>());
  fmt::print(", first token {:.1f} ms", json["ttft_ms"]["p50"].get<double>());
  if (json.contains("speedup")) fmt::print(" ({:.2f}x)", json["speedup"]["ttft_p50"].get<double>());
  if (run.summary.errors > 0) fmt::print(", {} samples failed", run.summary.errors);
  fmt::print("\n");
}

using PreparedExperiments = std::vector<std::unique_ptr<PreparedExperiment>>;

Result<PreparedExperiments> PrepareAll(const SweepFlags& flags) {
  const Result<Json> spec = ReadSpecFile(flags.specs);
  if (!spec.ok()) return spec.error();
  const Result<std::vector<Experiment>> experiments = ReadExperiments(*spec);
  if (!experiments.ok()) return Error{experiments.error().code, flags.specs + ": " + experiments.error().message};
  PreparedExperiments prepared;
  for (const Experiment& experiment : *experiments) {
    prepared.push_back(std::make_unique<PreparedExperiment>());
    if (Status status = Prepare(experiment, flags, *prepared.back()); !status.ok()) {
      return Error{status.error().code, flags.specs + ": " + status.error().message};
    }
  }
  return prepared;
}

Status CheckNew(const PreparedExperiments& experiments, const ExperimentLog& log, const SweepFlags& flags) {
  for (const auto& experiment : experiments) {
    if (!log.finished().contains(experiment->flags.name)) continue;
    return Error{Errc::kInvalidArgument,
                 fmt::format("{} already has experiment '{}': give --resume to run only those that are missing, or "
                             "another --log-file.",
                             flags.log_file, experiment->flags.name)};
  }
  return {};
}

}  // namespace

int RunSweep(const SweepFlags& flags) {
  const Result<PreparedExperiments> experiments = PrepareAll(flags);
  if (!experiments.ok()) return Fail(experiments.error());
  Result<ExperimentLog> log = ExperimentLog::Open(flags.log_file);
  if (!log.ok()) return Fail(log.error());
  if (Status status = flags.resume ? Status() : CheckNew(*experiments, *log, flags); !status.ok()) {
    return Fail(status.error());
  }
  std::error_code failed_to_make;
  fs::create_directories(flags.samples_dir, failed_to_make);
  if (failed_to_make) return Fail({Errc::kIo, fmt::format("{}: {}.", flags.samples_dir, failed_to_make.message())});

  EngineKeeper engines;
  size_t number = 0;
  size_t failed = 0;
  for (const auto& experiment : *experiments) {
    const std::string& name = experiment->flags.name;
    const bool done = log->finished().contains(name);
    fmt::print("[{}/{}] {}{}\n", ++number, experiments->size(), name, done ? ": done before" : "");
    std::fflush(stdout);
    if (done) continue;
    const Result<FinishedRun> run = RunExperiment(*experiment, flags, engines);
    const Json options = experiment->table.ToJson();
    if (run.ok()) {
      PrintResult(*run);
    } else {
      ++failed;
      fmt::print("    failed: {}\n", run.error().message);
    }
    std::fflush(stdout);
    const Status logged = log->Add(run.ok() ? RunRow(options, *run) : RunRow(options, run.error()));
    if (!logged.ok()) return Fail(logged.error());
  }
  fmt::print("{} experiments, {} failed; the log is {}. To look at it:\n  afterimage report {} -o report.html\n",
             experiments->size(), failed, flags.log_file, flags.log_file);
  return failed == 0 ? kExitOk : kExitFailed;
}

void AddSweep(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SweepFlags>();
  CLI::App* command = app.add_subcommand("sweep", "Run the experiments of a specification; one row of a log each");
  command->add_option("--specs", flags->specs, "JSON file: defaults and experiments (docs/experiments.md)")->required();
  command->add_option("--log-file", flags->log_file, "Rows are appended to it: CSV, or JSON lines for .jsonl")
      ->required();
  command->add_option("--samples-dir", flags->samples_dir, "Folder for one file of samples an experiment")->required();
  command->add_flag("--resume", flags->resume, "Pass over experiments that are finished in the log");
  command->add_flag("--purge-cache-between-runs", flags->purge, "Empty an experiment's cache before it and after it");
  command->callback([flags, &exit_code] { exit_code = RunSweep(*flags); });
}

}  // namespace afterimage
