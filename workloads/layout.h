// Layout: how the ranks of a job are numbered over the dimensions of the parallel layout, and the groups that follow from
// it.
//
// A rank number is a mixed-radix number, fastest digit first, each digit belonging to a dimension. With the order
// "tp-cp-ep-dp-pp" (Megatron-LM's default), TP 2 and DP 4, rank 5 is tp 1, dp 2, pp 0. A dimension may have several digits
// (one per network level); its coordinate is then itself a mixed-radix number, the faster digit counting less. The group of
// a set of dimensions holds the ranks that differ in those coordinates only, in ascending order, which is the order of a
// ring. Everything is O(ranks).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ids.h"
#include "workloads/workload.h"

namespace traingraph::workloads {

/// tp_hidden: the second tensor-parallel dimension of linear_blocks.
enum class Dimension : std::uint8_t { tp, cp, ep, dp, pp, tp_hidden };
inline constexpr std::size_t kDimensions = 6;

/// The ranks of a job partitioned into groups.
struct Grouping {
  std::vector<std::vector<sim::RankId>> groups;  ///< numbered by their first member
  std::vector<std::uint32_t> group_of;           ///< by rank
  std::vector<std::uint32_t> member_of;          ///< by rank: its index in its group
};

class Layout {
 public:
  struct Digit {
    Dimension dimension{};
    std::uint32_t degree = 1;
  };
  /// Digits, fastest first. Throws sim::InputError for a degree of 0 or more than 2^32-1 ranks.
  explicit Layout(const std::vector<Digit>& digits);
  /// Degrees by Dimension (tp_hidden 1) and an order such as "tp-cp-ep-dp-pp". Throws sim::InputError for an order that is
  /// not a permutation of the five names (one of degree 1 may be left out), and as above.
  Layout(const std::array<std::uint32_t, kDimensions>& degrees, std::string_view order);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t degree(Dimension d) const { return degrees_[static_cast<std::size_t>(d)]; }
  [[nodiscard]] std::uint32_t coordinate(sim::RankId rank, Dimension d) const;
  [[nodiscard]] Coordinates coordinates(sim::RankId rank) const;
  /// The rank that differs from `rank` in one coordinate.
  [[nodiscard]] sim::RankId moved(sim::RankId rank, Dimension d, std::uint32_t coordinate) const;
  /// The groups in which only the coordinates of `varying` differ.
  [[nodiscard]] Grouping group(const std::vector<Dimension>& varying) const;

 private:
  struct Place {
    Dimension dimension{};
    std::uint32_t degree = 1;
    std::uint32_t stride = 1;  // of the digit in the rank number
    std::uint32_t weight = 1;  // of the digit in its dimension's coordinate
  };
  /// Rank number with the digits of `d` set to zero.
  [[nodiscard]] std::uint32_t without(std::uint32_t rank, Dimension d) const;

  std::vector<Place> places_;
  std::array<std::uint32_t, kDimensions> degrees_{};
  std::uint32_t ranks_ = 1;
};

}  // namespace traingraph::workloads
