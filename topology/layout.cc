#include "topology/layout.h"

#include <algorithm>
#include <limits>

#include "topology/input_error.h"
#include "topology/size_limits.h"

namespace traingraph::topology {
namespace {

constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return a / b + (a % b == 0 ? 0 : 1); }

void need_positive(std::string_view field, sim::Bandwidth b) {
  if (!(b.bytes_per_s() > 0)) refuse(field, fmt::format("{} bytes/s", b.bytes_per_s()), "more than 0");
}

void need_latency(std::string_view field, sim::Duration d) {
  if (d < sim::Duration{}) refuse(field, fmt::format("{} ps", d.count_ps()), "0 or more");
}

void need_link(const std::string& field, const LinkSpec& link) {
  need_positive(field + ".bandwidth", link.bandwidth);
  need_latency(field + ".latency", link.latency);
}

/// Counts that later products of 32 bits rely on.
void need_countable(std::string_view key, std::uint64_t count, std::string_view what) {
  if (count > kMostDevices) refuse(key, fmt::format("{} {}", count, what), fmt::format("at most {}", kMostDevices));
}

/// Domains of `gpus` GPUs: inside a node or over whole nodes.
void set_domain(Layout& l, std::uint32_t gpus) {
  if (gpus == 0) refuse("node.scale_up.gpus", gpus, "1 or more");
  if (gpus <= l.gpus_per_node ? l.gpus_per_node % gpus != 0 : gpus % l.gpus_per_node != 0)
    refuse("node.scale_up.gpus", gpus, fmt::format("a divisor or a multiple of gpus_per_node ({})", l.gpus_per_node));
  need_countable("node.scale_up.gpus", gpus, "GPUs of a domain");
  l.domain_gpus = gpus;
  l.domains = ceil_div(l.gpus, gpus);
  l.domain_nodes = gpus > l.gpus_per_node ? gpus / l.gpus_per_node : 1;
}

void need_full_domains(const Layout& l, std::string_view kind) {
  if (l.gpus % l.domain_gpus != 0)
    refuse("nodes", l.nodes, fmt::format("{} needs full domains of {} GPUs, here {} GPUs", kind, l.domain_gpus, l.gpus));
}

void resolve_scale_up(Layout& l, const ScaleUp& scale_up) {
  if (const auto* s = std::get_if<NvSwitch>(&scale_up)) {
    set_domain(l, s->gpus);
    if (s->planes == 0) refuse("node.scale_up.planes", s->planes, "1 or more");
    need_link("node.scale_up", {s->bandwidth, s->latency});
    need_latency("node.scale_up.overhead", s->overhead);
    l.scale_up = ScaleUpKind::nvswitch;
    l.planes = s->planes;
    l.scale_up_link = {s->bandwidth / static_cast<double>(s->planes), s->latency};
  } else if (const auto* m = std::get_if<FullMesh>(&scale_up)) {
    if (m->gpus < 2) refuse("node.scale_up.gpus", m->gpus, "2 or more in a full mesh");
    set_domain(l, m->gpus);
    need_full_domains(l, "a full mesh");
    need_link("node.scale_up", {m->bandwidth, m->latency});
    need_latency("node.scale_up.overhead", m->overhead);
    l.scale_up = ScaleUpKind::full_mesh;
    l.scale_up_link = {m->bandwidth / static_cast<double>(m->gpus - 1), m->latency};
  } else if (const auto* c = std::get_if<HybridCubeMesh>(&scale_up)) {
    if (l.gpus_per_node % 8 != 0) refuse("node.gpus", l.gpus_per_node, "a multiple of 8: a hybrid cube mesh has 8 GPUs");
    set_domain(l, 8);
    need_link("node.scale_up", {c->link_bandwidth, c->latency});
    need_latency("node.scale_up.overhead", c->overhead);
    l.scale_up = ScaleUpKind::cube_mesh;
    l.scale_up_link = {c->link_bandwidth, c->latency};
  } else {
    set_domain(l, 1);
  }
}

void resolve_nics(Layout& l, const NicSpec& nic, std::uint32_t ports) {
  l.has_nics = true;
  l.nics_per_node = nic.per_node == 0 ? l.gpus_per_node : nic.per_node;
  const bool shared = l.nics_per_node < l.gpus_per_node;
  if (shared ? l.gpus_per_node % l.nics_per_node != 0 : l.nics_per_node % l.gpus_per_node != 0)
    refuse("node.nic.per_node", l.nics_per_node,
           fmt::format("a divisor or a multiple of gpus_per_node ({})", l.gpus_per_node));
  l.gpus_per_nic = shared ? l.gpus_per_node / l.nics_per_node : 1;
  l.nics_per_gpu = shared ? 1 : l.nics_per_node / l.gpus_per_node;
  need_link("node.nic", {nic.bandwidth, nic.latency});
  need_latency("node.nic.overhead", nic.overhead);
  if (nic.pcie) need_link("node.nic.pcie", *nic.pcie);
  l.nic_devices = shared || nic.pcie.has_value();
  need_countable("node.nic.per_node", std::uint64_t{l.nodes} * l.nics_per_node, "NICs");
  need_countable("node.scale_up.gpus", std::uint64_t{l.domain_nodes} * l.nics_per_node, "NICs of a domain");
  l.pcie = nic.pcie.value_or(LinkSpec{nic.bandwidth, {}});
  if (ports == 0) refuse("scale_out.ports_per_nic", ports, "1 or more");
  need_countable("scale_out.ports_per_nic", std::uint64_t{l.nodes} * l.nics_per_node * ports, "NIC ports");
  l.ports = ports;
  l.nic_port = {nic.bandwidth / static_cast<double>(ports), nic.latency};
}

DirectShape resolve_torus(const Layout& l, const Torus& t) {
  if (t.dims.empty() || t.dims.size() > 4)
    refuse("scale_out.dims", fmt::format("{} dimensions", t.dims.size()), "1 to 4 dimensions");
  if (!t.wrap.empty() && t.wrap.size() != t.dims.size())
    refuse("scale_out.wrap", fmt::format("{} values", t.wrap.size()),
           fmt::format("one per dimension ({}), or none", t.dims.size()));
  need_link("scale_out.link", t.link);
  std::uint64_t product = 1;
  for (const std::uint32_t d : t.dims) {
    if (d == 0) refuse("scale_out.dims", d, "1 or more");
    product = std::min<std::uint64_t>(product * d, std::numeric_limits<std::uint32_t>::max());
  }
  if (product != l.domains)
    refuse(
        "scale_out.dims", fmt::format("{} points", product),
        fmt::format("dimensions whose product is the number of {} ({})", l.domain_gpus > 1 ? "domains" : "GPUs", l.domains));
  DirectShape shape{.points = l.domains, .dims = t.dims, .wraps = {}, .link = t.link};
  for (std::size_t i = 0; i < t.dims.size(); ++i) shape.wraps.push_back(t.dims[i] > 2 && (t.wrap.empty() || t.wrap[i]));
  return shape;
}

DragonflyShape resolve_dragonfly(const Layout& l, const Dragonfly& d, bool bundled) {
  if (d.groups == 0) refuse("scale_out.groups", d.groups, "1 or more");
  if (d.routers_per_group == 0) refuse("scale_out.routers_per_group", d.routers_per_group, "1 or more");
  if (d.hosts_per_router == 0) refuse("scale_out.hosts_per_router", d.hosts_per_router, "1 or more");
  if (d.local_links == 0) refuse("scale_out.local_links", d.local_links, "1 or more");
  const std::uint64_t nics = std::uint64_t{l.nodes} * l.nics_per_node;
  const double places = static_cast<double>(d.groups) * d.routers_per_group * d.hosts_per_router;
  if (static_cast<double>(nics) > places)
    refuse("scale_out.groups", fmt::format("{} places for {} NICs", places, nics),
           "groups x routers x hosts of at least the NICs");
  if (d.routers_per_group > 1) need_link("scale_out.local", d.local);
  DragonflyShape s{.groups = d.groups,
                   .routers = d.routers_per_group,
                   .hosts = d.hosts_per_router,
                   .local_links = d.local_links,
                   .bundled = bundled,
                   .nic = l.nic_port,
                   .local = d.local,
                   .global = d.global};
  if (d.groups > 1) {
    need_link("scale_out.global", d.global);
    const std::uint64_t ends = std::uint64_t{d.routers_per_group} * d.global_links_per_router;
    const std::uint64_t most = ends / (d.groups - 1);
    if (most == 0)
      refuse("scale_out.global_links_per_router", d.global_links_per_router,
             fmt::format("enough for a link to each of the {} other groups", d.groups - 1));
    if (d.global_links_per_pair > most)
      refuse("scale_out.global_links_per_pair", d.global_links_per_pair,
             fmt::format("at most {} (the routers' global links)", most));
    s.pair_links = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(d.global_links_per_pair == 0 ? most : d.global_links_per_pair, kMostLinks));
  }
  return s;
}

