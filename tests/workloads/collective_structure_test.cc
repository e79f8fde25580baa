// What every source must be, whatever it computes: lanes and inboxes laid out as promised, every inbox filled exactly, no
// deadlock under any order of events, and the bytes that the algorithm's formula demands on every port.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "tests/workloads/collective_cases.h"
#include "tests/workloads/collective_player.h"

namespace traingraph::workloads {
namespace {

constexpr double kBytes = 6.0 * 1024 * 1024;

std::shared_ptr<const sim::TransferSource> make(const CollectiveCase& c) {
  return make_source(c.kind, c.algorithm, c.members, sim::Bytes{kBytes}, c.options);
}

TEST(CollectiveStructure, LanesAndInboxesAreNumberedInOrderOfMemberWithoutGaps) {
  for (const CollectiveCase& c : collective_cases({1, 2, 3, 4, 5, 8, 12, 16})) {
    SCOPED_TRACE(c.name());
    const auto source = make(c);
    ASSERT_EQ(source->members(), c.members);
    EXPECT_EQ(source->algorithm(), to_string(c.algorithm));
    EXPECT_EQ(source->stop_and_wait(), c.options.stop_and_wait);
    EXPECT_EQ(source->first_lane(0), 0U);
    EXPECT_EQ(source->first_inbox(0), 0U);
    EXPECT_EQ(source->first_lane(c.members), source->lanes());
    EXPECT_EQ(source->first_inbox(c.members), source->inboxes());
    for (std::uint32_t m = 0; m < c.members; ++m) {
      EXPECT_LE(source->first_lane(m), source->first_lane(m + 1));
      EXPECT_LE(source->first_inbox(m), source->first_inbox(m + 1));
    }
  }
}

TEST(CollectiveStructure, EverySendGoesToAnotherMembersInboxAndWaitsForItsOwn) {
  for (const CollectiveCase& c : collective_cases({2, 3, 4, 5, 8, 12, 16})) {
    SCOPED_TRACE(c.name());
    const auto source = make(c);
    std::vector<std::uint32_t> arrivals(source->inboxes(), 0);
    for (std::uint32_t m = 0; m < c.members; ++m) {
      for (std::uint32_t l = source->first_lane(m); l < source->first_lane(m + 1); ++l) {
        ASSERT_GT(source->sends(l), 0U);
        std::set<std::pair<std::uint32_t, double>> edges;
        for (std::uint32_t s = 0; s < source->sends(l); ++s) {
          const sim::Send send = source->send(l, s);
          edges.emplace(send.destination, send.bytes.count());
          if (send.to_all) {
            for (std::uint32_t& a : arrivals) ++a;
          } else {
            ASSERT_LT(send.destination, c.members);
            EXPECT_NE(send.destination, m);
            EXPECT_GE(send.inbox, source->first_inbox(send.destination));
            EXPECT_LT(send.inbox, source->first_inbox(send.destination + 1));
            ++arrivals[send.inbox];
          }
          const sim::Needs needs = source->needs(l, s);
          ASSERT_LE(needs.size, sim::kMaxNeeds);
          for (std::uint32_t i = 0; i < needs.size; ++i) {
            EXPECT_GE(needs.need[i].inbox, source->first_inbox(m));
            EXPECT_LT(needs.need[i].inbox, source->first_inbox(m + 1));
            EXPECT_LE(needs.need[i].count, source->expected(needs.need[i].inbox));
          }
        }
        EXPECT_EQ(source->uniform(l), edges.size() == 1) << "lane " << l;
      }
    }
    for (std::uint32_t i = 0; i < source->inboxes(); ++i) {
      EXPECT_EQ(arrivals[i], source->expected(i)) << "inbox " << i;
      EXPECT_GT(arrivals[i], 0U);
    }
  }
}

TEST(CollectiveStructure, NoOrderOfEventsDeadlocks) {
  for (const CollectiveCase& c : collective_cases({1, 2, 3, 4, 5, 8})) {
    SCOPED_TRACE(c.name());
    const auto source = make(c);
    CollectivePlayer player{*source};
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const std::uint64_t sends = player.play(seed, {});
      EXPECT_EQ(static_cast<double>(sends), count_transfers(c.kind, c.algorithm, c.members, sim::Bytes{kBytes}, c.options));
    }
  }
}

// A group of one has nothing to send, by any algorithm.
TEST(CollectiveStructure, OneMemberSendsNothing) {
  for (const CollectiveCase& c : collective_cases({1})) {
    SCOPED_TRACE(c.name());
    EXPECT_EQ(make(c)->lanes(), 0U);
    EXPECT_EQ(make(c)->inboxes(), 0U);
  }
}

struct Traffic {
  std::vector<double> out;
  std::vector<double> in;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> edge;
};

Traffic traffic(const sim::TransferSource& source) {
  Traffic t{std::vector<double>(source.members()), std::vector<double>(source.members()), {}};
  for (std::uint32_t m = 0; m < source.members(); ++m) {
    for (std::uint32_t l = source.first_lane(m); l < source.first_lane(m + 1); ++l) {
      for (std::uint32_t s = 0; s < source.sends(l); ++s) {
        const sim::Send send = source.send(l, s);
        t.out[m] += send.bytes.count();
        t.in[send.destination] += send.bytes.count();
        t.edge[{m, send.destination}] += send.bytes.count();
      }
    }
  }
  return t;
}

// The bandwidth-optimal algorithms: every port carries (N-1)/N S each way, twice for an all-reduce.
TEST(CollectiveStructure, BandwidthOptimalAlgorithmsLoadEveryPortWithTheLeastBytes) {
  for (const CollectiveCase& c : collective_cases({2, 3, 4, 5, 8, 16})) {
    const bool one_way = c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::all_gather ||
                         c.kind == CollectiveKind::all_to_all;
    const bool optimal = c.algorithm != Algorithm::tree && c.algorithm != Algorithm::in_switch;
    if (!(one_way || (c.kind == CollectiveKind::all_reduce && optimal))) continue;
    SCOPED_TRACE(c.name());
    const double n = c.members;
    const double share = (one_way ? 1 : 2) * (n - 1) / n * kBytes;
    const Traffic t = traffic(*make(c));
    for (std::uint32_t m = 0; m < c.members; ++m) {
      EXPECT_NEAR(t.out[m], share, 1e-9 * kBytes);
      EXPECT_NEAR(t.in[m], share, 1e-9 * kBytes);
    }
  }
}

TEST(CollectiveStructure, RingSendsToTheSuccessorOnly) {
  const auto ring = make_source(CollectiveKind::all_reduce, Algorithm::ring, 5, sim::Bytes{1000}, {});
  const Traffic t = traffic(*ring);
  ASSERT_EQ(t.edge.size(), 5U);
  for (const auto& [edge, bytes] : t.edge) {
    EXPECT_EQ(edge.second, (edge.first + 1) % 5);
    EXPECT_DOUBLE_EQ(bytes, 2 * 4 * 1000.0 / 5);
  }
  const auto both = make_source(CollectiveKind::all_reduce, Algorithm::bidirectional_ring, 5, sim::Bytes{1000}, {});
  const Traffic u = traffic(*both);
  ASSERT_EQ(u.edge.size(), 10U);
  for (const auto& [edge, bytes] : u.edge) {
    EXPECT_TRUE(edge.second == (edge.first + 1) % 5 || edge.first == (edge.second + 1) % 5);
    EXPECT_DOUBLE_EQ(bytes, 4 * 1000.0 / 5);
  }
}

TEST(CollectiveStructure, GatherAndScatterMoveOneShareBetweenTheRootAndEachOther) {
  for (const CollectiveCase& c : collective_cases({2, 3, 4, 5, 8})) {
    if (c.kind != CollectiveKind::gather && c.kind != CollectiveKind::scatter) continue;
    SCOPED_TRACE(c.name());
    const Traffic t = traffic(*make(c));
    ASSERT_EQ(t.edge.size(), c.members - 1U);
    for (const auto& [edge, bytes] : t.edge) {
      EXPECT_EQ(c.kind == CollectiveKind::gather ? edge.second : edge.first, c.options.root);
      EXPECT_DOUBLE_EQ(bytes, kBytes / c.members);
    }
  }
}

TEST(CollectiveStructure, AllToAllSendsOneShareBetweenEveryPair) {
  for (const Algorithm algorithm : {Algorithm::direct, Algorithm::pairwise}) {
    const Traffic t = traffic(*make_source(CollectiveKind::all_to_all, algorithm, 7, sim::Bytes{700}, {}));
    ASSERT_EQ(t.edge.size(), 42U);
    for (const auto& [edge, bytes] : t.edge) EXPECT_DOUBLE_EQ(bytes, 100);
  }
}

TEST(CollectiveStructure, AllToAllVSendsWhatItsMatrixSaysAndNothingElse) {
  CollectiveOptions options;
  options.matrix = std::make_shared<BytesMatrix>(BytesMatrix{
      {{1, sim::Bytes{10}}, {0, sim::Bytes{99}}}, {{2, sim::Bytes{0}}, {0, sim::Bytes{7}}}, {}, {{1, sim::Bytes{5}}}});
  const auto source = make_source(CollectiveKind::all_to_all_v, Algorithm::direct, 4, sim::Bytes{0}, options);
  const Traffic t = traffic(*source);
  const std::map<std::pair<std::uint32_t, std::uint32_t>, double> expected{{{0, 1}, 10}, {{1, 0}, 7}, {{3, 1}, 5}};
  EXPECT_EQ(t.edge, expected);
  EXPECT_EQ(source->lanes(), 3U);
  EXPECT_EQ(source->inboxes(), 2U);
}

// The nearest partner (distance 1) gets the largest message of an all-reduce.
TEST(CollectiveStructure, HalvingDoublingAllReduceKeepsLargeMessagesNear) {
  const auto source = make_source(CollectiveKind::all_reduce, Algorithm::halving_doubling, 8, sim::Bytes{800}, {});
  const std::vector<std::pair<std::uint32_t, double>> expected{{1, 400}, {2, 200}, {4, 100}, {4, 100}, {2, 200}, {1, 400}};
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_EQ(source->send(0, s).destination, expected[s].first);
    EXPECT_DOUBLE_EQ(source->send(0, s).bytes.count(), expected[s].second);
  }
}

