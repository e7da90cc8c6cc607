// One run of a data set through the engine and the cache, as its options say.
#ifndef AFTERIMAGE_CLI_PERFORM_RUN_H_
#define AFTERIMAGE_CLI_PERFORM_RUN_H_

#include <cstdio>
#include <memory>
#include <optional>

#include "afterimage/engine.h"
#include "afterimage/llama_engine.h"
#include "cli/run_flags.h"
#include "eval/run_summary.h"

namespace afterimage {

// The engine of the last run, for the next one that wants the same.
class EngineKeeper {
 public:
  // Lives until another is loaded. Errors: NewLlamaEngine's; there is none then.
  Result<Engine*> Load(const LlamaOptions& options);

 private:
  std::optional<LlamaOptions> options_;
  std::unique_ptr<Engine> engine_;
};

struct FinishedRun {
  RunSummary summary;
  RunInfo info;
};

// Prints one line a sample on `out`, unless it is null, warnings on stderr, and there also how far it is, if that is a
// terminal. Samples that fail are counted in the summary.
// Errors: options that go not together, data, model and cache that cannot be opened; a samples file that cannot be
// written.
Result<FinishedRun> PerformRun(const RunFlags& flags, EngineKeeper& engines, std::FILE* out);

// What `run --json` prints, and a row of a log of experiments (experiment_log.h) for a run with these options, as
// OptionTable::ToJson gives them.
nlohmann::ordered_json RunJson(const FinishedRun& run);
nlohmann::ordered_json RunRow(const nlohmann::ordered_json& options, const FinishedRun& run);
// Of a run that failed.
nlohmann::ordered_json RunRow(const nlohmann::ordered_json& options, const Error& error);

// An error where no sample was answered: such a run has failed.
Status CheckAnswered(const RunSummary& summary);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_PERFORM_RUN_H_
