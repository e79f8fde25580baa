// Every row of the table of collectives: played by the engine on a non-blocking fabric, each algorithm takes its closed
// form's time, to 1e-9 or a picosecond a step, in steps and in bulk. The forms are typed here from the design, not taken
// from the library; the library's closed_form() is compared with the same runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/workloads/collective_cases.h"
#include "tests/workloads/collective_fabric.h"
#include "workloads/collectives/closed_form.h"

namespace traingraph::workloads {
namespace {

using namespace sim::literals;

const sim::Bandwidth kPort = sim::Bandwidth::gbit_per_s(400);
const sim::Duration kLink = 700_ns;
const sim::Duration kOverhead = 1300_ns;
const double kS = 3e6;  // bytes; no multiple of anything

/// Rounding allowed: 1e-9 of the time, or one picosecond for each step of the longest chain.
double tolerance_ps(double expected_ps, double steps) { return std::max(1e-9 * expected_ps, steps); }

/// The table of network-model.md in seconds, on a switch where a path has two links; negative: no row.
double table(const CollectiveCase& c) {
  const double n = c.members;
  const double a = kOverhead.in_seconds();
  const double l = 2 * kLink.in_seconds();
  const double L = a + l;
  const double sb = kS / kPort.bytes_per_s();
  const double m = c.options.pieces;
  if (c.members == 1) return 0;
  const bool ar = c.kind == CollectiveKind::all_reduce;
  switch (c.algorithm) {
    case Algorithm::ring:
      return (ar ? 2 : 1) * (n - 1) * (L + sb / n);
    case Algorithm::direct:
      if (c.kind == CollectiveKind::all_to_all_v) return -1;
      if (c.kind == CollectiveKind::send_recv) return L + sb;
      return ar ? 2 * (L + (n - 1) / n * sb) : L + (n - 1) / n * sb;
    case Algorithm::halving_doubling: {
      double sum = 0;
      for (double part = 2; part <= n; part *= 2) sum += L + sb / part;
      return ar ? 2 * sum : sum;
    }
    case Algorithm::in_switch:
      return a + sb + kLink.in_seconds() + kLink.in_seconds();
    case Algorithm::chain:
      if (c.options.stop_and_wait) return (n - 2 + m) * (L + sb / m);
      return (n - 1) * L + (n - 2 + m) * sb / m + (m - 1) * a;
    case Algorithm::dissemination:
      return std::ceil(std::log2(n)) * L;
    case Algorithm::hierarchical: {
      const double g = c.options.domain_size;
      double inner = 0;
      if (g > 1) inner = c.options.inner == Algorithm::ring ? (g - 1) * (L + sb / g) : L + (g - 1) / g * sb;
      return inner + 2 * (n / g - 1) * (L + sb / g / (n / g)) + inner;
    }
    case Algorithm::pairwise:
      return (n - 1) * (L + sb / n);
    case Algorithm::bidirectional_ring:  // one port for both neighbours: the ring's
      return (ar ? 2 : 1) * (n - 1) * (L + sb / n);
    case Algorithm::tree:
      return -1;
  }
  return -1;
}

double steps_of(const CollectiveCase& c) { return 2.0 * c.members + 2.0 * c.options.pieces + 64; }

sim::Duration run_alone(const CollectiveCase& c, const sim::LinkTable& links, const sim::Router& router,
                        sim::RunOptions options = {}) {
  const auto source = make_source(c.kind, c.algorithm, c.members, sim::Bytes{kS}, c.options);
  return run_groups(links, router, c.members, {everyone(source)}, options).record.step_time();
}

class CollectiveTable : public testing::TestWithParam<sim::CollectiveMode> {};

TEST_P(CollectiveTable, EveryRowTakesItsClosedFormOnASwitch) {
  sim::RunOptions options;
  options.collectives = GetParam();
  int rows = 0;
  for (const CollectiveCase& c : collective_cases({1, 2, 3, 4, 5, 8, 16, 32})) {
    const double expected = table(c) * 1e12;
    if (expected < 0) continue;
    ++rows;
    SCOPED_TRACE(c.name());
    const SwitchFabric fabric{c.members, kPort, kLink, kOverhead};
    const sim::Duration time = run_alone(c, fabric.links, fabric, options);
    EXPECT_NEAR(static_cast<double>(time.count_ps()), expected, tolerance_ps(expected, steps_of(c)));
  }
  EXPECT_GT(rows, 300);
}

TEST_P(CollectiveTable, ABidirectionalRingWithAPortForEachNeighbourSendsHalfEachWay) {
  sim::RunOptions options;
  options.collectives = GetParam();
  for (const CollectiveCase& c : collective_cases({3, 4, 5, 8, 16})) {
    if (c.algorithm != Algorithm::bidirectional_ring) continue;
    SCOPED_TRACE(c.name());
    const MeshFabric fabric{c.members, kPort, kLink, kOverhead};
    const double n = c.members;
    const double L = (kOverhead + kLink).in_seconds();
    const double expected =
        (c.kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1) * (L + kS / (2 * n) / kPort.bytes_per_s()) * 1e12;
    EXPECT_NEAR(static_cast<double>(run_alone(c, fabric.links, fabric, options).count_ps()), expected,
                tolerance_ps(expected, steps_of(c)));
    const auto form = closed_form(c.kind, c.algorithm, c.members, sim::Bytes{kS}, {kPort, kLink, kOverhead}, c.options);
    EXPECT_NEAR(static_cast<double>(form->count_ps()), expected, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, CollectiveTable,
                         testing::Values(sim::CollectiveMode::step, sim::CollectiveMode::bulk,
                                         sim::CollectiveMode::automatic),
                         [](const auto& mode) {
                           return mode.param == sim::CollectiveMode::step   ? "step"
                                  : mode.param == sim::CollectiveMode::bulk ? "bulk"
                                                                            : "automatic";
                         });

TEST(CollectiveTime, TheLibrarysClosedFormsAreTheTable) {
  for (const CollectiveCase& c : collective_cases({1, 2, 3, 4, 5, 8, 16, 32, 1024})) {
    if (c.algorithm == Algorithm::bidirectional_ring || c.kind == CollectiveKind::all_to_all_v) continue;
    SCOPED_TRACE(c.name());
    const auto form = closed_form(c.kind, c.algorithm, c.members, sim::Bytes{kS}, {kPort, 2 * kLink, kOverhead}, c.options);
    const double expected = table(c) * 1e12;
    ASSERT_EQ(form.has_value(), expected >= 0);
    EXPECT_EQ(closed_form_text(c.kind, c.algorithm, c.options).empty(), c.algorithm == Algorithm::tree);
    if (form) {
      EXPECT_NEAR(static_cast<double>(form->count_ps()), expected, tolerance_ps(expected, 1));
    }
  }
}

// Where no two transfers of an algorithm share a port, it takes the same time when every transfer has its links to itself.
TEST(CollectiveTime, AlgorithmsThatShareNoPortAreAsFastOnAnIdealNetwork) {
  sim::RunOptions options;
  options.network = sim::NetworkModel::ideal;
  options.collectives = sim::CollectiveMode::step;
  for (const CollectiveCase& c : collective_cases({2, 3, 4, 5, 8, 16})) {
    const bool shares_ports = c.algorithm == Algorithm::direct || c.algorithm == Algorithm::bidirectional_ring ||
                              (c.algorithm == Algorithm::hierarchical && c.options.inner == Algorithm::direct);
    const double expected = table(c) * 1e12;
    if (expected < 0 || shares_ports) continue;
    SCOPED_TRACE(c.name());
    const SwitchFabric fabric{c.members, kPort, kLink, kOverhead};
    const sim::Duration time = run_alone(c, fabric.links, fabric, options);
    EXPECT_NEAR(static_cast<double>(time.count_ps()), expected, tolerance_ps(expected, steps_of(c)));
  }
}

// Nothing divides by zero bytes: what is left is latency.
TEST(CollectiveTime, ZeroBytesTakeTheLatencyTerms) {
  for (const CollectiveCase& c : collective_cases({2, 3, 5, 8})) {
    if (c.algorithm != Algorithm::ring && c.algorithm != Algorithm::direct && c.algorithm != Algorithm::halving_doubling)
      continue;
    if (c.kind == CollectiveKind::all_to_all_v) continue;
    SCOPED_TRACE(c.name());
    const SwitchFabric fabric{c.members, kPort, kLink, kOverhead};
    const auto source = make_source(c.kind, c.algorithm, c.members, sim::Bytes{0}, c.options);
    const double phases = c.kind == CollectiveKind::all_reduce ? 2 : 1;
    double steps = phases;
    if (c.algorithm == Algorithm::ring) steps *= c.members - 1;
    if (c.algorithm == Algorithm::halving_doubling) steps *= std::log2(c.members);
    const auto time = run_groups(fabric.links, fabric, c.members, {everyone(source)}, {}).record.step_time();
    EXPECT_EQ(time, static_cast<std::int64_t>(steps) * (kOverhead + 2 * kLink));
  }
}

// L + the largest port load over B is a bound; with one port alone saturated it is the time.
TEST(CollectiveTime, AllToAllVIsBoundedByItsBusiestPortAndMeetsTheBoundWhenOnePortSaturates) {
  const double L = (kOverhead + 2 * kLink).in_seconds();
  const auto time_of = [&](std::uint32_t n, const BytesMatrix& matrix) {
    CollectiveOptions options;
    options.matrix = std::make_shared<BytesMatrix>(matrix);
    const SwitchFabric fabric{n, kPort, kLink, kOverhead};
    const auto source = make_source(CollectiveKind::all_to_all_v, Algorithm::direct, n, sim::Bytes{}, options);
    return run_groups(fabric.links, fabric, n, {everyone(source)}, {}).record.step_time().in_seconds();
  };
  for (std::uint32_t n = 2; n <= 12; ++n) {
    const BytesMatrix matrix = uneven_matrix(n);
    std::vector<double> out(n), in(n);
    for (std::uint32_t r = 0; r < n; ++r) {
      for (const BytesToMember& entry : matrix[r]) {
        if (entry.destination == r) continue;
        out[r] += entry.bytes.count();
        in[entry.destination] += entry.bytes.count();
      }
    }
    const double busiest = std::max(*std::ranges::max_element(out), *std::ranges::max_element(in));
    EXPECT_GE(time_of(n, matrix), L + busiest / kPort.bytes_per_s() - 1e-12);
  }
  // Everything goes to member 2, in unequal parts: its down-link is the one that saturates, and is never idle.
  const double time =
      time_of(4, {{{2, sim::Bytes{5e6}}}, {{2, sim::Bytes{1e6}}}, {{0, sim::Bytes{1e5}}}, {{2, sim::Bytes{2e6}}}});
  EXPECT_NEAR(time, L + 8e6 / kPort.bytes_per_s(), 1e-9 * time);
}

// Two groups of four in a fabric of ten: each as fast as alone, the two ranks in none have no traffic, and a late member of
// one group does not delay the other.
TEST(CollectiveTime, GroupsAreIndependentAndOnlyMembersTakePart) {
  const SwitchFabric fabric{10, kPort, kLink, kOverhead};
  const auto source = make_source(CollectiveKind::all_reduce, Algorithm::ring, 4, sim::Bytes{kS}, {});
  const GroupCall even{{0, 2, 4, 6}, source, {}};
  GroupCall odd{{7, 5, 3, 1}, source, {}};
  const double alone = 6 * ((kOverhead + 2 * kLink).in_seconds() + kS / 4 / kPort.bytes_per_s()) * 1e12;
  for (const bool late : {false, true}) {
    odd.late = {0_ps, 0_ps, late ? 50_us : 0_ps, 0_ps};
    const GroupRun run = run_groups(fabric.links, fabric, 10, {even, odd}, {});
    for (const std::uint32_t r : even.members) {
      EXPECT_NEAR(static_cast<double>(run.ends[r][0].count_ps()), alone, tolerance_ps(alone, 6));
    }
    sim::Time last;
    for (const std::uint32_t r : odd.members) last = std::max(last, run.ends[r][0]);
    const double expected = alone + (late ? 5e7 : 0);
    EXPECT_NEAR(static_cast<double>(last.count_ps()), expected, tolerance_ps(expected, 6));
    for (const std::uint32_t r : {8U, 9U}) {
      EXPECT_EQ(run.record.links[SwitchFabric::up(r)].bytes, 0);
      EXPECT_EQ(run.record.links[SwitchFabric::down(r)].bytes, 0);
    }
    EXPECT_NEAR(run.record.links[SwitchFabric::up(0)].bytes, 1.5 * kS, 1e-6 * kS);
  }
}

// Two groups whose rings use the same ports share them: twice the wire time, the latency once.
TEST(CollectiveTime, TwoGroupsOnTheSamePortsShareThem) {
  const SwitchFabric fabric{4, kPort, kLink, kOverhead};
  const auto source = make_source(CollectiveKind::all_gather, Algorithm::ring, 4, sim::Bytes{kS}, {});
  const GroupCall forward{{0, 1, 2, 3}, source, {}};
  const GroupCall backward{{3, 2, 1, 0}, source, {}};
  sim::RunOptions options;
  options.collectives = sim::CollectiveMode::step;
  const GroupRun run = run_groups(fabric.links, fabric, 4, {forward, backward}, options);
  const double expected = 3 * ((kOverhead + 2 * kLink).in_seconds() + 2 * kS / 4 / kPort.bytes_per_s()) * 1e12;
  EXPECT_NEAR(static_cast<double>(run.record.step_time().count_ps()), expected, tolerance_ps(expected, 6));
}

// A ring reduce-scatter whose member 0 enters D late, when all that the others can do without it is done: it sends its N-1
// chunks back to back, and the member at distance j ends j propagations after the last of them has left.
TEST(CollectiveTime, ALateMemberRipplesThroughTheRing) {
  const std::uint32_t n = 6;
  const sim::Duration late = 10_ms;
  const SwitchFabric fabric{n, kPort, kLink, kOverhead};
  GroupCall call = everyone(make_source(CollectiveKind::reduce_scatter, Algorithm::ring, n, sim::Bytes{kS}, {}));
  call.late.assign(n, 0_ps);
  call.late[0] = late;
  sim::RunOptions options;
  options.collectives = sim::CollectiveMode::step;
  const GroupRun run = run_groups(fabric.links, fabric, n, {call}, options);
  const double send = (kOverhead.in_seconds() + kS / n / kPort.bytes_per_s()) * 1e12;
  const auto left = static_cast<double>(late.count_ps()) + (n - 1) * send;
  EXPECT_NEAR(static_cast<double>(run.ends[0][0].count_ps()), left, n);
  for (std::uint32_t j = 1; j < n; ++j) {
    const double l = 2.0 * static_cast<double>(kLink.count_ps());
    // Of the N-1 sends on the path to j's last arrival, j-1 are forwards and the others member 0's own.
    EXPECT_NEAR(static_cast<double>(run.ends[j][0].count_ps()), left + j * l, 2 * n) << "member " << j;
  }
}

// network-model.md: 1 GiB among 1,024 ranks on a two-level tree of 400 Gb/s links with 1 us each, 32 hosts a leaf, a = 0.
// Stop and wait: every step waits for the longest edge (4 us). By default a chain of 2,046 sends crosses a leaf boundary at
// most 64 times.
TEST(CollectiveTime, ARingOfUnequalEdgesByDefaultAndWithStopAndWait) {
  const TwoLevelFabric fabric{1024, 32, sim::Bandwidth::gbit_per_s(400), 1_us};
  const double wire = 1048576.0 / 50e9;
  sim::RunOptions options;
  options.collectives = sim::CollectiveMode::step;
  options.critical_path = false;
  const auto time_of = [&](bool stop_and_wait) {
    CollectiveOptions how;
    how.stop_and_wait = stop_and_wait;
    const auto source = make_source(CollectiveKind::all_reduce, Algorithm::ring, 1024, sim::Bytes{1073741824}, how);
    return run_groups(fabric.links, fabric, 1024, {everyone(source)}, options).record.step_time().in_seconds();
  };
  const double by_default = time_of(false);
  EXPECT_NEAR(by_default, 47.13e-3, 0.005e-3);
  EXPECT_NEAR(by_default, 2046 * (wire + 2e-6) + 64 * 2e-6, 2046e-12);
  const double waiting = time_of(true);
  EXPECT_NEAR(waiting, 51.0917e-3, 0.00005e-3);
  EXPECT_NEAR(waiting, 2046 * (wire + 4e-6), 2046e-12);
}

}  // namespace
}  // namespace traingraph::workloads
