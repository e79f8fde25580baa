#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "workload_cases.h"
#include "workloads/layout.h"
#include "workloads/placement.h"

namespace traingraph::workloads {
namespace {

using sim::EndpointId;
using sim::RankId;
using test::error_of;

Layout layout_of(std::uint32_t tp, std::uint32_t dp, std::uint32_t pp, const char* order) {
  return Layout{{tp, 1, 1, dp, pp, 1}, order};
}

// tp fastest, then dp, then pp: rank 5 of TP 2, DP 4, PP 3 is (1, 2, 0), rank 8 begins stage 1.
TEST(Layout, DefaultOrderCountsTensorThenDataThenPipeline) {
  const Layout l = layout_of(2, 4, 3, "tp-cp-ep-dp-pp");
  EXPECT_EQ(l.ranks(), 24U);
  const Coordinates five = l.coordinates(RankId{5});
  EXPECT_EQ(five.tp, 1U);
  EXPECT_EQ(five.dp, 2U);
  EXPECT_EQ(five.pp, 0U);
  EXPECT_EQ(l.coordinates(RankId{8}).pp, 1U);
}

// tp, then pp, then dp: the stages of a replica are neighbours.
TEST(Layout, AnyOrderCanBeStated) {
  const Layout l = layout_of(2, 4, 3, "tp-pp-dp");
  EXPECT_EQ(l.coordinates(RankId{2}).pp, 1U);
  EXPECT_EQ(l.coordinates(RankId{6}).dp, 1U);
}

TEST(Layout, GroupsHoldTheRanksThatDifferInOneCoordinate) {
  const Layout l = layout_of(2, 4, 3, "tp-cp-ep-dp-pp");
  const Grouping dp = l.group({Dimension::dp});
  ASSERT_EQ(dp.groups.size(), 6U);
  EXPECT_EQ(dp.groups[0], (std::vector<RankId>{RankId{0}, RankId{2}, RankId{4}, RankId{6}}));
  EXPECT_EQ(dp.groups[3], (std::vector<RankId>{RankId{9}, RankId{11}, RankId{13}, RankId{15}}));
  EXPECT_EQ(dp.member_of[13], 2U);
  EXPECT_EQ(dp.group_of[13], 3U);
  const Grouping model = l.group({Dimension::tp, Dimension::pp});
  EXPECT_EQ(model.groups[1], (std::vector<RankId>{RankId{2}, RankId{3}, RankId{10}, RankId{11}, RankId{18}, RankId{19}}));
}

// Every grouping of every order partitions the ranks into groups of equal size.
TEST(Layout, GroupsPartitionTheRanks) {
  for (const char* order : {"tp-dp-pp", "pp-tp-dp", "dp-pp-tp"}) {
    const Layout l = layout_of(3, 4, 5, order);
    for (const Dimension d : {Dimension::tp, Dimension::dp, Dimension::pp}) {
      std::set<std::uint32_t> seen;
      for (const auto& group : l.group({d}).groups) {
        EXPECT_EQ(group.size(), l.degree(d));
        for (const RankId r : group) EXPECT_TRUE(seen.insert(index(r)).second);
      }
      EXPECT_EQ(seen.size(), 60U);
    }
  }
}

TEST(Layout, MovedChangesOneCoordinateOnly) {
  const Layout l = layout_of(3, 4, 5, "dp-tp-pp");
  for (std::uint32_t r = 0; r < l.ranks(); ++r) {
    const Coordinates at = l.coordinates(RankId{r});
    const Coordinates moved = l.coordinates(l.moved(RankId{r}, Dimension::pp, 4 - at.pp));
    EXPECT_EQ(moved.tp, at.tp);
    EXPECT_EQ(moved.dp, at.dp);
    EXPECT_EQ(moved.pp, 4 - at.pp);
  }
}

// Two network levels: tp 2 inside and 3 outside make one coordinate 0..5, the inner digit counting ones.
TEST(Layout, ADimensionMayHaveADigitPerNetworkLevel) {
  const Layout l{{{Dimension::tp, 2}, {Dimension::dp, 4}, {Dimension::tp, 3}}};
  EXPECT_EQ(l.degree(Dimension::tp), 6U);
  EXPECT_EQ(l.coordinate(RankId{9}, Dimension::tp), 3U);  // 9 = 1 + 2·(0 + 4·1): digits 1, 0, 1
  EXPECT_EQ(l.group({Dimension::tp}).groups[0],
            (std::vector<RankId>{RankId{0}, RankId{1}, RankId{8}, RankId{9}, RankId{16}, RankId{17}}));
}

TEST(Layout, BadOrdersAreNamed) {
  const std::string allowed = "; allowed: the names tp, cp, ep, dp, pp, each once, joined by '-'";
  EXPECT_EQ(error_of([] { return layout_of(2, 2, 2, "tp-dq-pp"); }),
            "rank order 'tp-dq-pp': 'dq' is no dimension" + allowed);
  EXPECT_EQ(error_of([] { return layout_of(2, 2, 2, "tp-tp-pp"); }), "rank order 'tp-tp-pp': 'tp' is named twice" + allowed);
  EXPECT_EQ(error_of([] { return layout_of(2, 2, 2, "tp-pp"); }),
            "rank order 'tp-pp': 'dp' of degree 2 is missing" + allowed);
  EXPECT_EQ(error_of([] { return layout_of(2, 2, 2, ""); }), "rank order '': '' is no dimension" + allowed);
  EXPECT_EQ(error_of([] { return layout_of(65536, 65536, 1, "tp-dp-pp"); }), "the layout has more than 2^32-1 ranks");
}

std::vector<std::uint32_t> numbers(const std::vector<EndpointId>& gpus) {
  std::vector<std::uint32_t> result;
  for (const EndpointId e : gpus) result.push_back(index(e));
  return result;
}

TEST(Placement, InOrderIsTheIdentity) {
  EXPECT_EQ(numbers(place({}, 5, regular_cluster(8, 4))), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(Placement, ListNamesTheGpuOfEachRank) {
  const PlacementSpec spec{.kind = PlacementKind::list, .gpus = {6, 1, 3}};
  EXPECT_EQ(numbers(place(spec, 3, regular_cluster(8, 4))), (std::vector<std::uint32_t>{6, 1, 3}));
}

// Whole domains move, in an order that is a function of the seed.
TEST(Placement, RandomShufflesDomainsAndKeepsThemWhole) {
  const Cluster cluster = regular_cluster(64, 8);
  const auto first = numbers(place({.kind = PlacementKind::random, .gpus = {}, .seed = 1}, 64, cluster));
  EXPECT_EQ(first, numbers(place({.kind = PlacementKind::random, .gpus = {}, .seed = 1}, 64, cluster)));
  EXPECT_NE(first, numbers(place({.kind = PlacementKind::random, .gpus = {}, .seed = 2}, 64, cluster)));
  EXPECT_EQ(std::set<std::uint32_t>(first.begin(), first.end()).size(), 64U);
  for (std::size_t r = 0; r < 64; ++r) {
    EXPECT_EQ(first[r] % 8, r % 8);
    EXPECT_EQ(first[r] / 8, first[r - r % 8] / 8);
  }
}

// Domains of 2; racks 0: GPUs 0-5, 1: GPUs 6-7. Dealt out: domain 0 (rack 0), 3 (rack 1), then 1, 2.
TEST(Placement, ScatteredTakesADomainFromEachRackInTurn) {
  Cluster cluster = regular_cluster(8, 2);
  cluster.rack = {0, 0, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(numbers(place({.kind = PlacementKind::scattered, .gpus = {}}, 8, cluster)),
            (std::vector<std::uint32_t>{0, 1, 6, 7, 2, 3, 4, 5}));
}

TEST(Placement, ImpossiblePlacementsAreNamed) {
  const Cluster cluster = regular_cluster(8, 4);
  const auto list = [&](std::vector<std::uint32_t> gpus, std::uint32_t ranks) {
    return error_of([&] { return place({.kind = PlacementKind::list, .gpus = std::move(gpus)}, ranks, cluster); });
  };
  EXPECT_EQ(error_of([&] { return place({}, 9, cluster); }), "the job has 9 ranks, but the fabric has 8 GPUs");
  EXPECT_EQ(list({1, 2}, 3), "placement list names 2 GPUs, but the job has 3 ranks");
  EXPECT_EQ(list({1, 8}, 2), "placement list: GPU 8 does not exist; the fabric has 8 GPUs");
  EXPECT_EQ(list({1, 1}, 2), "placement list: GPU 1 is named twice");
  EXPECT_EQ(error_of([&] { return place({.kind = PlacementKind::scattered, .gpus = {}}, 8, cluster); }),
            "placement 'scattered': this fabric has no racks");
}

}  // namespace
}  // namespace traingraph::workloads
