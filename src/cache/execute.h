// Execute: does what a plan says: reads chunks, checks that they are what was asked for, puts them back.
//
// Rows are read straight into the engine's staging buffer, encoder output straight into its tensors. Every byte is
// checked (chunk_store.h), and a chunk's token ids and positions are compared with the prompt's, before the engine's
// state is touched.
#ifndef AFTERIMAGE_CACHE_EXECUTE_H_
#define AFTERIMAGE_CACHE_EXECUTE_H_

#include <string>
#include <vector>

#include "afterimage/clock.h"
#include "afterimage/engine.h"
#include "cache/plan.h"
#include "store/chunk_store.h"

namespace afterimage {

// What putting back took, and what went wrong.
struct Execution {
  struct Load {
    std::string tier;
    uint64_t bytes = 0;
    double ms = 0;
  };
  std::vector<Load> loads;
  double fusion_ms = 0;          // reading and putting back encoder output
  bool other_numerics = false;   // a chunk of other numerics was put back
  std::vector<Digest> unusable;  // after a failure: do not plan with these again

  uint64_t bytes() const;
  double load_ms() const;
};

class Executor {
 public:
  // All must outlive it.
  Executor(Engine& engine, ChunkStore& store, const Clock& clock) : engine_(engine), store_(store), clock_(clock) {}

  // REQUIRES: `state` was found for this prompt, the plan was made from it, and the sequence is the prompt's and empty.
  // After an error the sequence is still empty, and `execution` names the chunks not to try again.
  Status Execute(const Plan& plan, const StoredState& state, Prompt& prompt, Sequence& sequence,
                 Execution& execution) const;

 private:
  Status PutBackPicture(const SegmentState& segment, size_t index, Prompt& prompt, Execution& execution) const;
  Status PutBackRows(size_t n, const StoredState& state, Sequence& sequence, Execution& execution) const;

  Engine& engine_;
  ChunkStore& store_;
  const Clock& clock_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_EXECUTE_H_
