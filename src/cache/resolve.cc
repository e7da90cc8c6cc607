#include "cache/resolve.h"

#include <fmt/format.h>

#include "core/normalized_text.h"

namespace afterimage {
namespace {

// Null if there is none.
std::string* FindQuestion(Request& request) {
  for (size_t i = request.messages.size(); i-- > 0;) {
    Message& message = request.messages[i];
    if (message.role != "user") continue;
    for (size_t part = message.parts.size(); part-- > 0;) {
      if (auto* text = std::get_if<std::string>(&message.parts[part]); text != nullptr) return text;
    }
    return nullptr;
  }
  return nullptr;
}

}  // namespace

std::string QuestionOf(const Request& request) {
  const std::string* question = FindQuestion(const_cast<Request&>(request));
  return question == nullptr ? "" : *question;
}

Request WithQuestion(const Request& request, const std::string& question) {
  Request changed = request;
  *FindQuestion(changed) = question;
  return changed;
}

std::vector<std::shared_ptr<const Image>> ImagesOf(const Request& request) {
  std::vector<std::shared_ptr<const Image>> images;
  for (const Message& message : request.messages) {
    for (const Message::Part& part : message.parts) {
      const auto* image = std::get_if<std::shared_ptr<const Image>>(&part);
      if (image != nullptr && *image != nullptr) images.push_back(*image);
    }
  }
  return images;
}

std::vector<Digest> PicturesOf(const Request& request) {
  std::vector<Digest> pictures;
  for (const std::shared_ptr<const Image>& image : ImagesOf(request)) pictures.push_back(image->digest());
  return pictures;
}

Request WithPictures(const Request& request, const std::vector<Digest>& pictures,
                     const std::vector<PictureSize>& sizes) {
  Request changed = request;
  size_t i = 0;
  for (Message& message : changed.messages) {
    for (Message::Part& part : message.parts) {
      auto* image = std::get_if<std::shared_ptr<const Image>>(&part);
      if (image == nullptr || *image == nullptr) continue;
      if ((*image)->digest() != pictures[i]) {
        *image = Image::WithoutPixels(sizes[i].width, sizes[i].height, pictures[i]);
      }
      ++i;
    }
  }
  return changed;
}

LayerQuery MakeLayerQuery(const DonorRecord& record, const std::vector<std::shared_ptr<const Image>>& images,
                          const std::vector<Digest>& pictures, const std::string& metadata, VectorMemo& memo) {
  LayerQuery query;
  query.input.id = record.donor.id;
  query.input.question = record.donor.question;
  query.input.chunk_text = record.chunk_text;
  query.input.images = images;
  query.input.image_paths = record.donor.image_paths;
  query.input.metadata = metadata;
  query.pictures = pictures;
  query.memo = &memo;
  return query;
}

namespace {

std::string RefusedFor(const Candidate& candidate, const Asked& asked, const Layer& layer, ReuseClass reuse_class,
                       ReuseClass loosest) {
  if (candidate.score < layer.threshold()) {
    return fmt::format("threshold: {:.3f} is under {:.3f}", candidate.score, layer.threshold());
  }
  const bool same_pictures = candidate.pictures == asked.pictures;
  switch (layer.modality()) {
    case Modality::kText:
      if (!same_pictures) return "image gate: another picture";
      // Equal text and pictures, yet another leaf: what stands before the question differs.
      if (candidate.record.text == asked.text) return "another conversation before the question";
      break;
    case Modality::kImage:
      if (same_pictures) return "the same picture: nothing to substitute";
      [[fallthrough]];
    case Modality::kJoint:
      if (candidate.pictures.size() != asked.pictures.size() ||
          candidate.record.sizes.size() != asked.pictures.size()) {
        return "image gate: another number of pictures";
      }
      break;
  }
  if (reuse_class > loosest) {
    return fmt::format("class {}, and --reuse allows {} at most", Name(reuse_class), Name(loosest));
  }
  return "";
}

}  // namespace

CandidateReport Judge(const Candidate& candidate, const Asked& asked, const Layer& layer, ReuseClass loosest) {
  CandidateReport report;
  report.donor = candidate.record.donor;
  report.score = candidate.score;
  if (layer.modality() != Modality::kImage) {
    const bool same_question = NormalizedText(candidate.record.text) == NormalizedText(asked.text);
    report.reuse_class = candidate.leaf == asked.leaf                            ? ReuseClass::kExact
                         : same_question && candidate.pictures == asked.pictures ? ReuseClass::kNormalized
                                                                                 : ReuseClass::kApproximate;
  }
  if (report.reuse_class != ReuseClass::kExact) {
    report.refused = RefusedFor(candidate, asked, layer, report.reuse_class, loosest);
  }
  return report;
}

}  // namespace afterimage
