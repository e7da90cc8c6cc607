// The run loop: a data set through the engine and the cache, sample by sample.
#ifndef AFTERIMAGE_EVAL_RUN_H_
#define AFTERIMAGE_EVAL_RUN_H_

#include <string>

#include "afterimage/cache.h"
#include "data/dataset.h"
#include "eval/labels.h"
#include "eval/outcome.h"
#include "eval/prompt_text.h"
#include "eval/run_summary.h"

namespace afterimage {

struct RunOptions {
  ChunkSource chunk_source = ChunkSource::kSemantic;
  std::string prompt_template;  // empty: the question
  Sampling sampling;
  bool metrics = false;        // also GQA's own report
  bool answer_replay = false;  // a question that was answered before does not come to the cache (answer_replay.h)
};

// Hears of every sample as it is done. Called on the thread that runs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnSample(const SampleOutcome& outcome) = 0;
  virtual void OnWarning(const std::string& message) = 0;
};

// Serves every sample, then flushes the cache. A sample that cannot be served (an unreadable line, a damaged picture, a
// prompt over the context) is an outcome with an error, and the run goes on. Where a picture's file is missing, or the
// model has no vision, the question is asked without the picture, and one warning says so.
//
// With `baseline`, a cache of mode kOff on the same engine, every sample is also served without reuse. Which of the two
// goes first alternates from sample to sample, so that neither always finds the machine as the other left it.
//
// `labels` judge what is substituted. Every sample is added to them before it is served: where a data set has no pairs
// they may begin empty, and are those of the samples run.
//
// Errors: those that end the data set.
Result<RunSummary> Run(Dataset& dataset, const EngineInfo& engine, Cache& cache, Cache* baseline, Labels& labels,
                       const RunOptions& options, RunObserver& observer);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_RUN_H_
