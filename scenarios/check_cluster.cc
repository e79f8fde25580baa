#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/checks.h"
#include "topology/input_error.h"
#include "topology/layout.h"

namespace traingraph::scenarios {

namespace {

using topology::ClusterSpec;

/// GPUs of one scale-up domain.
std::uint32_t domain_size(const topology::ScaleUp& s) {
  if (const auto* n = std::get_if<topology::NvSwitch>(&s)) return n->gpus;
  if (const auto* m = std::get_if<topology::FullMesh>(&s)) return m->gpus;
  return std::holds_alternative<topology::HybridCubeMesh>(s) ? 8 : 1;
}

void check_scale_up(const ClusterSpec& c, Checker& check) {
  if (!check.readable({"cluster.node", "cluster.nodes"})) return;
  const std::uint32_t node = c.gpus_per_node;
  const std::uint32_t domain = domain_size(c.scale_up);
  const bool fits = domain != 0 && (node % domain == 0 || domain % node == 0);
  const bool cube = std::holds_alternative<topology::HybridCubeMesh>(c.scale_up);
  const std::string_view path =
      cube ? "cluster.node.scale_up"
           : check.blamed({"cluster.node.scale_up.gpus", "cluster.node.gpus", "cluster.node.scale_up"});
  check.expect(fits, path, "a domain of {} GPUs and nodes of {}: one must be a multiple of the other", domain, node);
  if (!fits || std::holds_alternative<topology::NvSwitch>(c.scale_up)) return;
  check.expect(gpu_count(c) % domain == 0, path, "every mesh must be full: {} GPUs are no multiple of {}", gpu_count(c),
               domain);
  if (std::holds_alternative<topology::FullMesh>(c.scale_up))
    check.expect(domain >= 2, path, "a mesh needs at least 2 GPUs");
}

void check_nics(const ClusterSpec& c, Checker& check) {
  const bool switched = std::holds_alternative<topology::SingleSwitch>(c.scale_out) ||
                        std::holds_alternative<topology::Clos>(c.scale_out) ||
                        std::holds_alternative<topology::Dragonfly>(c.scale_out);
  if (!switched || !check.readable({"cluster.node", "cluster.scale_out.kind"})) return;
  const std::uint32_t nics = c.nic.per_node == 0 ? c.gpus_per_node : c.nic.per_node;
  check.expect(nics % c.gpus_per_node == 0 || c.gpus_per_node % nics == 0, "cluster.node.nic.per_node",
               "{} NICs for {} GPUs: one must be a multiple of the other", nics, c.gpus_per_node);
  check.expect(c.nic.bandwidth > sim::Bandwidth{}, "cluster.node.nic.bandwidth",
               "is missing; the switched network between the nodes needs it");
}

void check_torus(const ClusterSpec& c, const topology::Torus& t, Checker& check) {
  if (!check.readable({"cluster.scale_out", "cluster.node", "cluster.nodes"})) return;
  constexpr std::size_t kMostDimensions = 4;
  check.expect(!t.dims.empty() && t.dims.size() <= kMostDimensions, "cluster.scale_out.dims",
               "has {} sizes; 1 to {} are allowed", t.dims.size(), kMostDimensions);
  check.expect(t.wrap.empty() || t.wrap.size() == t.dims.size(), "cluster.scale_out.wrap",
               "has {} entries for {} dimensions; one each, or none", t.wrap.size(), t.dims.size());
  const std::uint32_t domain = domain_size(c.scale_up);
  if (domain == 0 || gpu_count(c) % domain != 0) return;  // reported at the scale-up network
  double product = 1.0;
  for (const std::uint32_t d : t.dims) product *= d;
  const auto domains = static_cast<double>(gpu_count(c) / domain);
  check.expect(product == domains, "cluster.scale_out.dims",
               "multiply to {}, but the cluster has {} domains ({} GPUs in domains of {})", product, domains, gpu_count(c),
               domain);
}

void check_dragonfly(const ClusterSpec& c, const topology::Dragonfly& d, Checker& check) {
  if (!check.readable({"cluster.scale_out", "cluster.node", "cluster.nodes"})) return;
  const double places = static_cast<double>(d.groups) * d.routers_per_group * d.hosts_per_router;
  const double nics = static_cast<double>(c.nodes) * (c.nic.per_node == 0 ? c.gpus_per_node : c.nic.per_node);
  check.expect(nics <= places, "cluster.scale_out.groups", "{} NICs do not fit: {} groups x {} routers x {} hosts = {}",
               nics, d.groups, d.routers_per_group, d.hosts_per_router, places);
}

void check_custom(const ClusterSpec& c, const topology::Custom& custom, Checker& check) {
  if (!check.readable({"cluster.scale_out"})) return;
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < custom.devices.size(); ++i) {
    const auto [at, added] = first.emplace(custom.devices[i].name, i);
    check.expect(added, fmt::format("cluster.scale_out.devices[{}].name", i), "'{}' is also the name of devices[{}]",
                 custom.devices[i].name, at->second);
  }
  // Suggestions compare with every device, so only the first few unknown names get one.
  std::size_t suggestions = 0;
  const auto known = [&](const std::string& name, std::size_t i, std::string_view end) {
    if (first.contains(name)) return;
    constexpr std::size_t kMostSuggestions = 10;
    std::vector<std::string> names;
    if (suggestions++ < kMostSuggestions) {
      for (const auto& d : custom.devices) names.push_back(d.name);
    }
    const std::string_view near = nearest(name, names);
    check.expect(false, fmt::format("cluster.scale_out.links[{}].{}", i, end), "no device '{}'{}", name,
                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  };
  for (std::size_t i = 0; i < custom.links.size(); ++i) {
    known(custom.links[i].source, i, "source");
    known(custom.links[i].target, i, "target");
    check.expect(custom.links[i].source != custom.links[i].target, fmt::format("cluster.scale_out.links[{}]", i),
                 "joins '{}' to itself", custom.links[i].source);
  }
  check.expect(gpu_count(c) > 0, "cluster.scale_out.devices", "has no device of kind gpu");
  check.expect(std::holds_alternative<topology::NoScaleUp>(c.scale_up), "cluster.node.scale_up.kind",
               "must be none when scale_out is custom: all links are listed there");
}

void check_routing(const ClusterSpec& c, Checker& check) {
  const topology::RoutingSpec& r = c.routing;
  if (!check.readable({"cluster.routing", "cluster.scale_out.kind", "cluster.nodes", "cluster.node"})) return;
  const bool is_explicit = r.policy == topology::RoutingPolicy::explicit_;
  check.expect(is_explicit || r.explicit_paths.empty(), "cluster.routing.paths", "are for policy explicit only");
  check.expect(is_explicit || !r.otherwise, "cluster.routing.otherwise", "is for policy explicit only");
  check.expect(r.otherwise != topology::RoutingPolicy::explicit_, "cluster.routing.otherwise", "may not be explicit itself");
  const std::uint64_t gpus = gpu_count(c);
  for (std::size_t i = 0; i < r.explicit_paths.size(); ++i) {
    const topology::ExplicitPath& p = r.explicit_paths[i];
    const std::string path = fmt::format("cluster.routing.paths[{}]", i);
    check.expect(p.source < gpus, path + ".source", "there is no GPU {}; GPUs are 0 to {}", p.source, gpus - 1);
    check.expect(p.destination < gpus, path + ".destination", "there is no GPU {}; GPUs are 0 to {}", p.destination,
                 gpus - 1);
    check.expect(p.devices.size() >= 2, path + ".devices", "a path has at least its two GPUs");
  }
}

}  // namespace

std::uint64_t gpu_count(const topology::ClusterSpec& cluster) {
  if (const auto* custom = std::get_if<topology::Custom>(&cluster.scale_out)) {
    return static_cast<std::uint64_t>(
        std::count_if(custom->devices.begin(), custom->devices.end(),
                      [](const topology::CustomDevice& d) { return d.kind == topology::DeviceKind::gpu; }));
  }
  return static_cast<std::uint64_t>(cluster.nodes) * cluster.gpus_per_node;
}

void check_cluster(const topology::ClusterSpec& c, Checker& check) {
  constexpr std::uint64_t kMostGpus = std::uint64_t{1} << 26U;  // ids are 32 bits, and a GPU has a dozen links and more
  if (check.readable({"cluster.nodes", "cluster.node.gpus"})) {
    check.expect(gpu_count(c) <= kMostGpus, "cluster.nodes", "{} GPUs are too many; at most {} are allowed", gpu_count(c),
                 kMostGpus);
  }
  const auto* custom = std::get_if<topology::Custom>(&c.scale_out);
  if (custom != nullptr) {
    check_custom(c, *custom, check);
  } else {
    check_scale_up(c, check);
    check_nics(c, check);
  }
  if (const auto* t = std::get_if<topology::Torus>(&c.scale_out)) check_torus(c, *t, check);
  if (const auto* d = std::get_if<topology::Dragonfly>(&c.scale_out)) check_dragonfly(c, *d, check);
  check_routing(c, check);
  // What remains is what the counts of the network say of each other, and its size.
  if (custom != nullptr || !check.readable({"cluster"})) return;
  try {
    static_cast<void>(topology::resolve(c));
  } catch (const topology::ClusterError& e) {
    check.report("cluster." + e.key(), e.text());
  }
}

}  // namespace traingraph::scenarios
