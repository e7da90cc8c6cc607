// `afterimage ablate`: a sweep over the shipped specification, or another.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/model_files.h"
#include "cli/sweep.h"

namespace afterimage {

void AddAblate(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SweepFlags>();
  flags->log_file = "experiment_logs/ablation_results.csv";
  flags->samples_dir = "experiment_logs/ablation_samples";
  flags->purge = true;
  CLI::App* command =
      app.add_subcommand("ablate", "Run the ablation: every layer and threshold by itself, on two models");
  command->add_option("--samples", flags->samples, "Samples an experiment; default: what the specification says");
  command->add_option("--specs", flags->specs,
                      "Another specification than the shipped experiments/ablation_specs.json");
  command->add_option("--log-file", flags->log_file, "Rows are appended to it")->capture_default_str();
  command->add_option("--samples-dir", flags->samples_dir, "Folder for one file of samples an experiment")
      ->capture_default_str();
  command->add_flag("--resume", flags->resume, "Pass over experiments that are finished in the log");
  command->add_flag("--purge-cache-between-runs,!--no-purge-cache-between-runs", flags->purge,
                    "Empty an experiment's cache before it and after it; the default");
  command->callback([flags, &exit_code] {
    if (flags->specs.empty()) {
      const Result<std::string> shipped = FindShipped("experiments/ablation_specs.json");
      if (!shipped.ok()) {
        exit_code = Fail(shipped.error());
        return;
      }
      flags->specs = *shipped;
    }
    exit_code = RunSweep(*flags);
  });
}

}  // namespace afterimage
