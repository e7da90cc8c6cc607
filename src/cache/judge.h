// Judge: whether a donor that a layer found may be taken for the request asked, and what of it.
//
// Every candidate passes the same gates, in this order, until one refuses it: threshold, image gate, text guard, the
// loosest class allowed. What each saw is written down. The rules are options of the cache (cache.h).
#ifndef AFTERIMAGE_CACHE_JUDGE_H_
#define AFTERIMAGE_CACHE_JUDGE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/cache.h"
#include "gates/text_guard.h"
#include "layers/layer.h"

namespace afterimage {

// What of the request asked decides about a candidate.
struct Asked {
  const Query* query = nullptr;  // for the oracle
  std::string text;              // its question, as the model gets it
  std::string question;          // as people know it
  std::vector<Digest> pictures;
  Digest leaf;  // the chunk of its last segment
};

// What a match puts in the place of what was asked.
struct License {
  bool question = false;
  bool picture = false;
};

// The largest difference of one place between a picture asked about and another; nullopt: not known.
using CompareLocally = std::function<std::optional<double>(size_t picture, const Digest& other)>;

class Judge {
 public:
  // `guard` may be null. All must outlive the judge.
  Judge(const CacheOptions& options, const TextGuard* guard, CompareLocally compare)
      : options_(options), guard_(guard), compare_(std::move(compare)) {}

  License LicenseOf(const Candidate& candidate, const Asked& asked, const Layer& layer) const;
  CandidateReport Report(const Candidate& candidate, const Asked& asked, const Layer& layer) const;

 private:
  std::string RefuseThreshold(const Candidate& candidate, const Layer& layer, CandidateReport& report) const;
  std::string RefusePictures(const Candidate& candidate, const Asked& asked, const Layer& layer, License license,
                             CandidateReport& report) const;
  std::string RefuseQuestion(const Candidate& candidate, const Asked& asked, CandidateReport& report) const;
  std::string Refuse(const Candidate& candidate, const Asked& asked, const Layer& layer, CandidateReport& report) const;

  const CacheOptions& options_;
  const TextGuard* const guard_;
  const CompareLocally compare_;
};

// "", "question", "picture", "question and picture".
std::string Name(License license);

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_JUDGE_H_
