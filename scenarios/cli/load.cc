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
#include "scenarios/diagnostics.h"
#include "scenarios/preset_store.h"
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

/// A preset's keys may be named as in a scenario (cluster.nodes) or as in the preset (nodes).
std::vector<std::string> overrides_of_preset(const Options& options) {
  constexpr std::string_view kPrefix = "cluster.";
  std::vector<std::string> overrides = options.overrides;
  for (std::string& text : overrides) {
    if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  }
  return overrides;
}

}  // namespace

topology::ClusterSpec load_cluster(const Options& options, const std::string& name, std::string_view verb) {
  constexpr std::string_view kFolder = "clusters";
  if (find_preset(kFolder, name) != nullptr) return load_cluster_preset(name, overrides_of_preset(options));
  const bool file = name == "-" || name.ends_with(".yaml") || name.ends_with(".yml") || name.find('/') != std::string::npos;
  if (file && name != "-") {
    if (auto cluster = load_cluster_file(name, options.overrides)) return *std::move(cluster);
  }
  if (file) {
    Options of_file = options;
    of_file.subject = name;
    return load_subject(of_file).cluster;
  }
  throw UsageError{fmt::format("{}: no cluster preset '{}'{}", verb, name, suggestion(name, preset_names(kFolder)))};
}

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
