// World: a data set with known truth, written as files.
//
//   DIR/images/<id>.png or .jpg
//   DIR/questions/<split>_<stream>_questions.json   GQA's format: an object, question id -> question
//   DIR/questions/<split>_<stream>_pairs.jsonl      {a, b, kind, must_agree}; only streams that have pairs
//   DIR/sceneGraphs/<split>_sceneGraphs.json        GQA's format
//   DIR/records/<split>.jsonl                       {id, edit, scene}: what each picture was drawn from
//
// Splits are train, val and testdev; the streams are described in split.h. No scene is in two splits. The same seed
// writes the same bytes.
#ifndef AFTERIMAGE_DATA_WORLD_WORLD_H_
#define AFTERIMAGE_DATA_WORLD_WORLD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage::world {

struct WorldOptions {
  uint64_t seed = 7;
  int scenes = 64;                                                // of `balanced`, in each split
  std::vector<std::string> splits = {"train", "val", "testdev"};  // any of these
};

struct WorldSummary {
  size_t pictures = 0;
  size_t questions = 0;
  size_t pairs = 0;
  uint64_t bytes = 0;
};

// Writes the files; those of the same names are replaced. `progress` is told how many of how many pictures are done.
// Errors: kInvalidArgument (no scenes, or no such split), kIo, kInternal.
Result<WorldSummary> WriteWorld(const WorldOptions& options, const std::string& folder,
                                const std::function<void(size_t, size_t)>& progress = {});

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_WORLD_H_
