#include "scenarios/limits_query.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "sim/error.h"

namespace traingraph::scenarios {
namespace {

void check_factor(std::string_view name, double factor) {
  if (factor >= kLeastFactor && factor <= kMostFactor) return;
  throw sim::InputError{
      fmt::format("{}: found a factor of {}, allowed: from {} to {}", name, factor, kLeastFactor, kMostFactor)};
}

}  // namespace

std::vector<std::string> overrides_of(const LimitsQuery& query) {
  constexpr double kGiga = 1e9;
  constexpr double kMicro = 1e-6;
  constexpr double kDirections = 2;  // the model adds both of a port, presets state one
  check_factor("network bandwidth", query.network_bandwidth);
  check_factor("network latency", query.network_latency);
  check_factor("FLOP rate", query.flop_rate);
  check_factor("memory bandwidth", query.memory_bandwidth);

  const analysis::theory::Gpu gpu = load_limits_preset(query.gpu, query.overrides).question.gpu;
  std::vector<std::string> all = query.overrides;
  for (std::size_t l = 0; l < gpu.levels.size(); ++l) {
    const double bandwidth = gpu.levels[l].bytes_per_s / kDirections / kGiga;
    if (query.network_bandwidth != 1 && std::isfinite(bandwidth)) {
      all.push_back(fmt::format("gpu.network[{}].bandwidth={} GB/s", l, bandwidth * query.network_bandwidth));
    }
    if (query.network_latency != 1) {
      all.push_back(
          fmt::format("gpu.network[{}].latency={} us", l, gpu.levels[l].latency_s / kMicro * query.network_latency));
    }
  }
  if (query.flop_rate != 1) {
    all.push_back(fmt::format("gpu.matmul.flop_per_clock_per_sm={}", gpu.matmul.flop_per_clock_per_sm * query.flop_rate));
  }
  if (query.memory_bandwidth != 1) {
    all.push_back(fmt::format("gpu.matmul.memory_bandwidth={} GB/s",
                              gpu.matmul.memory_bandwidth.bytes_per_s() / kGiga * query.memory_bandwidth));
  }
  return all;
}

}  // namespace traingraph::scenarios