void resolve_scale_out(Layout& l, const ClusterSpec& spec) {
  const bool bundled = spec.routing.policy == RoutingPolicy::spray;
  if (const auto* single = std::get_if<SingleSwitch>(&spec.scale_out)) {
    static_cast<void>(single);
    resolve_nics(l, spec.nic, 1);
    const std::uint32_t nics = l.nodes * l.nics_per_node;
    l.clos =
        ClosShape{.nodes_per_unit = l.nodes, .nics_per_leaf = nics, .nic = l.nic_port, .leaf_spine = {}, .spine_core = {}};
  } else if (const auto* clos = std::get_if<Clos>(&spec.scale_out)) {
    resolve_nics(l, spec.nic, clos->ports_per_nic);
    l.clos = resolve_clos(*clos, l, l.nic_port);
    l.clos->bundled = bundled;
  } else if (const auto* torus = std::get_if<Torus>(&spec.scale_out)) {
    need_full_domains(l, "a torus");
    l.direct = resolve_torus(l, *torus);
  } else if (const auto* ring = std::get_if<Ring>(&spec.scale_out)) {
    need_full_domains(l, "a ring");
    l.direct = resolve_torus(l, Torus{.dims = {l.domains}, .wrap = {ring->wrap}, .link = ring->link});
  } else if (const auto* full = std::get_if<FullyConnected>(&spec.scale_out)) {
    need_full_domains(l, "a fully connected network");
    need_link("scale_out.link", full->link);
    l.direct = DirectShape{.all_pairs = true, .points = l.domains, .dims = {}, .wraps = {}, .link = full->link};
  } else if (const auto* dragonfly = std::get_if<Dragonfly>(&spec.scale_out)) {
    resolve_nics(l, spec.nic, 1);
    l.dragonfly = resolve_dragonfly(l, *dragonfly, bundled);
  }
}

