// Of the planes of an NVSwitch domain one is simulated for all: that must change no time and no load.
#include <gtest/gtest.h>

#include "sim/path_cache.h"
#include "sim/simulate.h"
#include "tests/sim/program_builder.h"
#include "tests/topology/clusters.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::topology::test {
namespace {

/// The same paths, but every link stands for itself.
class Plain final : public sim::Router {
 public:
  explicit Plain(const sim::Router& router) : router_{router} {}
  [[nodiscard]] bool depends_on_connection() const override { return router_.depends_on_connection(); }

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId a, sim::EndpointId b, std::uint64_t connection) const override {
    return router_.route(a, b, connection);
  }
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId> members) const override {
    return router_.route_in_switch(members);
  }
  const sim::Router& router_;
};

ClusterSpec two_pods() {
  ClusterSpec s = superpod(4, 2);
  std::get<NvSwitch>(s.scale_up).in_switch_reduction = true;
  std::get<Clos>(s.scale_out).nodes_per_unit = 2;
  return s;
}

TEST(Mirror, APathKeepsOnePlaneOfEachEnd) {
  const ClusterSpec s = two_pods();
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  sim::Path path = router->route(gpu(1), gpu(6), 0);
  ASSERT_EQ(path.links.size(), 8U);
  sim::leave_out_mirrored(*router, path);
  ASSERT_EQ(path.links.size(), 2U);
  EXPECT_EQ(f.link_info[path.links[0].link].name, "node0.gpu1>nvswitch0");
  EXPECT_EQ(f.link_info[path.links[1].link].name, "node0.nvswitch0>gpu6");
  for (const sim::PathLink& hop : path.links) EXPECT_EQ(hop.fraction(), 0.25);
  for (std::uint32_t l = 0; l < f.links.size(); ++l) {
    const sim::LinkId link{l}, mirror = router->mirror_of(link);
    EXPECT_EQ(router->mirror_of(mirror), mirror);
    EXPECT_EQ(f.links[link].capacity, f.links[mirror].capacity);
    EXPECT_EQ(f.links[link].latency, f.links[mirror].latency);
    if (f.link_info[link].tier != Tier::scale_up) {
      EXPECT_EQ(mirror, link);
    }
  }
}

TEST(Mirror, AMirrorThatIsNotUsedAsItsLinkIsIsAnInternalError) {
  const ClusterSpec s = two_pods();
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  sim::Path path = router->route(gpu(1), gpu(6), 0);
  path.links.front().k = 2;
  EXPECT_THROW(sim::leave_out_mirrored(*router, path), sim::InternalError);
}

// All-to-all over 4 nodes with late members (shared links, several levels), and an in-switch reduction in each node.
TEST(Mirror, ChangesNoTimeAndNoLoad) {
  const ClusterSpec s = two_pods();
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  sim::tests::ProgramBuilder b;
  std::vector<sim::RankId> all;
  for (std::uint32_t e = 0; e < f.gpus(); ++e) all.push_back(b.rank(e));
  namespace w = workloads;
  const auto collective = [&](w::CollectiveKind kind, w::Algorithm algorithm, double bytes) {
    return b.collective(w::to_string(kind), sim::Bytes{bytes},
                        [=](std::uint32_t n) { return w::make_source(kind, algorithm, n, sim::Bytes{bytes}); });
  };
  const auto world = b.communicator(all);
  const auto all_to_all = collective(w::CollectiveKind::all_to_all, w::Algorithm::direct, 1e8);
  const auto reduction = collective(w::CollectiveKind::all_reduce, w::Algorithm::in_switch, 1e7);
  for (std::uint32_t e = 0; e < f.gpus(); ++e) b.compute(all[e], Duration::us(e * e % 37));
  for (const sim::RankId r : all) b.call(r, world, all_to_all);
  for (std::uint32_t n = 0; n < f.gpus() / 8; ++n) {
    const std::vector<sim::RankId> members(all.begin() + n * 8, all.begin() + (n + 1) * 8);
    const auto node = b.communicator(members, "node");
    for (const sim::RankId r : members) b.call(r, node, reduction);
  }
  const sim::Program program = b.build();
  sim::RunOptions options;
  options.bins = 20;
  for (const auto network : {sim::NetworkModel::flow, sim::NetworkModel::ideal}) {
    options.network = network;
    const sim::Record one = simulate(f.links, *router, program, options);
    const sim::Record every = simulate(f.links, Plain{*router}, program, options);
    EXPECT_EQ(one.step_ends, every.step_ends);
    EXPECT_EQ(one.bin_width, every.bin_width);
    EXPECT_EQ(one.load, every.load);
    if (network == sim::NetworkModel::ideal) continue;  // records no links
    ASSERT_EQ(one.links.size(), f.links.size());
    double bytes = 0;
    for (std::uint32_t l = 0; l < f.links.size(); ++l) {
      const sim::LinkId link{l};
      EXPECT_EQ(one.links[link].bytes, every.links[link].bytes) << f.link_info[link].name;
      EXPECT_EQ(one.links[link].busy, every.links[link].busy);
      EXPECT_EQ(one.links[link].peak_utilization, every.links[link].peak_utilization);
      if (f.link_info[link].name.ends_with("nvswitch3")) bytes += one.links[link].bytes;
    }
    EXPECT_GT(bytes, 0);
  }
}

}  // namespace
}  // namespace traingraph::topology::test
