#include "cache/resolve.h"

#include "layers/normalized_text.h"

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

std::vector<Digest> PicturesOf(const Request& request) {
  std::vector<Digest> pictures;
  for (const Message& message : request.messages) {
    for (const Message::Part& part : message.parts) {
      const auto* image = std::get_if<std::shared_ptr<const Image>>(&part);
      if (image != nullptr && *image != nullptr) pictures.push_back((*image)->digest());
    }
  }
  return pictures;
}

CandidateReport Judge(const Candidate& candidate, const Asked& asked, ReuseClass loosest) {
  CandidateReport report;
  report.donor = candidate.record.donor;
  report.score = candidate.score;
  report.reuse_class = candidate.leaf == asked.leaf                                          ? ReuseClass::kExact
                       : NormalizedText(candidate.record.text) == NormalizedText(asked.text) ? ReuseClass::kNormalized
                                                                                             : ReuseClass::kApproximate;
  if (report.reuse_class == ReuseClass::kExact) return report;
  if (candidate.pictures != asked.pictures) {
    report.refused = "image gate: another picture";
  } else if (candidate.record.text == asked.text) {
    // Equal text and pictures, yet another leaf: what stands before the question differs.
    report.refused = "another conversation before the question";
  } else if (report.reuse_class > loosest) {
    report.refused = "class " + std::string(Name(report.reuse_class)) + ", and --reuse allows " +
                     std::string(Name(loosest)) + " at most";
  }
  return report;
}

}  // namespace afterimage
