#include "data/labelled_pairs.h"

#include <fmt/core.h>

#include <unordered_map>
#include <utility>

#include "data/gqa_dataset.h"
#include "data/pairs.h"

namespace afterimage {
namespace {

using Questions = std::unordered_map<std::string, Sample>;  // by id

Result<Questions> ReadQuestions(Dataset& dataset) {
  Questions questions;
  for (;;) {
    Result<std::optional<Sample>> sample = dataset.Next();
    if (!sample.ok()) return sample.error();
    if (!sample->has_value()) return questions;
    std::string id = (*sample)->id;
    questions.emplace(std::move(id), std::move(**sample));
  }
}

// The error of a pair that names a question there is not.
Error Unknown(const Pair& pair, const std::string& id) {
  return {Errc::kInvalidArgument, fmt::format("{}: there is no question '{}'", pair.where, id)};
}

}  // namespace

Result<std::vector<LabelledPair>> ReadLabelledPairs(const std::string& data_dir, const std::string& split,
                                                    const std::string& stream,
                                                    const std::vector<std::string>& image_roots) {
  const std::string path = FindGqaPairs(data_dir, split, stream);
  if (path.empty()) {
    return Error{Errc::kNotFound,
                 fmt::format("There is no {}_{}_pairs.jsonl in {} or its folder questions.", split, stream, data_dir)};
  }
  const Result<std::unique_ptr<RecordDataset>> dataset = NewGqaDataset(data_dir, split, stream, image_roots);
  if (!dataset.ok()) return dataset.error();
  const Result<Questions> questions = ReadQuestions(**dataset);
  if (!questions.ok()) return questions.error();
  Result<PairsFile> file = PairsFile::Open(path);
  if (!file.ok()) return file.error();
  std::vector<LabelledPair> pairs;
  for (;;) {
    const Result<std::optional<Pair>> pair = file->Next();
    if (!pair.ok()) return pair.error();
    if (!pair->has_value()) return pairs;
    const auto a = questions->find((*pair)->a);
    if (a == questions->end()) return Unknown(**pair, (*pair)->a);
    const auto b = questions->find((*pair)->b);
    if (b == questions->end()) return Unknown(**pair, (*pair)->b);
    pairs.push_back({a->second, b->second, (*pair)->must_agree});
  }
}

}  // namespace afterimage
