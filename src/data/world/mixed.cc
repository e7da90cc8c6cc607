// The stream that holds some of each of the others.
#include <set>
#include <utility>
#include <vector>

#include "data/world/split_builder.h"

namespace afterimage::world {

// One part of each stream's requests in `divisor`, from its beginning, so that what belongs together stays together;
// whole where there are few. Streams are interleaved, each evenly over the whole, in its own order.
void SplitBuilder::MakeMixed() {
  struct Part {
    const Stream* stream;
    size_t size;
    size_t taken = 0;
  };
  std::vector<Part> parts;
  for (const auto& [name, divisor] : std::vector<std::pair<std::string, size_t>>{
           {"paraphrases", 6}, {"flips", 4}, {"clips", 4}, {"twins", 1}, {"lookalikes", 1}, {"traffic", 4}}) {
    const Stream& stream = split_.streams[name];
    parts.push_back({&stream, stream.entries.size() / divisor});
  }
  Stream mixed;
  std::set<std::string> ids;
  for (;;) {
    Part* next = nullptr;
    const auto is_behind = [](const Part& a, const Part& b) { return a.taken * b.size < b.taken * a.size; };
    for (Part& part : parts) {
      if (part.taken < part.size && (next == nullptr || is_behind(part, *next))) next = &part;
    }
    if (next == nullptr) break;
    mixed.entries.push_back(next->stream->entries[next->taken++]);
    ids.insert(mixed.entries.back().id);
  }
  for (const Part& part : parts) {
    for (const Pair& pair : part.stream->pairs) {
      if (ids.contains(pair.a) && ids.contains(pair.b)) mixed.pairs.push_back(pair);
    }
  }
  split_.streams["mixed"] = std::move(mixed);
}

}  // namespace afterimage::world
