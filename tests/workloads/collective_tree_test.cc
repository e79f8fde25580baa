// The double binary tree: its shape, and its time against an independent max-plus program over the same pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "tests/workloads/collective_fabric.h"
#include "tests/workloads/double_tree.h"

namespace traingraph::workloads {
namespace {

using namespace sim::literals;

const sim::Bandwidth kPort = sim::Bandwidth::gbit_per_s(200);
const sim::Duration kLink = 900_ns;
const sim::Duration kOverhead = 400_ns;
const double kS = 1e7;

std::shared_ptr<const sim::TransferSource> tree(std::uint32_t n, std::uint32_t pieces, bool stop_and_wait = false) {
  CollectiveOptions options;
  options.pieces = pieces;
  options.stop_and_wait = stop_and_wait;
  return make_source(CollectiveKind::all_reduce, Algorithm::tree, n, sim::Bytes{kS}, options);
}

TEST(DoubleTreeShape, TheEdgesAreThoseOfTheRecursiveConstruction) {
  for (std::uint32_t n = 2; n <= 70; ++n) {
    const DoubleTree trees{n};
    std::multimap<std::uint32_t, std::uint32_t> expected;
    for (const auto& parents : trees.parent) {
      for (std::uint32_t m = 0; m < n; ++m) {
        if (parents[m] == DoubleTree::kRoot) continue;
        expected.emplace(m, parents[m]);
        expected.emplace(parents[m], m);
      }
    }
    std::multimap<std::uint32_t, std::uint32_t> found;
    const auto source = tree(n, 1);
    for (std::uint32_t m = 0; m < n; ++m) {
      for (std::uint32_t l = source->first_lane(m); l < source->first_lane(m + 1); ++l) {
        found.emplace(m, source->send(l, 0).destination);
      }
    }
    const auto sorted = [](const std::multimap<std::uint32_t, std::uint32_t>& edges) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> list(edges.begin(), edges.end());
      std::sort(list.begin(), list.end());
      return list;
    };
    EXPECT_EQ(sorted(found), sorted(expected)) << n << " members";
  }
}

TEST(DoubleTreeShape, IsFlatAndAnInnerNodeOfOneTreeIsALeafOfTheOther) {
  for (std::uint32_t n = 2; n <= 1030; n = n < 70 ? n + 1 : 2 * n) {
    const DoubleTree trees{n};
    for (std::uint32_t t = 0; t < 2; ++t) {
      std::uint32_t deepest = 0;
      std::uint32_t roots = 0;
      for (std::uint32_t m = 0; m < n; ++m) {
        std::uint32_t depth = 0;
        for (std::uint32_t at = m; trees.parent[t][at] != DoubleTree::kRoot; at = trees.parent[t][at]) {
          ++depth;
          ASSERT_LT(depth, n) << "a cycle";
        }
        roots += trees.parent[t][m] == DoubleTree::kRoot ? 1 : 0;
        deepest = std::max(deepest, depth);
      }
      EXPECT_EQ(roots, 1U);
      EXPECT_LE(deepest, static_cast<std::uint32_t>(std::bit_width(n - 1)));
    }
    if (n % 2 != 0 || n > 70) continue;
    for (std::uint32_t m = 0; m < n; ++m) {
      EXPECT_TRUE(trees.children(0, m).empty() || trees.children(1, m).empty()) << "member " << m << " of " << n;
    }
  }
}

/// Every edge to itself: when the last piece has arrived, in picoseconds. Times of one piece: up from the leaves, down from
/// the root; an edge carries its pieces in order.
double max_plus(std::uint32_t n, std::uint32_t pieces, bool stop_and_wait, double latency_ps) {
  const DoubleTree trees{n};
  const double drain = std::ceil(kS / (2.0 * pieces) / kPort.bytes_per_s() * 1e12 - 1e-3);
  const double send = static_cast<double>(kOverhead.count_ps()) + drain;
  double end = 0;
  for (std::uint32_t t = 0; t < 2; ++t) {
    std::vector<std::uint32_t> top_down;  // parents before children
    for (std::uint32_t m = 0; m < n; ++m) {
      if (trees.parent[t][m] == DoubleTree::kRoot) top_down.push_back(m);
    }
    for (std::size_t i = 0; i < top_down.size(); ++i) {
      for (const std::uint32_t child : trees.children(t, top_down[i])) top_down.push_back(child);
    }
    std::vector<double> up_free(n, 0), down_free(n, 0);  // of the edge above each member, in either direction
    for (std::uint32_t p = 0; p < pieces; ++p) {
      std::vector<double> summed(n, 0), finished(n, 0);  // when a member has its subtree's sum, the whole sum
      for (auto m = top_down.rbegin(); m != top_down.rend(); ++m) {
        const std::uint32_t parent = trees.parent[t][*m];
        if (parent == DoubleTree::kRoot) continue;
        const double left = std::max(up_free[*m], summed[*m]) + send;
        up_free[*m] = left + (stop_and_wait ? latency_ps : 0);
        summed[parent] = std::max(summed[parent], left + latency_ps);
      }
      for (const std::uint32_t m : top_down) {
        const std::uint32_t parent = trees.parent[t][m];
        if (parent == DoubleTree::kRoot) {
          finished[m] = summed[m];
          continue;
        }
        const double left = std::max(down_free[m], finished[parent]) + send;
        down_free[m] = left + (stop_and_wait ? latency_ps : 0);
        finished[m] = left + latency_ps;
        end = std::max(end, finished[m]);
      }
    }
  }
  return end;
}

// `ideal` gives every transfer its links to itself, as the max-plus program does: equal to the picosecond.
TEST(DoubleTreeTime, IsTheLongestPathOfTheMaxPlusProgramWhenEveryEdgeHasItsOwnLink) {
  sim::RunOptions options;
  options.network = sim::NetworkModel::ideal;
  options.collectives = sim::CollectiveMode::step;
  for (const std::uint32_t n : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 13U, 16U, 31U, 32U, 48U}) {
    for (const std::uint32_t pieces : {1U, 2U, 7U, 20U}) {
      for (const bool stop_and_wait : {false, true}) {
        const SwitchFabric fabric{n, kPort, kLink, kOverhead};
        const GroupRun run = run_groups(fabric.links, fabric, n, {everyone(tree(n, pieces, stop_and_wait))}, options);
        EXPECT_EQ(static_cast<double>(run.record.step_time().count_ps()),
                  max_plus(n, pieces, stop_and_wait, 2.0 * static_cast<double>(kLink.count_ps())))
            << n << " members, " << pieces << " pieces";
      }
    }
  }
}

