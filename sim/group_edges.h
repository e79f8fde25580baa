// GroupEdges: which other links the flows of one group cross, and with what weight together. A change of the group's level
// changes the load of each by level difference x weight: one addition per link, however many flows.
//
// Kept up to date as flows come and go: O(1) expected for each link of a flow. An edge whose weight has fallen to zero stays
// until a quarter of all are such. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace traingraph::sim {

class GroupEdges {
 public:
  struct Edge {
    std::uint32_t link = 0;
    std::uint32_t denominator = 0;  ///< the place of k among the solver's denominators
    std::uint64_t weight = 0;       ///< sum of w n; 0: nobody crosses the link any more
  };

  [[nodiscard]] std::span<const Edge> all() const { return edges_; }

  void add(std::uint32_t link, std::uint32_t denominator, std::uint64_t weight) {
    const std::size_t before = edges_.size();
    Edge& edge = find(link, denominator);
    if (edge.weight == 0 && edges_.size() == before) --unused_;
    edge.weight += weight;
  }
  /// REQUIRES: the weight was added before.
  void subtract(std::uint32_t link, std::uint32_t denominator, std::uint64_t weight) {
    Edge& edge = find(link, denominator);
    edge.weight -= weight;
    if (edge.weight == 0 && ++unused_ * 4 > edges_.size() && edges_.size() > kFew) compact();
  }
  void clear() {
    edges_.clear();
    if (!table_.empty()) std::fill(table_.begin(), table_.end(), kEmpty);
    unused_ = 0;
  }

 private:
  static constexpr std::size_t kFew = 8;  // so many are searched one after the other
  static constexpr std::uint32_t kEmpty = 0xffffffff;

  [[nodiscard]] static std::size_t hash(std::uint32_t link, std::uint32_t denominator) {
    return static_cast<std::size_t>((link * 0x9e3779b97f4a7c15ULL + denominator * 0xbf58476d1ce4e5b9ULL) >> 32);
  }
  /// The edge's place in the table, or where it would be.
  [[nodiscard]] std::size_t probe(std::uint32_t link, std::uint32_t denominator) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash(link, denominator) & mask;
    while (table_[at] != kEmpty && !(edges_[table_[at]].link == link && edges_[table_[at]].denominator == denominator))
      at = (at + 1) & mask;
    return at;
  }
  void index_all() {
    std::size_t size = 32;
    while (size < edges_.size() * 4) size *= 2;
    table_.assign(size, kEmpty);
    for (std::uint32_t e = 0; e < edges_.size(); ++e) table_[probe(edges_[e].link, edges_[e].denominator)] = e;
  }
  Edge& find(std::uint32_t link, std::uint32_t denominator) {
    if (edges_.size() <= kFew) {
      for (Edge& e : edges_)
        if (e.link == link && e.denominator == denominator) return e;
      if (edges_.size() < kFew) return append(link, denominator);
      index_all();
    }
    if (edges_.size() * 2 > table_.size()) index_all();
    std::uint32_t& at = table_[probe(link, denominator)];
    if (at != kEmpty) return edges_[at];
    at = static_cast<std::uint32_t>(edges_.size());
    return append(link, denominator);
  }
  Edge& append(std::uint32_t link, std::uint32_t denominator) {
    edges_.push_back({link, denominator, 0});
    return edges_.back();
  }
  void compact() {
    std::erase_if(edges_, [](const Edge& e) { return e.weight == 0; });
    unused_ = 0;
    if (edges_.size() > kFew) index_all();
  }

  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_;  // open addressing; used while there are more than kFew edges
  std::size_t unused_ = 0;
};

}  // namespace traingraph::sim
