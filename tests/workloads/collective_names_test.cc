// Names, defaults, bus-bandwidth factors and the messages of impossible collectives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sim/error.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {
namespace {

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const sim::InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string build_error(CollectiveKind kind, Algorithm algorithm, std::uint32_t members,
                        const CollectiveOptions& options = {}, double bytes = 1024) {
  return error_of([&] { static_cast<void>(make_source(kind, algorithm, members, sim::Bytes{bytes}, options)); });
}

TEST(CollectiveNames, AreReadAsTheyAreWritten) {
  for (const CollectiveKind kind : all_collective_kinds()) EXPECT_EQ(parse_collective_kind(to_string(kind)), kind);
  for (const Algorithm algorithm : all_algorithms()) EXPECT_EQ(parse_algorithm(to_string(algorithm)), algorithm);
  EXPECT_EQ(to_string(CollectiveKind::all_to_all_v), "all_to_all_v");
  EXPECT_EQ(to_string(CollectiveKind::send_recv), "send_recv");
  EXPECT_EQ(to_string(Algorithm::halving_doubling), "halving_doubling");
  EXPECT_EQ(to_string(Algorithm::dissemination), "dissemination");
}

TEST(CollectiveNames, UnknownNamesListWhatIsAllowed) {
  EXPECT_EQ(error_of([] { static_cast<void>(parse_collective_kind("allreduce")); }),
            "unknown collective 'allreduce'; allowed: all_reduce, reduce_scatter, all_gather, all_to_all, all_to_all_v, "
            "broadcast, "
            "reduce, gather, scatter, barrier, send_recv");
  EXPECT_EQ(
      error_of([] { static_cast<void>(parse_algorithm("rings")); }),
      "unknown collective algorithm 'rings'; allowed: ring, bidirectional_ring, direct, pairwise, halving_doubling, chain, "
      "tree, in_switch, hierarchical, dissemination");
}

TEST(CollectiveNames, DefaultsAreThoseOfTheWorkloadModel) {
  using enum CollectiveKind;
  for (const CollectiveKind kind : {all_reduce, reduce_scatter, all_gather})
    EXPECT_EQ(default_algorithm(kind), Algorithm::ring);
  for (const CollectiveKind kind : {all_to_all, all_to_all_v, gather, scatter, send_recv}) {
    EXPECT_EQ(default_algorithm(kind), Algorithm::direct);
  }
  for (const CollectiveKind kind : {broadcast, reduce}) EXPECT_EQ(default_algorithm(kind), Algorithm::chain);
  EXPECT_EQ(default_algorithm(barrier), Algorithm::dissemination);
}

// nccl-tests, doc/PERFORMANCE.md.
TEST(CollectiveNames, BusBandwidthFactorsAreThoseOfNcclTests) {
  using enum CollectiveKind;
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(all_reduce, 8), 1.75);
  for (const CollectiveKind kind : {reduce_scatter, all_gather, all_to_all, all_to_all_v, gather, scatter}) {
    EXPECT_DOUBLE_EQ(bus_bandwidth_factor(kind, 8), 0.875);
  }
  for (const CollectiveKind kind : {broadcast, reduce, send_recv}) EXPECT_DOUBLE_EQ(bus_bandwidth_factor(kind, 8), 1.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(barrier, 8), 0.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(all_reduce, 1), 0.0);
}

TEST(CollectiveErrors, SayWhatWasFoundAndWhatIsAllowed) {
  using enum CollectiveKind;
  CollectiveOptions options;
  EXPECT_EQ(build_error(barrier, Algorithm::ring, 4), "collective barrier has no algorithm 'ring'; allowed: dissemination");
  EXPECT_EQ(build_error(all_gather, Algorithm::tree, 4),
            "collective all_gather has no algorithm 'tree'; allowed: ring, bidirectional_ring, direct, halving_doubling");
  EXPECT_EQ(build_error(all_reduce, Algorithm::ring, 0), "collective all_reduce without members");
  EXPECT_EQ(build_error(all_reduce, Algorithm::ring, 2, options, -1),
            "collective all_reduce of -1 bytes; must be finite and not negative");
  EXPECT_EQ(build_error(all_reduce, Algorithm::ring, 2, options, std::numeric_limits<double>::infinity()),
            "collective all_reduce of inf bytes; must be finite and not negative");
  EXPECT_EQ(build_error(all_reduce, Algorithm::halving_doubling, 6),
            "algorithm halving_doubling needs a power of two of members, not 6; others: ring, direct, tree");
  EXPECT_EQ(build_error(all_reduce, Algorithm::hierarchical, 6), "algorithm hierarchical needs a domain size of at least 1");
  options.domain_size = 4;
  EXPECT_EQ(build_error(all_reduce, Algorithm::hierarchical, 6, options),
            "algorithm hierarchical: the domain size 4 does not divide the 6 members");
  options.inner = Algorithm::tree;
  EXPECT_EQ(build_error(all_reduce, Algorithm::hierarchical, 8, options),
            "algorithm hierarchical: inner algorithm 'tree'; allowed: ring, direct");
  options.root = 4;
  EXPECT_EQ(build_error(broadcast, Algorithm::chain, 4, options), "collective broadcast: root 4; members are 0 to 3");
  EXPECT_EQ(build_error(all_reduce, Algorithm::ring, 4, options), "no error") << "a ring has no root";
  options.piece_bytes = sim::Bytes{0};
  options.root = 0;
  EXPECT_EQ(build_error(broadcast, Algorithm::chain, 4, options), "piece size 0 bytes; must be positive");
  EXPECT_EQ(build_error(all_to_all, Algorithm::direct, 65537),
            "collective all_to_all by direct among 65537 members has more than 2^32 - 1 connections; use pairwise");
  EXPECT_EQ(build_error(all_reduce, Algorithm::direct, 65537),
            "collective all_reduce by direct among 65537 members has more than 2^32 - 1 connections; use ring");
}

TEST(CollectiveErrors, AnAllToAllVMatrixMustFitTheMembers) {
  CollectiveOptions options;
  const auto with = [&](BytesMatrix matrix) {
    options.matrix = std::make_shared<BytesMatrix>(std::move(matrix));
    return build_error(CollectiveKind::all_to_all_v, Algorithm::direct, 2, options);
  };
  EXPECT_EQ(build_error(CollectiveKind::all_to_all_v, Algorithm::direct, 2), "all_to_all_v needs a matrix of bytes");
  EXPECT_EQ(with({{}}), "all_to_all_v among 2 members: the matrix of bytes has 1 rows");
  EXPECT_EQ(with({{}, {{2, sim::Bytes{1}}}}), "all_to_all_v: row 1 names member 2; members are 0 to 1");
  EXPECT_EQ(with({{{1, sim::Bytes{1}}, {1, sim::Bytes{2}}}, {}}), "all_to_all_v: row 0 names member 1 twice");
  EXPECT_EQ(with({{{1, sim::Bytes{-2}}}, {}}),
            "all_to_all_v: member 0 sends -2 bytes to member 1; must be finite and not negative");
  EXPECT_EQ(with({{}, {}}), "no error");
}

}  // namespace
}  // namespace traingraph::workloads
