#include "topology/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "topology/layout.h"
#include "topology/routing.h"
#include "topology/shortest_paths.h"

namespace traingraph::topology {
namespace {

constexpr std::uint32_t kMostSearched = 2048;

void count_devices(const Fabric& fabric, Description& out) {
  std::map<DeviceKind, std::uint64_t> counts;
  std::set<std::int32_t> nodes, domains;
  for (const Device& d : fabric.devices) {
    ++counts[d.kind];
    if (d.kind != DeviceKind::gpu) continue;
    if (d.node >= 0) nodes.insert(d.node);
    if (d.domain >= 0) domains.insert(d.domain);
  }
  for (const auto& [kind, n] : counts) out.devices.push_back({kind, n});
  out.nodes = nodes.size();
  out.domains = domains.size();
}

void count_links(const Fabric& fabric, Description& out) {
  using Key = std::tuple<Tier, DeviceKind, DeviceKind, double, std::int64_t>;
  std::map<Key, std::pair<double, LinkGroup>> groups;
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    const sim::Link& link = fabric.links[id];
    const DeviceKind s = fabric.devices[info.source].kind, t = fabric.devices[info.target].kind;
    const sim::Bandwidth one = link.capacity / static_cast<double>(info.cables);
    const Key key{info.tier, std::min(s, t), std::max(s, t), one.bytes_per_s(), link.latency.count_ps()};
    auto& [ends, group] = groups[key];
    group = {
        .tier = info.tier, .a = std::min(s, t), .b = std::max(s, t), .cables = 0, .bandwidth = one, .latency = link.latency};
    // a full-duplex cable is two links
    ends += info.half_duplex ? 2.0 * info.cables : 1.0 * info.cables;
  }
  for (auto& [key, value] : groups) {
    value.second.cables = static_cast<std::uint64_t>((value.first + 1) / 2);
    out.links.push_back(value.second);
  }
  out.link_objects = fabric.links.size();
}

int level(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return 0;
    case DeviceKind::pcie_switch:
    case DeviceKind::host:
    case DeviceKind::nvswitch:
      return 1;
    case DeviceKind::nic:
      return 2;
    case DeviceKind::leaf:
    case DeviceKind::switch_:
      return 3;
    case DeviceKind::spine:
      return 4;
    case DeviceKind::core:
      return 5;
  }
  return 0;
}

/// Of a regular cluster's design, so that partly filled leaves do not count; of a custom one's switches as they are.
void find_oversubscription(const Fabric& fabric, const std::optional<Layout>& layout, Description& out) {
  if (layout && layout->clos) {
    const ClosShape& c = *layout->clos;
    const double spines = c.spines_per_block;
    if (c.tiers >= 2)
      out.oversubscription.push_back(
          {DeviceKind::leaf, c.nics_per_leaf * c.nic.bandwidth.bytes_per_s() /
                                 (spines * c.leaf_spine_links * c.leaf_spine.bandwidth.bytes_per_s())});
    if (c.tiers == 3) {
      const double leaves = c.units_per_pod * c.leaves_per_unit / c.classes();
      out.oversubscription.push_back(
          {DeviceKind::spine, leaves * c.leaf_spine_links * c.leaf_spine.bandwidth.bytes_per_s() /
                                  (1.0 * c.cores_per_group * c.spine_core_links * c.spine_core.bandwidth.bytes_per_s())});
    }
    return;
  }
  if (layout) return;
  std::vector<double> below(fabric.devices.size()), above(fabric.devices.size());
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    const int s = level(fabric.devices[info.source].kind), t = level(fabric.devices[info.target].kind);
    if (s < t) {
      above[sim::index(info.source)] += fabric.links[id].capacity.bytes_per_s();
      below[sim::index(info.target)] += fabric.links[id].capacity.bytes_per_s();
    }
  }
  for (const DeviceKind kind : {DeviceKind::leaf, DeviceKind::spine}) {
    double most = 0;
    for (std::uint32_t i = 0; i < fabric.devices.size(); ++i)
      if (fabric.devices[static_cast<DeviceId>(i)].kind == kind && above[i] > 0) most = std::max(most, below[i] / above[i]);
    if (most > 0) out.oversubscription.push_back({kind, most});
  }
}

std::uint32_t torus_diameter(const DirectShape& d) {
  if (d.all_pairs) return d.points > 1 ? 1 : 0;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < d.dims.size(); ++i) sum += d.wraps[i] ? d.dims[i] / 2 : d.dims[i] - 1;
  return sum;
}

