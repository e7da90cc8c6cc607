// Labels: what a data set says about which of its samples may be answered in each other's place.
//
// Two things are labels. A sample's `equivalent` list names the questions with its meaning about its picture; GQA's
// lists are complete and hold the sample itself, so a list of one says that there is no other. A pair (data/pairs.h) of
// `must_agree` true joins two samples, whatever their pictures; one of `must_agree` false says that they are not to be
// confused. Being the same is taken to be an equivalence: what is joined over any number of steps is the same. So are
// samples that ask the same, but for case and white space, about the same picture.
//
// Cost: a few hundred bytes a sample added.
#ifndef AFTERIMAGE_EVAL_LABELS_H_
#define AFTERIMAGE_EVAL_LABELS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "afterimage/cache.h"
#include "data/dataset.h"
#include "data/pairs.h"
#include "eval/disjoint_sets.h"

namespace afterimage {

// What of a request its labels go by.
struct LabelQuery {
  std::string id;
  std::string question;
  std::string image_path;  // empty: it has no picture
};
LabelQuery LabelQueryOf(const Query& query);

class Labels {
 public:
  // What the sample says of itself. Adding it again changes nothing.
  void Add(const Sample& sample);

  // REQUIRES: all samples that the pairs name are added; of others the picture is not known.
  // Errors: the file's; kCorrupt (a pair that must not agree is joined by other labels).
  Status AddPairs(PairsFile& pairs);

  // Some list or pair names it.
  bool Knows(const std::string& id) const { return labelled_.contains(id); }

  // Whether answering `donor` in place of `asked` is right, where the donor's question, its picture or both are put in.
  //
  //   nullopt  no label names the sample asked: nobody said what it may be taken for, and nothing follows
  //   true     the labels join the two
  //   false    anything else. The labels of `asked` say what it may be taken for, and this is not among it: a donor
  //            that must not be confused with it, that no label joins to it, or that this data set does not know
  //
  // With the donor's question, the donor itself is what must be joined to `asked`. With its picture only, it is the
  // sample that asks the same question about that picture. Where nobody asks that, the pictures decide: true if pairs
  // of other questions join them (frames of a clip, a picture and its compressed twin), unless a pair between pictures
  // so joined must not agree: what changed there may be what is asked about.
  //
  // Pictures are told apart by path, as the data set gives it and as the donor was kept with.
  std::optional<bool> Same(const LabelQuery& asked, const Donor& donor, bool question_substituted,
                           bool picture_substituted) const;

 private:
  void JoinPictures(const std::vector<Pair>& agree, const std::vector<Pair>& differ);
  std::optional<std::pair<std::string, std::string>> PicturesOf(const Pair& pair) const;

  DisjointSets samples_;  // by id
  std::unordered_set<std::string> labelled_;
  // The first sample that asks it, by the question, normalised, and the path of the picture.
  std::map<std::pair<std::string, std::string>, std::string> asked_by_;
  std::unordered_map<std::string, std::string> picture_;  // of a sample, where it has one
  DisjointSets pictures_;
  std::set<size_t> torn_;  // sets of pictures within which a pair must not agree
};

// The labels of a whole data set with pairs. Samples that cannot be used are passed over.
// Errors: those that end the data set, and AddPairs's.
Result<Labels> ReadLabels(Dataset& dataset, PairsFile& pairs);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_LABELS_H_