void number_devices(Layout& l) {
  std::uint64_t n = l.gpus;
  const auto next = [&n](std::uint64_t count) {
    const std::uint64_t first = n;
    n += count;
    return static_cast<std::uint32_t>(first);
  };
  l.nvswitch_device = next(std::uint64_t{l.domains} * l.planes);
  l.nic_device = next(l.nic_devices ? std::uint64_t{l.nodes} * l.nics_per_node : 0);
  l.leaf_device = next(l.clos        ? l.clos->leaves()
                       : l.dragonfly ? std::uint64_t{l.dragonfly->groups} * l.dragonfly->routers
                                     : 0);
  l.spine_device = next(l.clos ? l.clos->spines() : 0);
  l.core_device = next(l.clos ? l.clos->cores() : 0);
  l.end_device = next(0);
}

std::uint64_t scale_up_cables(const Layout& l) {
  switch (l.scale_up) {
    case ScaleUpKind::none:
      return 0;
    case ScaleUpKind::nvswitch:
      return std::uint64_t{l.gpus} * l.planes;
    case ScaleUpKind::full_mesh:
      return std::uint64_t{l.domains} * (std::uint64_t{l.domain_gpus} * (l.domain_gpus - 1) / 2);
    case ScaleUpKind::cube_mesh:
      return std::uint64_t{l.domains} * kCubeMesh.size();
  }
  return 0;
}

void number_links(Layout& l) {
  l.pcie_link = 2 * scale_up_cables(l);
  l.nic_link = l.pcie_link + (l.nic_devices ? 2 * std::uint64_t{l.gpus} * l.nics_per_gpu : 0);
  l.first_net_link = l.nic_link + (l.has_nics ? 2 * std::uint64_t{l.nodes} * l.nics_per_node * l.ports : 0);
  l.second_net_link = l.first_net_link;
  l.end_link = l.first_net_link;
  if (l.clos) {
    const ClosShape& c = *l.clos;
    if (c.tiers >= 2) l.second_net_link += 2 * std::uint64_t{c.leaves()} * c.spines_per_block * c.leaf_spine_copies();
    l.end_link = l.second_net_link;
    if (c.tiers == 3) l.end_link += 2 * std::uint64_t{c.spines()} * c.cores_per_group * c.spine_core_copies();
  } else if (l.direct) {
    l.end_link += 2 * l.direct->cables() * l.domain_gpus;
  } else if (l.dragonfly) {
    const DragonflyShape& d = *l.dragonfly;
    l.second_net_link += 2 * std::uint64_t{d.groups} * d.local_pairs() * d.local_copies();
    l.end_link = l.second_net_link + std::uint64_t{d.groups} * (d.groups - 1) * d.pair_links;
  }
}

}  // namespace

