// The run loop: a data set through the engine and the cache, sample by sample.
#ifndef AFTERIMAGE_EVAL_RUN_H_
#define AFTERIMAGE_EVAL_RUN_H_

#include <string>

#include "afterimage/cache.h"
#include "data/dataset.h"
#include "eval/outcome.h"
#include "eval/prompt_text.h"
#include "eval/run_summary.h"

namespace afterimage {

struct RunOptions {
  ChunkSource chunk_source = ChunkSource::kSemantic;
  std::string prompt_template;  // empty: the question
  Sampling sampling;
  bool metrics = false;  // also GQA's own report
};

// Hears of every sample as it is done. Called on the thread that runs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnSample(const SampleOutcome& outcome) = 0;
  virtual void OnWarning(const std::string& message) = 0;
};

// Serves every sample, then flushes the cache. A sample that cannot be served (an unreadable line or picture, a prompt
// over the context) is an outcome with an error, and the run goes on. A model without vision is asked without the
// pictures, and one warning says so; a model with vision is never asked about a picture it was not given.
//
// With `baseline`, a cache of mode kOff on the same engine, every sample is also served without reuse. Which of the two
// goes first alternates from sample to sample, so that neither always finds the machine as the other left it.
//
// Errors: those that end the data set.
Result<RunSummary> Run(Dataset& dataset, const EngineInfo& engine, Cache& cache, Cache* baseline,
                       const RunOptions& options, RunObserver& observer);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_RUN_H_
