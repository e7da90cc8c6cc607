#include "eval/disjoint_sets.h"

#include <utility>

namespace afterimage {

void DisjointSets::Join(const std::string& a, const std::string& b) {
  size_t larger = Root(Add(a));
  size_t smaller = Root(Add(b));
  if (larger == smaller) return;
  if (sizes_[larger] < sizes_[smaller]) std::swap(larger, smaller);
  parents_[smaller] = larger;
  sizes_[larger] += sizes_[smaller];
}

bool DisjointSets::Together(const std::string& a, const std::string& b) const {
  if (a == b) return true;
  const std::optional<size_t> set = SetOf(a);
  return set.has_value() && set == SetOf(b);
}

std::optional<size_t> DisjointSets::SetOf(const std::string& name) const {
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) return std::nullopt;
  return Root(node->second);
}

size_t DisjointSets::Add(const std::string& name) {
  const auto [node, is_new] = nodes_.try_emplace(name, parents_.size());
  if (is_new) {
    parents_.push_back(node->second);
    sizes_.push_back(1);
  }
  return node->second;
}

size_t DisjointSets::Root(size_t node) const {
  while (parents_[node] != node) node = parents_[node];
  return node;
}

}  // namespace afterimage