std::uint64_t DirectShape::cables() const {
  if (all_pairs) return std::uint64_t{points} * (points - 1) / 2;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) sum += std::uint64_t{points / dims[i]} * cables_per_line(i);
  return sum;
}

std::uint64_t DirectShape::torus_cable(std::uint32_t p, std::size_t dim) const {
  std::uint64_t base = 0;
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < dim; ++i) {
    base += std::uint64_t{points / dims[i]} * cables_per_line(i);
    stride *= dims[i];
  }
  const std::uint32_t place = p / stride % dims[dim];
  const std::uint32_t line = p / (stride * dims[dim]) * stride + p % stride;
  return base + std::uint64_t{line} * cables_per_line(dim) + place;
}

std::uint64_t DirectShape::pair_cable(std::uint32_t a, std::uint32_t b) const { return pair_number(a, b, points); }

std::uint32_t DragonflyShape::local_pair(std::uint32_t a, std::uint32_t b) const {
  return static_cast<std::uint32_t>(pair_number(a, b, routers));
}

std::uint32_t DragonflyShape::global_cable(std::uint32_t i, std::uint32_t j, std::uint32_t t) const {
  return static_cast<std::uint32_t>(pair_number(i, j, groups)) * pair_links + t;
}

sim::LinkId Layout::local_link(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t copy) const {
  const std::uint32_t pair = dragonfly->local_pair(std::min(from, to), std::max(from, to));
  const std::uint64_t cable = (std::uint64_t{group} * dragonfly->local_pairs() + pair) * dragonfly->local_copies() + copy;
  return link(first_net_link, cable, from > to);
}

sim::LinkId Layout::global_link(std::uint32_t from, std::uint32_t to, std::uint32_t t) const {
  return link(second_net_link, dragonfly->global_cable(std::min(from, to), std::max(from, to), t), from > to);
}

std::uint32_t Layout::rail_cycle() const {
  const std::uint32_t rails = clos ? clos->rails : nics_per_node;
  return rails > nics_per_node ? domain_nodes * nics_per_node : nics_per_node;
}

std::uint32_t Layout::rail(std::uint32_t node, std::uint32_t nic) const {
  if (!clos || !clos->rail_aligned) return nic;
  return (node * nics_per_node + nic) % rail_cycle() % clos->rails;
}

std::uint32_t Layout::number_on_rail(std::uint32_t node, std::uint32_t nic) const {
  const std::uint32_t global = node * nics_per_node + nic;
  if (!clos || !clos->rail_aligned) return global;
  const std::uint32_t cycle = rail_cycle();
  return global / cycle * (cycle / clos->rails) + global % cycle / clos->rails;
}

Layout resolve(const ClusterSpec& spec) {
  SIM_ASSERT(!std::holds_alternative<Custom>(spec.scale_out), "a custom fabric has no layout");
  Layout l;
  if (spec.nodes == 0) refuse("nodes", spec.nodes, "1 or more");
  if (spec.gpus_per_node == 0) refuse("node.gpus", spec.gpus_per_node, "1 or more");
  const std::uint64_t gpus = std::uint64_t{spec.nodes} * spec.gpus_per_node;
  if (gpus > kMostDevices) refuse("nodes", fmt::format("{} GPUs", gpus), fmt::format("at most {}", kMostDevices));
  l.nodes = spec.nodes;
  l.gpus_per_node = spec.gpus_per_node;
  l.gpus = static_cast<std::uint32_t>(gpus);
  resolve_scale_up(l, spec.scale_up);
  resolve_scale_out(l, spec);
  const auto* clos = std::get_if<Clos>(&spec.scale_out);
  const bool unit_is_rack = clos != nullptr && clos->wiring == Clos::Wiring::fat_tree;
  l.nodes_per_rack = spec.nodes_per_rack != 0 ? spec.nodes_per_rack
                     : l.domain_nodes > 1     ? l.domain_nodes
                     : unit_is_rack           ? l.clos->nodes_per_unit
                                              : 0;
  check_size(l);
  number_devices(l);
  number_links(l);
  return l;
}

}  // namespace traingraph::topology
