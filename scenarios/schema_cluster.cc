#include <array>

#include "scenarios/schema.h"
#include "scenarios/variant_fields.h"

namespace traingraph::scenarios {

namespace {

using topology::Clos;
using topology::CustomDevice;
using topology::CustomLink;
using topology::LinkSpec;
using topology::RoutingPolicy;

const Words<Clos::Wiring> kWirings{{"fat_tree", Clos::Wiring::fat_tree},
                                   {"rail_optimized", Clos::Wiring::rail_optimized},
                                   {"rail_only", Clos::Wiring::rail_only}};
const Words<RoutingPolicy> kPolicies{{"static", RoutingPolicy::static_},
                                     {"ecmp", RoutingPolicy::ecmp},
                                     {"spray", RoutingPolicy::spray},
                                     {"explicit", RoutingPolicy::explicit_}};
const Words<topology::TorusSpray> kTorusSprays{{"minimal_paths", topology::TorusSpray::minimal_paths},
                                               {"dimension_orders", topology::TorusSpray::dimension_orders}};

/// Ports of one device, and cables side by side: more than any has. The size of the whole is checked apart.
constexpr Range kPorts{.low = 1, .high = 65536};
/// Paths of one transfer that are kept.
constexpr Range kPaths{.low = 1, .high = 65536};

template <class E, std::size_t N>
Words<E> words_from(const E (&values)[N]) {
  Words<E> words;
  for (const E value : values) words.emplace_back(to_string(value), value);
  return words;
}

void link_fields(Fields& f, LinkSpec& l) {
  f.leaf({.name = "bandwidth", .doc = "one link, one direction", .need = kRequired}, leaf(l.bandwidth));
  f.leaf({.name = "latency", .doc = "one link, and the device behind it", .need = kRequired}, leaf(l.latency));
}

void tier_fields(Fields& f, topology::TierSpec& t) {
  f.leaf({.name = "bandwidth",
          .doc = "one link, one direction; auto: as the links below, or what uplinks and oversubscription give"},
         or_auto(t.bandwidth));
  f.leaf({.name = "latency", .doc = "one link, and the switch behind it"}, leaf(t.latency));
  f.leaf({.name = "oversubscription", .doc = "capacity down over capacity up; auto: what the counts give, else 1"},
         or_auto(t.oversubscription));
  f.leaf({.name = "links", .doc = "parallel links between two joined switches; auto: what the counts give, else 1"},
         or_auto(t.links));
}

/// Element access for std::vector<bool>, whose elements have no address.
Leaf bool_element(std::vector<bool>& v, std::size_t i) {
  return {"true or false",
          [&v, i](const Value& value) {
            bool read = false;
            std::string error = detail::read_bool(value, read);
            if (error.empty()) v[i] = read;
            return error;
          },
          [&v, i] { return std::optional<std::string>{v[i] ? "true" : "false"}; }};
}

void clos_fields(Fields& f, Clos& c) {
  f.leaf({.name = "wiring", .doc = "which leaf a NIC goes to"}, leaf(c.wiring, kWirings));
  f.leaf({.name = "tiers", .doc = "levels of switches"}, leaf(c.tiers, Range{.low = 1, .high = 3}));
  f.leaf({.name = "switch_ports", .doc = "ports of every switch, to derive counts from; auto: counts are given"},
         or_auto(c.switch_ports));
  f.leaf({.name = "nodes_per_unit", .doc = "nodes below one set of leaves; auto: derived"}, or_auto(c.nodes_per_unit));
  f.leaf({.name = "units_per_pod", .doc = "units in a pod of a three-tier fabric; auto: derived, else one pod"},
         or_auto(c.units_per_pod));
  f.leaf({.name = "rails", .doc = "rails; auto: NICs per node"}, or_auto(c.rails));
  f.leaf({.name = "ports_per_nic", .doc = "ports of a NIC, each to a leaf of its own (2: dual ToR)"},
         leaf(c.ports_per_nic, kPorts));
  f.leaf({.name = "separate_planes", .doc = "one network per NIC port, joined at the cores only (dual plane)"},
         leaf(c.separate_planes));
  f.leaf({.name = "spine_blocks_per_rail",
          .doc = "each rail of a pod has its own spines",
          .if_absent = "true for three tiers of rail_optimized and for rail_only, else false"},
         leaf(c.spine_blocks_per_rail));
  f.leaf({.name = "spines_per_block", .doc = "spines of one block; auto: derived from switch_ports"},
         or_auto(c.spines_per_block));
  f.leaf({.name = "cores", .doc = "core switches of the cluster; auto: derived from switch_ports"}, or_auto(c.cores));
  f.leaf({.name = "core_groups", .doc = "core groups that a block's spines are dealt to; auto: derived"},
         or_auto(c.core_groups));
  f.group({.name = "leaf_spine", .doc = "links from leaves to spines"}, [&] { tier_fields(f, c.leaf_spine); });
  f.group({.name = "spine_core", .doc = "links from spines to cores"}, [&] { tier_fields(f, c.spine_core); });
  f.leaf({.name = "in_network_reduction", .doc = "switches can reduce (SHARP class)"}, leaf(c.in_network_reduction));
}

void torus_fields(Fields& f, topology::Torus& t) {
  f.list({.name = "dims", .doc = "domains along each dimension, the first fastest", .need = kRequired}, t.dims, kAtLeastOne);
  f.leaves({.name = "wrap", .doc = "whether each dimension is closed to a ring; empty: all"},
           {[&t] { return t.wrap.size(); }, [&t](std::size_t n) { t.wrap.assign(n, true); }},
           [&t](std::size_t i) { return bool_element(t.wrap, i); });
  f.group({.name = "link", .doc = "a link to a neighbour", .need = kRequired}, [&] { link_fields(f, t.link); });
}

void dragonfly_fields(Fields& f, topology::Dragonfly& d) {
  f.leaf({.name = "groups", .doc = "groups of routers", .need = kRequired}, leaf(d.groups, kAtLeastOne));
  f.leaf({.name = "routers_per_group", .doc = "routers in a group", .need = kRequired},
         leaf(d.routers_per_group, kAtLeastOne));
  f.leaf({.name = "hosts_per_router", .doc = "NICs on a router", .need = kRequired}, leaf(d.hosts_per_router, kAtLeastOne));
  f.leaf({.name = "global_links_per_router", .doc = "links of a router to other groups", .need = kRequired},
         leaf(d.global_links_per_router));
  f.leaf({.name = "local_links", .doc = "parallel links between two routers of a group"}, leaf(d.local_links, kPorts));
  f.leaf({.name = "global_links_per_pair", .doc = "links between two groups; auto: routers x global links / (groups - 1)"},
         or_auto(d.global_links_per_pair));
  f.group({.name = "local", .doc = "a link inside a group", .need = kRequired}, [&] { link_fields(f, d.local); });
  f.group({.name = "global", .doc = "a link between groups", .need = kRequired}, [&] { link_fields(f, d.global); });
}

Leaf label(std::int32_t& v) { return or_word(v, -1, "none", leaf(v)); }

void device_fields(Fields& f, CustomDevice& d) {
  static const Words<topology::DeviceKind> kKinds = words_from(topology::kDeviceKinds);
  f.leaf({.name = "name", .doc = "unique name", .need = kRequired}, leaf(d.name));
  f.leaf({.name = "kind", .doc = "what the device is"}, leaf(d.kind, kKinds));
  f.leaf({.name = "domain", .doc = "scale-up domain; none: a GPU is its own"}, label(d.domain));
  f.leaf({.name = "node", .doc = "server, for tables and cuts"}, label(d.node));
  f.leaf({.name = "rack", .doc = "rack, for tables and cuts"}, label(d.rack));
  f.leaf({.name = "pod", .doc = "pod, for tables and cuts"}, label(d.pod));
  f.leaf({.name = "rail", .doc = "rail, for tables"}, label(d.rail));
}

void custom_link_fields(Fields& f, CustomLink& l) {
  static const Words<topology::Tier> kTierWords = words_from(topology::kTiers);
  f.leaf({.name = "source", .doc = "name of a device", .need = kRequired}, leaf(l.source));
  f.leaf({.name = "target", .doc = "name of a device", .need = kRequired}, leaf(l.target));
  f.leaf({.name = "bandwidth", .doc = "one cable, one direction", .need = kRequired}, leaf(l.bandwidth));
  f.leaf({.name = "latency", .doc = "of the link", .need = kRequired}, leaf(l.latency));
  f.leaf({.name = "half_duplex", .doc = "both directions share one capacity"}, leaf(l.half_duplex));
  f.leaf({.name = "one_way", .doc = "source to target only"}, leaf(l.one_way));
  f.leaf({.name = "parallel", .doc = "equal cables side by side"}, leaf(l.parallel, kPorts));
  f.leaf({.name = "tier", .doc = "what the link is for, in tables"}, leaf(l.tier, kTierWords));
}

void nic_fields(Fields& f, topology::NicSpec& n) {
  f.leaf({.name = "per_node", .doc = "NICs of a node; auto: one per GPU"}, or_auto(n.per_node));
  f.leaf({.name = "bandwidth", .doc = "one NIC, one direction, all its ports"}, leaf(n.bandwidth));
  f.leaf({.name = "latency", .doc = "the cable between NIC and first switch"}, leaf(n.latency));
  f.maybe<LinkSpec>(
      {.name = "pcie", .doc = "link between a GPU and each of its NICs", .if_absent = "never the limit, no latency"}, n.pcie,
      link_fields);
  f.leaf({.name = "overhead", .doc = "software start-up of one transfer between domains"}, leaf(n.overhead));
}

void explicit_path_fields(Fields& f, topology::ExplicitPath& p) {
  f.leaf({.name = "source", .doc = "GPU number", .need = kRequired}, leaf(p.source));
  f.leaf({.name = "destination", .doc = "GPU number", .need = kRequired}, leaf(p.destination));
  f.list({.name = "devices", .doc = "names in order, both GPUs included", .need = kRequired}, p.devices);
  f.leaf({.name = "share", .doc = "weight among the paths of this pair"}, leaf(p.share, kAtLeastOne));
}

}  // namespace

void fields(Fields& f, topology::ScaleUp& s) {
  f.leaf({.name = "kind", .doc = "network inside a domain"},
         kind_leaf(s, {"none", "nvswitch", "full_mesh", "hybrid_cube_mesh"}));
  alternative<topology::NvSwitch>(f, "scale_up kind nvswitch", s, [&](topology::NvSwitch& n) {
    f.leaf({.name = "gpus", .doc = "GPUs of a domain"}, leaf(n.gpus, kAtLeastOne));
    f.leaf({.name = "planes", .doc = "switch chips of a domain; each GPU has a link to each"}, leaf(n.planes, kPorts));
    f.leaf({.name = "bandwidth", .doc = "one GPU, one direction, all planes", .need = kRequired}, leaf(n.bandwidth));
    f.leaf({.name = "latency", .doc = "one link (a transfer crosses two)", .need = kRequired}, leaf(n.latency));
    f.leaf({.name = "overhead", .doc = "software start-up of one transfer inside the domain"}, leaf(n.overhead));
    f.leaf({.name = "in_switch_reduction", .doc = "switches can reduce and multicast (NVLS)"}, leaf(n.in_switch_reduction));
  });
  alternative<topology::FullMesh>(f, "scale_up kind full_mesh", s, [&](topology::FullMesh& m) {
    f.leaf({.name = "gpus", .doc = "GPUs of a domain"}, leaf(m.gpus, kAtLeastOne));
    f.leaf({.name = "bandwidth", .doc = "one GPU, one direction, all its peers", .need = kRequired}, leaf(m.bandwidth));
    f.leaf({.name = "latency", .doc = "one link, GPU to GPU", .need = kRequired}, leaf(m.latency));
    f.leaf({.name = "overhead", .doc = "software start-up of one transfer inside the domain"}, leaf(m.overhead));
  });
  alternative<topology::HybridCubeMesh>(f, "scale_up kind hybrid_cube_mesh", s, [&](topology::HybridCubeMesh& m) {
    f.leaf({.name = "link_bandwidth", .doc = "one of the six links of a GPU, one direction", .need = kRequired},
           leaf(m.link_bandwidth));
    f.leaf({.name = "latency", .doc = "one link, GPU to GPU", .need = kRequired}, leaf(m.latency));
    f.leaf({.name = "overhead", .doc = "software start-up of one transfer inside the domain"}, leaf(m.overhead));
  });
}

void fields(Fields& f, topology::ScaleOut& s) {
  f.leaf({.name = "kind", .doc = "network between domains"},
         kind_leaf(s, {"none", "single_switch", "clos", "torus", "ring", "fully_connected", "dragonfly", "custom"}));
  alternative<topology::SingleSwitch>(f, "scale_out kind single_switch", s, [&](topology::SingleSwitch& w) {
    f.leaf({.name = "in_network_reduction", .doc = "the switch can reduce (SHARP class)"}, leaf(w.in_network_reduction));
  });
  alternative<Clos>(f, "scale_out kind clos", s, [&](Clos& c) { clos_fields(f, c); });
  alternative<topology::Torus>(f, "scale_out kind torus", s, [&](topology::Torus& t) { torus_fields(f, t); });
  alternative<topology::Ring>(f, "scale_out kind ring", s, [&](topology::Ring& r) {
    f.leaf({.name = "wrap", .doc = "closed; false: a line"}, leaf(r.wrap));
    f.group({.name = "link", .doc = "a link to a neighbour", .need = kRequired}, [&] { link_fields(f, r.link); });
  });
  alternative<topology::FullyConnected>(f, "scale_out kind fully_connected", s, [&](topology::FullyConnected& c) {
    f.group({.name = "link", .doc = "the link of one pair", .need = kRequired}, [&] { link_fields(f, c.link); });
  });
  alternative<topology::Dragonfly>(f, "scale_out kind dragonfly", s,
                                   [&](topology::Dragonfly& d) { dragonfly_fields(f, d); });
  alternative<topology::Custom>(f, "scale_out kind custom", s, [&](topology::Custom& c) {
    f.list_of<CustomDevice>({.name = "devices", .doc = "all devices; GPUs are numbered in this order", .need = kRequired},
                            c.devices, device_fields);
    f.list_of<CustomLink>({.name = "links", .doc = "all cables", .need = kRequired}, c.links, custom_link_fields);
    f.leaf({.name = "gpus_forward", .doc = "a path may lead through a GPU"}, leaf(c.gpus_forward));
    f.leaf({.name = "overhead", .doc = "software start-up of one transfer"}, leaf(c.overhead));
  });
}

void fields(Fields& f, topology::RoutingSpec& r) {
  f.leaf({.name = "policy", .doc = "which paths a transfer takes"}, leaf(r.policy, kPolicies));
  f.leaf({.name = "seed", .doc = "of the ecmp hash"}, leaf(r.seed));
  f.leaf({.name = "queue_pairs", .doc = "ecmp: hashed paths per transfer and NIC"}, leaf(r.queue_pairs, kPaths));
  f.leaf({.name = "pxn", .doc = "rail-wired fabrics: go inside the node to the GPU on the destination's rail"}, leaf(r.pxn));
  f.leaf({.name = "torus_spray", .doc = "spray on a torus: which paths"}, leaf(r.torus_spray, kTorusSprays));
  f.list_of<topology::ExplicitPath>({.name = "paths", .doc = "explicit: the listed paths"}, r.explicit_paths,
                                    explicit_path_fields);
  f.leaf({.name = "otherwise",
          .doc = "explicit: policy of pairs without a listed path",
          .if_absent = "none: such a pair is an error"},
         leaf(r.otherwise, kPolicies));
  f.leaf({.name = "listed_routes", .doc = "sprayed paths of at most so many routes list them, for the chunk model"},
         leaf(r.listed_routes));
}

void fields(Fields& f, topology::ClusterSpec& c) {
  f.leaf({.name = "name", .doc = "for people"}, leaf(c.name));
  f.leaf({.name = "nodes", .doc = "servers"}, leaf(c.nodes, kAtLeastOne));
  f.leaf({.name = "nodes_per_rack",
          .doc = "for tables and cuts; auto: a domain that spans nodes, a unit of a fat tree, else none"},
         or_auto(c.nodes_per_rack));
  f.group({.name = "node", .doc = "what a server holds", .preset_folder = "nodes"}, [&] {
    f.leaf({.name = "gpus", .doc = "GPUs of a node"}, leaf(c.gpus_per_node, kAtLeastOne));
    f.group({.name = "scale_up", .doc = "network inside a domain"}, [&] { fields(f, c.scale_up); });
    f.group({.name = "nic", .doc = "how a node reaches a switched scale-out network"}, [&] { nic_fields(f, c.nic); });
  });
  f.group({.name = "scale_out", .doc = "network between domains"}, [&] { fields(f, c.scale_out); });
  f.group({.name = "routing", .doc = "which paths transfers take"}, [&] { fields(f, c.routing); });
}

}  // namespace traingraph::scenarios
