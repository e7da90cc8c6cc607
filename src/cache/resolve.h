// Resolve: which requests may be answered in place of the one asked, and why others may not.
//
// A layer's candidate licenses what it matched: a text match puts the donor's question in, for this picture. The
// picture is part of the key: a donor with other pictures is refused.
#ifndef AFTERIMAGE_CACHE_RESOLVE_H_
#define AFTERIMAGE_CACHE_RESOLVE_H_

#include <optional>
#include <string>
#include <vector>

#include "afterimage/report.h"
#include "afterimage/request.h"
#include "layers/layer.h"

namespace afterimage {

// What of the request asked decides about a candidate.
struct Asked {
  std::string text;  // its question, as the model gets it
  std::vector<Digest> pictures;
  Digest leaf;  // the chunk of its last segment
};

// The question: the last piece of text in the last user message; empty if there is none.
std::string QuestionOf(const Request& request);
// The request with another question. REQUIRES: it has one.
Request WithQuestion(const Request& request, const std::string& question);
// The digests of its pictures, in order.
std::vector<Digest> PicturesOf(const Request& request);

// Judges a candidate of a text layer: the class it would serve, and the gate that refuses it, if one does.
CandidateReport Judge(const Candidate& candidate, const Asked& asked, ReuseClass loosest);

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_RESOLVE_H_