/// GPUs among which the farthest of all pairs is found: from one GPU, everything that can be different about another.
std::vector<std::uint32_t> representatives(const Layout& l) {
  std::set<std::uint32_t> nodes{0, 1, l.domain_nodes, l.domain_nodes + 1};
  if (l.clos) {
    const std::uint32_t unit = l.clos->nodes_per_unit;
    nodes.insert({unit, unit * l.clos->units_per_pod});
  }
  if (l.dragonfly)  // one node per router
    for (std::uint32_t r = 0; r < l.dragonfly->groups * l.dragonfly->routers; ++r)
      nodes.insert((r * l.dragonfly->hosts + l.nics_per_node - 1) / l.nics_per_node);
  std::vector<std::uint32_t> gpus;
  for (const std::uint32_t node : nodes)
    for (std::uint32_t i = 0; i < l.gpus_per_node && node < l.nodes; ++i) gpus.push_back(node * l.gpus_per_node + i);
  return gpus;
}

std::optional<std::uint32_t> find_diameter(const Fabric& fabric, const ClusterSpec& spec,
                                           const std::optional<Layout>& layout) {
  if (!layout) {
    if (fabric.gpus() > kMostSearched) return std::nullopt;
    return ShortestPaths{fabric}.diameter(fabric.gpus_forward);
  }
  const auto router = make_router(fabric, spec);
  const std::vector<std::uint32_t> far = representatives(*layout);
  // every group of a dragonfly looks the same, and so does every node of the others: the first group's (node's) GPUs suffice
  const std::uint32_t first =
      layout->dragonfly ? layout->dragonfly->hosts * layout->dragonfly->routers / layout->nics_per_gpu * layout->gpus_per_nic
                        : layout->gpus_per_node;
  std::uint32_t most = 0;
  try {
    if (layout->direct) {
      std::uint32_t inside = 0;
      for (std::uint32_t i = 1; i < layout->domain_gpus; ++i)
        inside = std::max(inside, router->hops(sim::EndpointId{0}, static_cast<sim::EndpointId>(i)));
      return torus_diameter(*layout->direct) + inside;
    }
    for (const std::uint32_t a : far) {
      if (a >= first) break;
      for (const std::uint32_t b : far)
        most = std::max(most, router->hops(static_cast<sim::EndpointId>(a), static_cast<sim::EndpointId>(b)));
    }
  } catch (const sim::InputError&) {
    return std::nullopt;  // some pair has no path
  }
  return most;
}

}  // namespace

Description describe(const Fabric& fabric, const ClusterSpec& spec) {
  Description out;
  out.name = fabric.name;
  out.gpus = fabric.gpus();
  std::optional<Layout> layout;
  if (!std::holds_alternative<Custom>(spec.scale_out)) layout = resolve(spec);
  count_devices(fabric, out);
  count_links(fabric, out);
  if (layout && layout->has_nics) out.nics = std::uint64_t{layout->nodes} * layout->nics_per_node;
  if (!layout)
    for (const DeviceCount& c : out.devices)
      if (c.kind == DeviceKind::nic) out.nics = c.count;
  for (const Cut& cut : fabric.cuts)
    if (cut.kind == "bisection") {
      out.bisection = std::min(cut.capacity_out, cut.capacity_in);
      out.bisection_gpus = std::min<std::uint64_t>(cut.size(), out.gpus - cut.size());
    }
  find_oversubscription(fabric, layout, out);
  ClusterSpec lengths = spec;
  if (lengths.routing.policy == RoutingPolicy::explicit_) {  // the diameter is the fabric's, whatever paths are listed
    lengths.routing.policy = RoutingPolicy::static_;
    lengths.routing.explicit_paths.clear();
    lengths.routing.otherwise.reset();
  }
  out.diameter = find_diameter(fabric, lengths, layout);
  return out;
}

std::string to_text(const Description& d) {
  std::string s = fmt::format("{}: {} GPUs, {} nodes, {} domains, {} NICs\n", d.name.empty() ? "cluster" : d.name, d.gpus,
                              d.nodes, d.domains, d.nics);
  s += "devices\n";
  for (const DeviceCount& c : d.devices) s += fmt::format("  {:<12} {:>10}\n", to_string(c.kind), c.count);
  s += fmt::format("cables (simulated as {} directed links)\n", d.link_objects);
  for (const LinkGroup& g : d.links)
    s += fmt::format("  {:<12} {:<24} {:>10} x {:>9.3f} GB/s per direction, {:.3f} us\n", to_string(g.tier),
                     to_string(g.a) + " - " + to_string(g.b), g.cables, g.bandwidth.bytes_per_s() / 1e9,
                     g.latency.in_seconds() * 1e6);
  for (const Oversubscription& o : d.oversubscription)
    s += fmt::format("oversubscription at {}: {:.4g}:1\n", to_string(o.kind), o.ratio);
  if (d.bisection)
    s += fmt::format("bisection: {:.3f} GB/s per direction between {} GPUs and the others\n",
                     d.bisection->bytes_per_s() / 1e9, d.bisection_gpus);
  s += d.diameter ? fmt::format("diameter: {} links\n", *d.diameter)
                  : std::string{"diameter: not computed (unreachable pairs, or a large custom fabric)\n"};
  return s;
}

}  // namespace traingraph::topology
