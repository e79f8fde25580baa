// The two binary trees of the double binary tree, built by recursion on ranges, independently of the library's bit
// arithmetic: the members 1..n-1 form an in-order binary tree whose root is the largest power of two below n, and so on in
// either part; member 0 stands above it. The second tree is the mirror image when n is even, and shifted by one when n is
// odd.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace traingraph::workloads {

struct DoubleTree {
  static constexpr std::uint32_t kRoot = 0xffffffff;

  explicit DoubleTree(std::uint32_t n) {
    std::vector<std::uint32_t> first(n, kRoot);
    attach(first, 0, 1, n);
    parent[0] = first;
    parent[1].assign(n, kRoot);
    const auto image = [n](std::uint32_t m) { return n % 2 == 0 ? n - 1 - m : (m + 1) % n; };
    for (std::uint32_t m = 0; m < n; ++m) {
      if (first[m] != kRoot) parent[1][image(m)] = image(first[m]);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t tree, std::uint32_t member) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t m = 0; m < parent[tree].size(); ++m) {
      if (parent[tree][m] == member) found.push_back(m);
    }
    return found;
  }

  /// A member's lanes come tree by tree: one to its parent, one to each child.
  [[nodiscard]] std::uint32_t tree_of_lane(std::uint32_t member, std::uint32_t lane_of_member) const {
    const std::size_t lanes = (parent[0][member] != kRoot ? 1U : 0U) + children(0, member).size();
    return lane_of_member < lanes ? 0 : 1;
  }

  std::array<std::vector<std::uint32_t>, 2> parent;

 private:
  /// Hangs the members begin..end-1 below `above`: their top is the one divisible by the highest power of two.
  static void attach(std::vector<std::uint32_t>& parents, std::uint32_t above, std::uint32_t begin, std::uint32_t end) {
    if (begin >= end) return;
    std::uint32_t top = begin;
    for (std::uint32_t m = begin; m < end; ++m) {
      if ((m & (~m + 1)) > (top & (~top + 1))) top = m;
    }
    parents[top] = above;
    attach(parents, top, begin, top);
    attach(parents, top, top + 1, end);
  }
};

}  // namespace traingraph::workloads
