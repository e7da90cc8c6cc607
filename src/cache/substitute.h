// Requests with parts of others: what layers are asked, and what is answered in place of the request asked.
#ifndef AFTERIMAGE_CACHE_SUBSTITUTE_H_
#define AFTERIMAGE_CACHE_SUBSTITUTE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/report.h"
#include "afterimage/request.h"
#include "layers/layer.h"

namespace afterimage {

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

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_SUBSTITUTE_H_
