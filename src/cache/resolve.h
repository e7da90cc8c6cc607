// Resolve: which requests may be answered in place of the one asked, and why others may not.
//
// A layer's candidate licenses what it matched: a text match puts the donor's question in, for this picture; an image
// match puts the donor's picture in, for this question; a joint match both. The picture is part of the key: a donor of
// a text match with other pictures is refused, unless those pictures were matched too.
#ifndef AFTERIMAGE_CACHE_RESOLVE_H_
#define AFTERIMAGE_CACHE_RESOLVE_H_

#include <memory>
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

// Its pictures, in order, and their digests.
std::vector<std::shared_ptr<const Image>> ImagesOf(const Request& request);
std::vector<Digest> PicturesOf(const Request& request);
// The request with the pictures of a donor, of which only digests and sizes are known. REQUIRES: as many as it has.
Request WithPictures(const Request& request, const std::vector<Digest>& pictures,
                     const std::vector<PictureSize>& sizes);

// What the layers are asked about a request. It refers to what it is made of.
LayerQuery MakeLayerQuery(const DonorRecord& record, const std::vector<std::shared_ptr<const Image>>& images,
                          const std::vector<Digest>& pictures, const std::string& metadata, VectorMemo& memo);

// Judges a layer's candidate: the class it would serve, and the gate that refuses it, if one does.
CandidateReport Judge(const Candidate& candidate, const Asked& asked, const Layer& layer, ReuseClass loosest);

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_RESOLVE_H_
