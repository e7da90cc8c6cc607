// `afterimage run`: a data set through the engine and the cache; one log line a sample, then what it came to.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/perform_run.h"
#include "cli/run_flags.h"
#include "core/json_text.h"
#include "eval/experiment_log.h"

namespace afterimage {
namespace {

// What only this command has: where to it prints.
struct OutputFlags {
  bool json = false;
  std::string log_file;
  bool print_config = false;
  bool print_options = false;
};

void PrintSummary(const FinishedRun& run, bool json) {
  const RunSummary& summary = run.summary;
  if (json) {
    fmt::print("{}\n", JsonText(RunJson(run), 2));
  } else {
    fmt::print("\n{}", SummaryTable(summary, run.info));
  }
  std::fflush(stdout);
  if (summary.errors > 0) {
    fmt::print(stderr, "afterimage: {} of {} samples failed; the first: {}\n", summary.errors,
               summary.errors + summary.samples, summary.first_error);
  }
}

int RunRun(const RunFlags& flags, const OptionTable::Json& options, const OutputFlags& output) {
  std::optional<ExperimentLog> log;
  if (!output.log_file.empty()) {
    Result<ExperimentLog> opened = ExperimentLog::Open(output.log_file);
    if (!opened.ok()) return Fail(opened.error());
    log = std::move(*opened);
  }
  EngineKeeper engines;
  const Result<FinishedRun> run = PerformRun(flags, engines, output.json ? stderr : stdout);
  if (!run.ok()) return Fail(run.error());
  PrintSummary(*run, output.json);
  if (log.has_value()) {
    if (Status status = log->Add(RunRow(options, *run)); !status.ok()) return Fail(status.error());
  }
  if (run->summary.samples == 0 && run->summary.errors > 0) return kExitFailed;  // which were named above
  const Status answered = CheckAnswered(run->summary);
  return answered.ok() ? kExitOk : Fail(answered.error());
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RunFlags>();
  auto output = std::make_shared<OutputFlags>();
  CLI::App* command = app.add_subcommand("run", "Run a data set through the model and the cache; prints what it saved");
  OptionTable table = RunOptionTable(*flags);
  table.AddTo(*command);
  command->add_flag("--json", output->json, "Print one JSON object on stdout; log lines go to stderr");
  command->add_option("--log-file", output->log_file, "Append a row of options and results (.csv or .jsonl)");
  command->add_flag("--print-config", output->print_config, "Print all options as JSON, and do nothing else");
  command->add_flag("--print-options", output->print_options, "Print this list as Markdown, and do nothing else");
  command->callback([flags, output, table, &exit_code]() mutable {
    if (output->print_options) {
      fmt::print("{}", table.ToMarkdown());
      return;
    }
    if (Status status = ApplyDefaults(table, *flags); !status.ok()) {
      exit_code = Fail(status.error());
    } else if (output->print_config) {
      fmt::print("{}\n", JsonText(table.ToJson(), 2));
    } else {
      exit_code = RunRun(*flags, table.ToJson(), *output);
    }
  });
}

}  // namespace afterimage
