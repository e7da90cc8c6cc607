// SampleOutcome: what became of one sample of a run.
#ifndef AFTERIMAGE_EVAL_OUTCOME_H_
#define AFTERIMAGE_EVAL_OUTCOME_H_

#include <optional>
#include <string>

#include "afterimage/cache.h"
#include "data/dataset.h"
#include "eval/verdict.h"

namespace afterimage {

struct SampleOutcome {
  // The same sample without the cache.
  struct Baseline {
    Answer answer;
    double ttft_ms = 0;
    double latency_ms = 0;
    int tokens_computed = 0;  // all of the prompt, or it was no baseline
    std::optional<double> correct;
  };

  Sample sample;  // empty where the data set could not give it
  std::string prompt;
  std::string chunk_text;
  size_t pictures = 0;         // that went into the request
  std::optional<Error> error;  // set: it was not answered, and nothing below means anything

  Answer answer;
  Report report;
  std::optional<double> correct;  // its score, 0 to 1 (score.h); nullopt: there is no reference
  std::optional<Baseline> baseline;
  Verdict verdict;  // of the labels

  bool agrees() const { return baseline.has_value() && baseline->answer.tokens == answer.tokens; }
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_OUTCOME_H_
