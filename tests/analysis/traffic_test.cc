// Bytes per link, counted without simulating, and what the engine carried: one must be the other.
#include "analysis/traffic.h"

#include <gtest/gtest.h>

#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using testing::Star;
using testing::StarRouter;
using workloads::Algorithm;
using workloads::CollectiveKind;

void expect_conserved(const Star& star, const sim::Router& router, const workloads::Workload& workload,
                      const sim::RunOptions& options, const std::string& what) {
  const auto counted = bytes_per_link(star.fabric.links, router, workload.program);
  const sim::Record record = sim::simulate(star.fabric.links, router, workload.program, options);
  ASSERT_EQ(record.links.size(), counted.size());
  double total = 0;
  for (std::uint32_t l = 0; l < counted.size(); ++l) {
    const sim::LinkId id{l};
    EXPECT_NEAR(record.links[id].bytes, counted[id], 1e-6 + 1e-9 * counted[id])
        << what << ", " << star.fabric.link_info[id].name;
    total += counted[id];
  }
  EXPECT_TRUE(total > 0 || what.find("barrier") != std::string::npos) << what << " moves something";
}

// A ring all-reduce of S among N sends 2(N-1)/N S over every rank's up-link and as much over every down-link.
TEST(Traffic, ARingAllReduceLoadsEveryPortWithTwiceNMinusOneOverN) {
  const Star star{{.gpus = 8}};
  const StarRouter router{star};
  const auto w = testing::collective_workload(8, {.bytes = sim::Bytes{8e6}, .calls = 3});
  for (const double bytes : bytes_per_link(star.fabric.links, router, w.program))
    EXPECT_DOUBLE_EQ(bytes, 3 * 2.0 * 7 / 8 * 8e6);
}

// Bytes counted equal bytes carried: every collective by every algorithm, in steps and in bulk.
TEST(Traffic, EveryCollectiveCarriesWhatIsCounted) {
  const Star star{{.gpus = 8, .latency = sim::Duration::us(1)}};
  const StarRouter router{star};
  for (const CollectiveKind kind : workloads::all_collective_kinds()) {
    for (const Algorithm algorithm : workloads::algorithms_of(kind)) {
      testing::CollectiveProgram call{.kind = kind, .algorithm = algorithm, .bytes = sim::Bytes{8e6}, .calls = 2};
      call.options.domain_size = algorithm == Algorithm::hierarchical ? 4 : 0;
      if (kind == CollectiveKind::all_to_all_v) {
        auto matrix = std::make_shared<workloads::BytesMatrix>(8);
        (*matrix)[0] = {{1, sim::Bytes{1e6}}, {5, sim::Bytes{3e6}}};
        (*matrix)[6] = {{2, sim::Bytes{2e6}}};
        call.options.matrix = matrix;
      }
      const auto w = testing::collective_workload(8, call);
      for (const sim::CollectiveMode mode : {sim::CollectiveMode::step, sim::CollectiveMode::bulk}) {
        sim::RunOptions options;
        options.collectives = mode;
        expect_conserved(
            star, router, w, options,
            to_string(kind) + " " + to_string(algorithm) + (mode == sim::CollectiveMode::bulk ? " bulk" : " step"));
      }
    }
  }
}

// With hashed routes the count takes the very paths that the engine takes: three planes, each flow on one of them.
TEST(Traffic, HashedRoutesAreCountedOnThePathsThatTheEngineTakes) {
  const Star star{{.gpus = 8, .planes = 3}};
  const StarRouter router{star};
  expect_conserved(star, router, testing::collective_workload(8, {.bytes = sim::Bytes{8e6}, .calls = 2}), {}, "ring");
  const sim::Duration ms = sim::Duration::ms(1);
  const auto p = testing::pipeline({.forward = std::vector<sim::Duration>(8, ms),
                                    .backward = std::vector<sim::Duration>(8, ms),
                                    .bytes = sim::Bytes{1e6}});
  expect_conserved(star, router, p, {}, "pipeline");
}

// A pipeline of P stages and M micro-batches sends M messages over each of 2(P-1) channels.
TEST(Traffic, APipelineSendsEveryMicrobatchOverEveryBoundaryBothWays) {
  const Star star{{.gpus = 3}};
  const StarRouter router{star};
  const sim::Duration ms = sim::Duration::ms(1);
  const auto w =
      testing::pipeline({.microbatches = 5, .forward = {ms, ms, ms}, .backward = {ms, ms, ms}, .bytes = sim::Bytes{1e6}});
  const auto bytes = bytes_per_link(star.fabric.links, router, w.program);
  EXPECT_DOUBLE_EQ(bytes[Star::up(star.spec, 0)], 5e6);    // forward
  EXPECT_DOUBLE_EQ(bytes[Star::up(star.spec, 1)], 10e6);   // forward and backward
  EXPECT_DOUBLE_EQ(bytes[Star::down(star.spec, 2)], 5e6);  // forward
  expect_conserved(star, router, w, {}, "pipeline");
}

// The steady step of a run of three carries one step's bytes, not three.
TEST(Traffic, OneStepOfThreeCarriesOneStepsBytes) {
  const Star star{{.gpus = 4}};
  const StarRouter router{star};
  expect_conserved(star, router, testing::data_parallel({.steps = 3}), {}, "third step");
}

// 1,000 calls on a ring of 64 are 64 edges: the router is asked 64 times, not 64 x 126 x 1,000.
TEST(Traffic, AnEdgeIsRoutedOnceWhateverTheNumberOfCalls) {
  const Star star{{.gpus = 64}};
  const StarRouter router{star};
  const auto w = testing::collective_workload(64, {.calls = 1000});
  const auto bytes = bytes_per_link(star.fabric.links, router, w.program);
  EXPECT_EQ(router.routes_asked(), 64U);
  EXPECT_DOUBLE_EQ(bytes[sim::LinkId{0}], 1000 * 2.0 * 63 / 64 * 4e6);
}

}  // namespace
}  // namespace traingraph::analysis