// Sizes that 16,384 GPUs and more need: built at once, and right at their far ends.
TEST(CollectiveStructure, LargeGroupsAreCheapToBuild) {
  const std::uint32_t n = 65536;
  const auto ring = make_source(CollectiveKind::all_reduce, Algorithm::ring, n, sim::Bytes{65536}, {});
  EXPECT_EQ(ring->send(n - 1, 131069).destination, 0U);
  const auto halving = make_source(CollectiveKind::all_reduce, Algorithm::halving_doubling, n, sim::Bytes{65536}, {});
  EXPECT_EQ(halving->sends(n - 1), 32U);
  EXPECT_DOUBLE_EQ(halving->send(n - 1, 0).bytes.count(), 32768);
  EXPECT_DOUBLE_EQ(halving->send(n - 1, 31).bytes.count(), 32768);
  const auto direct = make_source(CollectiveKind::all_to_all, Algorithm::direct, n, sim::Bytes{65536}, {});
  EXPECT_EQ(direct->lanes(), 4294901760U);
  EXPECT_EQ(direct->send(direct->lanes() - 1, 0).destination, n - 2);
  const auto tree = make_source(CollectiveKind::all_reduce, Algorithm::tree, n, sim::Bytes{65536}, {});
  EXPECT_EQ(tree->lanes(), 4U * (n - 1));
}

TEST(CollectiveStructure, PiecesFollowTheirSizeUnlessTheirNumberIsGiven) {
  CollectiveOptions options;
  EXPECT_EQ(piece_count(sim::Bytes{0}, options), 1U);
  EXPECT_EQ(piece_count(sim::Bytes{524288}, options), 1U);
  EXPECT_EQ(piece_count(sim::Bytes{524289}, options), 2U);
  options.piece_bytes = sim::Bytes{100};
  EXPECT_EQ(piece_count(sim::Bytes{1000}, options), 10U);
  const auto chain = make_source(CollectiveKind::broadcast, Algorithm::chain, 3, sim::Bytes{1000}, options);
  EXPECT_EQ(chain->sends(0), 10U);
  options.pieces = 4;
  EXPECT_EQ(piece_count(sim::Bytes{1000}, options), 4U);
  const auto tree = make_source(CollectiveKind::all_reduce, Algorithm::tree, 3, sim::Bytes{1000}, options);
  EXPECT_DOUBLE_EQ(tree->send(0, 0).bytes.count(), 125) << "each tree carries half of the buffer";
}

}  // namespace
}  // namespace traingraph::workloads