// With one port for all edges: at least 2 floor(log2 N) L, and the busiest port's bytes over B, which are 2S where a port
// carries both trees (an inner node of one with two children, a leaf of the other).
TEST(DoubleTreeTime, IsBoundedByItsDepthAndItsBusiestPort) {
  sim::RunOptions options;
  options.collectives = sim::CollectiveMode::step;
  int both = 0;
  for (const std::uint32_t n : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 13U, 16U, 31U, 32U}) {
    for (const std::uint32_t pieces : {1U, 8U, 40U}) {
      const auto source = tree(n, pieces);
      double busiest = 0;
      for (std::uint32_t m = 0; m < n; ++m) {
        busiest = std::max(busiest, (source->first_lane(m + 1) - source->first_lane(m)) * kS / 2);
      }
      if (n % 2 == 0 && n >= 4) {
        EXPECT_DOUBLE_EQ(busiest, 2 * kS);
        ++both;
      }
      const SwitchFabric fabric{n, kPort, kLink, kOverhead};
      const double time = run_groups(fabric.links, fabric, n, {everyone(source)}, options).record.step_time().in_seconds();
      EXPECT_GE(time, busiest / kPort.bytes_per_s());
      EXPECT_GE(time, 2 * (std::bit_width(n) - 1) * (kOverhead + 2 * kLink).in_seconds());
      EXPECT_GE(time * 1e12, max_plus(n, pieces, false, 2.0 * static_cast<double>(kLink.count_ps())) - 1);
    }
  }
  EXPECT_GT(both, 10);
}

// Pieces hide the depth: the time of a long buffer in many pieces tends to the busiest port's.
TEST(DoubleTreeTime, TendsToTheBusiestPortWithManyPieces) {
  sim::RunOptions options;
  options.collectives = sim::CollectiveMode::step;
  const SwitchFabric fabric{8, kPort, 0_ps, 0_ps};
  double previous = 1;
  for (const std::uint32_t pieces : {1U, 4U, 16U, 64U}) {
    const double time =
        run_groups(fabric.links, fabric, 8, {everyone(tree(8, pieces))}, options).record.step_time().in_seconds();
    EXPECT_LT(time, previous);
    previous = time;
  }
  EXPECT_LT(previous, 1.25 * 2 * kS / kPort.bytes_per_s());
}

}  // namespace
}  // namespace traingraph::workloads
