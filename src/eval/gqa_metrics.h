// GQA's own report, as its evaluation script computes it, gathered sample by sample.
//
// Accuracy over balanced questions: of all, of binary ones and open ones (structural type "query"), by structural and
// by semantic type. Consistency: over balanced questions answered right, the mean share of the questions their answer
// entails that were answered right too. Distribution: how far the answers given are from the right ones group by group,
// by chi square over the groups' answers, weighted by their size; lower is better.
//
// Two things differ. Answers are compared as everywhere here (score.h), not letter by letter. And consistency is over
// the entailed questions that were asked: a run over a part of the data set has not seen the others, and the numbers of
// both are given. Validity and plausibility need the lists of choices, which the data set does not come with, and
// grounding needs attention maps: neither is computed.
//
// Costs the id of every sample, and for every one with labels its entailed ids: what is entailed may come later.
#ifndef AFTERIMAGE_EVAL_GQA_METRICS_H_
#define AFTERIMAGE_EVAL_GQA_METRICS_H_

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/dataset.h"

namespace afterimage {

// A mean of shares, each 0 to 1.
struct Accuracy {
  size_t scored = 0;
  double correct = 0;

  void Add(double share) {
    ++scored;
    correct += share;
  }
  // 0 for none.
  double mean() const { return scored == 0 ? 0 : correct / static_cast<double>(scored); }
};

struct Consistency {
  Accuracy questions;    // of each: the share of what it entails
  size_t asked = 0;      // entailed questions that were asked
  size_t not_asked = 0;  // and those that were not
};

class GqaMetrics {
 public:
  // A sample that has a reference; `correct` is its score.
  void Add(const Sample& sample, std::string_view response, double correct);

  const Accuracy& all() const { return all_; }
  const Accuracy& binary() const { return binary_; }
  const Accuracy& open() const { return open_; }
  const std::map<std::string, Accuracy>& by_structural() const { return by_structural_; }
  const std::map<std::string, Accuracy>& by_semantic() const { return by_semantic_; }
  Consistency consistency() const;
  // nullopt where no sample is in a group.
  std::optional<double> distribution() const;

 private:
  struct Entailment {
    std::string id;
    std::vector<std::string> entailed;
  };
  struct Counts {
    size_t right = 0;  // times it was the right answer
    size_t given = 0;
  };

  Accuracy all_;
  Accuracy binary_;
  Accuracy open_;
  std::map<std::string, Accuracy> by_structural_;
  std::map<std::string, Accuracy> by_semantic_;
  std::unordered_map<std::string, bool> right_;                  // by question id
  std::vector<Entailment> entailments_;                          // of balanced questions answered right
  std::map<std::string, std::map<std::string, Counts>> groups_;  // by global group and answer
};

// What `run --metrics --json` has under "metrics".
nlohmann::ordered_json MetricsJson(const GqaMetrics& metrics);
// The same for people; empty where nothing was scored.
std::string MetricsTable(const GqaMetrics& metrics);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_GQA_METRICS_H_
