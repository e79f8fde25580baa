// Causes: who released whom, kept just as far back as a critical path may still need it.
//
// Every finished operation (or run of compute operations) is a node that points to the node whose end let it start. Nodes
// are reference-counted: a history that no living stream descends from is freed, so memory follows the number of distinct
// chains that may still become critical, not the number of operations. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"

namespace traingraph::sim {

class Causes {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNone = 0xffffffff;

  struct Entry {
    Node parent = kNone;
    std::uint32_t references = 0;
    std::uint32_t stream = 0;  ///< rank stream that did it
    std::uint32_t step = 0;
    std::uint32_t first_position = 0;
    std::uint32_t last_position = 0;  ///< inclusive
    Time start;                       ///< of the part that matters: not before the parent's end
    Time end;
    Duration slack;  ///< how much later the parent ended than anything else this one waited for (at least)
  };

  /// A new node with one reference, held by the caller; takes a reference on its parent.
  [[nodiscard]] Node add(Entry entry) {
    hold(entry.parent);
    entry.references = 1;
    if (free_.empty()) {
      nodes_.push_back(entry);
      return static_cast<Node>(nodes_.size() - 1);
    }
    const Node node = free_.back();
    free_.pop_back();
    nodes_[node] = entry;
    return node;
  }
  void hold(Node node) {
    if (node != kNone) ++nodes_[node].references;
  }
  void drop(Node node) {
    while (node != kNone && --nodes_[node].references == 0) {
      const Node parent = nodes_[node].parent;
      free_.push_back(node);
      node = parent;
    }
  }
  [[nodiscard]] const Entry& operator[](Node node) const { return nodes_[node]; }

 private:
  std::vector<Entry> nodes_;
  std::vector<Node> free_;
};

}  // namespace traingraph::sim
