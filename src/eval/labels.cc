#include "eval/labels.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/normalized_text.h"

namespace afterimage {

LabelQuery LabelQueryOf(const Query& query) {
  return {query.id, query.question, query.image_paths.empty() ? "" : query.image_paths.front()};
}

void Labels::Add(const Sample& sample) {
  if (!sample.equivalent.empty()) labelled_.insert(sample.id);
  for (const std::string& other : sample.equivalent) {
    labelled_.insert(other);
    samples_.Join(sample.id, other);
  }
  // Two pictures that could not be found are not the same picture.
  if (sample.has_image() && sample.image_path.empty()) return;
  if (sample.has_image()) picture_.try_emplace(sample.id, sample.image_path);
  const auto [first, is_new] = asked_by_.try_emplace({NormalizedText(sample.question), sample.image_path}, sample.id);
  if (!is_new) samples_.Join(first->second, sample.id);
}

Status Labels::AddPairs(PairsFile& pairs) {
  std::vector<Pair> agree;
  std::vector<Pair> differ;
  for (;;) {
    Result<std::optional<Pair>> next = pairs.Next();
    if (!next.ok()) return next.error();
    if (!next->has_value()) break;
    const Pair& pair = **next;
    labelled_.insert({pair.a, pair.b});
    if (pair.must_agree) samples_.Join(pair.a, pair.b);
    (pair.must_agree ? agree : differ).push_back(std::move(**next));
  }
  for (const Pair& pair : differ) {
    if (!samples_.Together(pair.a, pair.b)) continue;
    return Error{Errc::kCorrupt, fmt::format("{}: '{}' and '{}' must not agree, yet other labels say that they are the "
                                             "same.",
                                             pair.where, pair.a, pair.b)};
  }
  JoinPictures(agree, differ);
  return {};
}

void Labels::JoinPictures(const std::vector<Pair>& agree, const std::vector<Pair>& differ) {
  std::set<std::pair<std::string, std::string>> apart;
  for (const Pair& pair : differ) {
    if (const auto pictures = PicturesOf(pair)) apart.insert(*pictures);
  }
  for (const Pair& pair : agree) {
    const auto pictures = PicturesOf(pair);
    if (pictures.has_value() && !apart.contains(*pictures)) pictures_.Join(pictures->first, pictures->second);
  }
  for (const auto& [one, other] : apart) {
    if (pictures_.Together(one, other)) torn_.insert(*pictures_.SetOf(one));
  }
}

// Two different ones, in an order that does not depend on the pair's; nullopt: it is not about two pictures.
std::optional<std::pair<std::string, std::string>> Labels::PicturesOf(const Pair& pair) const {
  const auto a = picture_.find(pair.a);
  const auto b = picture_.find(pair.b);
  if (a == picture_.end() || b == picture_.end() || a->second == b->second) return std::nullopt;
  return std::minmax(a->second, b->second);
}

std::optional<bool> Labels::Same(const LabelQuery& asked, const Donor& donor, bool question_substituted,
                                 bool picture_substituted) const {
  if (!Knows(asked.id)) return std::nullopt;
  if (question_substituted) return samples_.Together(asked.id, donor.id);
  if (!picture_substituted) return true;
  if (donor.image_paths.size() != 1) return false;  // a sample has one
  const std::string& picture = donor.image_paths.front();
  const auto other = asked_by_.find({NormalizedText(asked.question), picture});
  if (other != asked_by_.end()) return samples_.Together(asked.id, other->second);
  const std::optional<size_t> joined = pictures_.SetOf(picture);
  return joined.has_value() && joined == pictures_.SetOf(asked.image_path) && !torn_.contains(*joined);
}

Result<Labels> ReadLabels(Dataset& dataset, PairsFile& pairs) {
  Labels labels;
  for (;;) {
    const Result<std::optional<Sample>> next = dataset.Next();
    if (!next.ok() && next.error().code != Errc::kInvalidArgument) return next.error();
    if (!next.ok()) continue;
    if (!next->has_value()) break;
    labels.Add(**next);
  }
  if (Status status = labels.AddPairs(pairs); !status.ok()) return status.error();
  return labels;
}

}  // namespace afterimage
