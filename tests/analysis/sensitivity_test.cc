#include "analysis/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/support.h"

namespace traingraph::analysis {
namespace {

using sim::Duration;
using testing::Star;
using testing::StarRouter;

double value_of(const std::vector<Sensitivity>& all, const std::string& resource) {
  for (const Sensitivity& s : all) {
    if (s.resource == resource) return s.percent_per_percent;
  }
  throw std::runtime_error{"no sensitivity of " + resource};
}

/// Re-runs one send of `bytes` over a star of the given latency with perturbed links.
std::vector<Sensitivity> of_one_broadcast(double bytes, Duration latency) {
  const Star star{{.gpus = 2, .latency = latency}};
  const auto w = testing::collective_workload(
      2,
      {.kind = workloads::CollectiveKind::send_recv, .algorithm = workloads::Algorithm::direct, .bytes = sim::Bytes{bytes}});
  return sensitivities(resources_of(star.fabric), [&](const Perturbation& p) {
    Star changed = star;
    changed.fabric.links = perturbed_links(star.fabric, p);
    const StarRouter router{changed};
    return sim::simulate(changed.fabric.links, router, w.program, {}).step_time();
  });
}

// T = S/B: 1 % more bandwidth, 1 % less time; nothing else matters.
TEST(Sensitivity, OfALinkAloneIsMinusOne) {
  const auto all = of_one_broadcast(1e9, {});
  EXPECT_NEAR(value_of(all, "bandwidth nic"), -1, 1e-9);
  EXPECT_EQ(value_of(all, "flop_rate"), 0);
  EXPECT_EQ(value_of(all, "hbm_bandwidth"), 0);
}

// T = 2 l + S/B with 2 l = 2 ms and S/B = 6 ms: -3/4 for the bandwidth, +1/4 for the latency; second order in 1 %.
TEST(Sensitivity, OfALatentLinkIsSharedByBandwidthAndLatency) {
  const auto all = of_one_broadcast(6e6, Duration::ms(1));
  EXPECT_NEAR(value_of(all, "bandwidth nic"), -0.75, 1e-4);
  EXPECT_NEAR(value_of(all, "latency nic"), 0.25, 1e-4);
}

// T = c/x^0.5: the logarithmic difference gives the exponent itself.
TEST(Sensitivity, OfAPowerIsItsExponent) {
  const std::vector<Resource> flop{{ResourceKind::flop_rate, std::nullopt}};
  std::vector<double> asked;
  const auto values = sensitivities(flop, [&](const Perturbation& p) {
    asked.push_back(p.factor);
    return Duration::seconds(100 / std::sqrt(p.factor));
  });
  EXPECT_NEAR(values.at(0).percent_per_percent, -0.5, 1e-10);
  EXPECT_EQ(asked, (std::vector{1.01, 0.99}));
}

// Only tiers that exist, latency only where there is some; each name once.
TEST(Sensitivity, ResourcesAreThoseOfTheFabric) {
  std::vector<std::string> names;
  for (const Resource& r : resources_of(Star{{.gpus = 2}}.fabric)) names.push_back(name_of(r));
  EXPECT_EQ(names, (std::vector<std::string>{"bandwidth nic", "software_overhead", "flop_rate", "hbm_bandwidth"}));
  EXPECT_EQ(resources_of(Star{{.gpus = 2, .latency = Duration::us(1)}}.fabric).size(), 5U);
}

// A perturbation touches its own tier and quantity only.
TEST(Sensitivity, PerturbedLinksDifferOnlyInTheirTier) {
  Star star{{.gpus = 2, .latency = Duration::us(1)}};
  star.fabric.link_info[sim::LinkId{1}].tier = topology::Tier::leaf_spine;
  const auto links = perturbed_links(star.fabric, {{ResourceKind::bandwidth, topology::Tier::nic}, 1.01});
  EXPECT_DOUBLE_EQ(links[sim::LinkId{0}].capacity.bytes_per_s(), 1.01e9);
  EXPECT_DOUBLE_EQ(links[sim::LinkId{1}].capacity.bytes_per_s(), 1e9);
  EXPECT_EQ(links[sim::LinkId{0}].latency, Duration::us(1));
}

}  // namespace
}  // namespace traingraph::analysis
