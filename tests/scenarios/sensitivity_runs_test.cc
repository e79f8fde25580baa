// Sensitivities by re-running, against derivatives of closed forms.
#include "scenarios/sensitivity_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "scenarios/run_scenario.h"

namespace traingraph::scenarios {
namespace {

// Eight ports of 50 GB/s on one switch. Ring all-reduce of S bytes: T = 14 (a + 2 l + S/(8 B)).
std::string ring(const std::string& bytes) {
  return R"(
cluster:
  nodes: 8
  node:
    gpus: 1
    nic: {bandwidth: 400 Gb/s, latency: 1 us, overhead: 3 us}
  scale_out: {kind: single_switch}
workload: {kind: collective, collective: all_reduce, algorithm: ring, steps: 1, bytes: )" +
         bytes + "}\n";
}

std::map<std::string, double> sensitivities(const std::string& text, std::uint32_t threads) {
  const Scenario scenario = load_text(text, "test.yaml");
  const Prepared prepared = prepare(scenario);
  std::map<std::string, double> found;
  for (const analysis::Sensitivity& s :
       sensitivity_by_running(scenario, prepared, {.cancel = nullptr, .threads = threads, .progress = {}})) {
    found[s.resource] = s.percent_per_percent;
  }
  return found;
}

// S = 2 MB: a round is 3 us of overhead, 2 us of latency, 5 us on the wire, so the elasticities are 0.3, 0.2 and -0.5. A
// central difference at 1 % is off by a few 1e-5.
TEST(SensitivityRuns, ARingsTimeDividesIntoOverheadLatencyAndBandwidth) {
  const std::map<std::string, double> found = sensitivities(ring("2 MB"), 1);
  EXPECT_NEAR(found.at("bandwidth nic"), -0.5, 1e-4);
  EXPECT_NEAR(found.at("latency nic"), 0.2, 1e-4);
  EXPECT_NEAR(found.at("software_overhead"), 0.3, 1e-4);
  EXPECT_EQ(found.at("flop_rate"), 0.0);
  EXPECT_EQ(found.at("hbm_bandwidth"), 0.0);
}

TEST(SensitivityRuns, ThreadsChangeNothing) { EXPECT_EQ(sensitivities(ring("2 MB"), 1), sensitivities(ring("2 MB"), 4)); }

TEST(SensitivityRuns, CancellingEndsThem) {
  const Scenario scenario = load_text(ring("2 MB"), "test.yaml");
  const Prepared prepared = prepare(scenario);
  const std::atomic<bool> cancel{true};
  EXPECT_THROW(
      static_cast<void>(sensitivity_by_running(scenario, prepared, {.cancel = &cancel, .threads = 2, .progress = {}})),
      sim::Cancelled);
}

}  // namespace
}  // namespace traingraph::scenarios
