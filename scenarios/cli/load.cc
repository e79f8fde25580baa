#include "scenarios/cli/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "scenarios/cli/exit_code.h"
#include "scenarios/cli/output.h"
#include "scenarios/yaml_reader.h"
#include "sim/error.h"

namespace traingraph::scenarios::cli {
namespace {

std::string read_stdin() {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno != EINTR) throw EnvironmentError{std::string{"cannot read stdin: "} + std::strerror(errno)};
    if (n == 0) return text;
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > kLargestFile) throw sim::InputError{"-: stdin holds more than a scenario may (1 MiB)"};
  }
}

/// The overrides by which one number becomes the seed of everything that is random in the scenario.
std::vector<std::string> seed_overrides(const Scenario& scenario, std::uint64_t seed) {
  std::vector<std::string> overrides;
  const topology::RoutingSpec& routing = scenario.cluster.routing;
  if (routing.policy == topology::RoutingPolicy::ecmp || routing.otherwise == topology::RoutingPolicy::ecmp) {
    overrides.push_back(fmt::format("cluster.routing.seed={}", seed));
  }
  if (scenario.workload.placement.kind == workloads::PlacementKind::random) {
    overrides.push_back(fmt::format("workload.placement.seed={}", seed));
  }
  return overrides;
}

}  // namespace

Scenario load_subject(const Options& options) {
  const bool from_stdin = options.subject == "-";
  const std::string text = from_stdin ? read_stdin() : std::string{};
  const auto load_with = [&](const std::vector<std::string>& overrides) {
    return from_stdin ? load_text(text, "-", overrides) : load(options.subject, overrides);
  };
  Scenario scenario = load_with(options.overrides);
  if (!options.seed) return scenario;
  const std::vector<std::string> seeds = seed_overrides(scenario, *options.seed);
  if (seeds.empty()) {
    if (!options.quiet) write_stderr("traingraph: --seed changes nothing: nothing in this scenario is random\n");
    return scenario;
  }
  std::vector<std::string> overrides = options.overrides;
  overrides.insert(overrides.end(), seeds.begin(), seeds.end());
  return load_with(overrides);
}

}  // namespace traingraph::scenarios::cli
