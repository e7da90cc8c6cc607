// DisjointSets: names, some of which are known to be the same thing.
//
// Nothing is ever taken apart. A question costs the logarithm of the number of names: sets are joined smaller to larger
// and, since asking changes nothing, never flattened.
#ifndef AFTERIMAGE_EVAL_DISJOINT_SETS_H_
#define AFTERIMAGE_EVAL_DISJOINT_SETS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace afterimage {

class DisjointSets {
 public:
  // The sets of both become one. Names not seen before are added.
  void Join(const std::string& a, const std::string& b);

  // A name not seen before is with itself only.
  bool Together(const std::string& a, const std::string& b) const;

  // A number that all of the set have in common, until the next Join; nullopt for a name not seen before.
  std::optional<size_t> SetOf(const std::string& name) const;

 private:
  size_t Add(const std::string& name);
  size_t Root(size_t node) const;

  std::unordered_map<std::string, size_t> nodes_;
  std::vector<size_t> parents_;  // a root is its own
  std::vector<size_t> sizes_;    // of roots
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_DISJOINT_SETS_H_
