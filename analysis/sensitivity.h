// Sensitivity: d(log step time)/d(log resource), by central difference at +-1 % of each resource, re-running the simulation:
//     (ln T(1.01) - ln T(0.99)) / (ln 1.01 - ln 0.99)
// -1: the step time is inversely proportional to the resource (twice the bandwidth, half the time); 0: the resource does not
// matter; latencies and overheads have positive values. The error is of second order in the 1 %; where the step time has a
// kink (another link becomes the bottleneck) the value is the mean of both sides.
//
// Cost: two runs per resource. The caller re-runs: it knows how a FLOP rate becomes kernel times.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "sim/link.h"
#include "topology/fabric.h"

namespace traingraph::analysis {

enum class ResourceKind : std::uint8_t {
  bandwidth,          ///< capacity of every link of one tier
  latency,            ///< latency of every link of one tier
  software_overhead,  ///< start-up of every transfer
  flop_rate,          ///< peak arithmetic of the GPUs
  hbm_bandwidth,      ///< memory bandwidth of the GPUs
};

struct Resource {
  ResourceKind kind{};
  std::optional<topology::Tier> tier;  ///< of bandwidth and latency
};

/// "bandwidth nic", "latency scale_up", "flop_rate", ...
[[nodiscard]] std::string name_of(const Resource& resource);

/// A resource multiplied by `factor`.
struct Perturbation {
  Resource resource;
  double factor = 1.0;
};

/// Everything whose influence can be asked for: bandwidth and latency of each tier that the fabric has (latency only where
/// it is not zero), software overhead, FLOP rate, HBM bandwidth.
[[nodiscard]] std::vector<Resource> resources_of(const topology::Fabric& fabric);

/// The fabric's links with the perturbation applied; unchanged by perturbations of other resources.
[[nodiscard]] sim::LinkTable perturbed_links(const topology::Fabric& fabric, const Perturbation& perturbation);

/// `step_time` simulates with one perturbation; it is called twice per resource, in order. REQUIRES: it returns times above
/// zero.
[[nodiscard]] std::vector<Sensitivity> sensitivities(const std::vector<Resource>& resources,
                                                     const std::function<sim::Duration(const Perturbation&)>& step_time);

}  // namespace traingraph::analysis
