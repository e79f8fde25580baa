#include <variant>

#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios::test {

namespace {

using sim::Bandwidth;
using sim::Duration;

template <class T>
const T& out(const Scenario& s) {
  return std::get<T>(s.cluster.scale_out);
}
const topology::Clos& clos(const Scenario& s) { return out<topology::Clos>(s); }
const topology::Torus& torus(const Scenario& s) { return out<topology::Torus>(s); }
const topology::Ring& ring(const Scenario& s) { return out<topology::Ring>(s); }
const topology::FullyConnected& full(const Scenario& s) { return out<topology::FullyConnected>(s); }
const topology::Dragonfly& dragonfly(const Scenario& s) { return out<topology::Dragonfly>(s); }
const topology::Custom& custom(const Scenario& s) { return out<topology::Custom>(s); }
const topology::CustomDevice& device(const Scenario& s) { return custom(s).devices[0]; }
const topology::CustomLink& link(const Scenario& s) { return custom(s).links[0]; }

const char* const kTorus = R"(name: base
cluster:
  nodes: 12
  node: {gpus: 1}
  scale_out: {kind: torus, dims: [3, 4], link: {bandwidth: 45 GB/s, latency: 1 us}}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
const char* const kRing = R"(name: base
cluster:
  node: {gpus: 4}
  scale_out: {kind: ring, link: {bandwidth: 45 GB/s, latency: 1 us}}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
const char* const kFull = R"(name: base
cluster:
  node: {gpus: 4}
  scale_out: {kind: fully_connected, link: {bandwidth: 45 GB/s, latency: 1 us}}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
const char* const kSwitch = R"(name: base
cluster:
  node: {gpus: 4, nic: {bandwidth: 50 GB/s}}
  scale_out: {kind: single_switch}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
const char* const kDragonfly = R"(name: base
cluster:
  nodes: 9
  node: {gpus: 4, nic: {bandwidth: 25 GB/s}}
  scale_out:
    kind: dragonfly
    groups: 9
    routers_per_group: 4
    hosts_per_router: 2
    global_links_per_router: 2
    local: {bandwidth: 25 GB/s, latency: 300 ns}
    global: {bandwidth: 25 GB/s, latency: 500 ns}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
const char* const kCustom = R"(name: base
cluster:
  scale_out:
    kind: custom
    devices: [{name: gpu0}, {name: gpu1}, {name: box, kind: switch}]
    links:
      - {source: gpu0, target: box, bandwidth: 50 GB/s, latency: 1 us}
      - {source: gpu1, target: box, bandwidth: 50 GB/s, latency: 1 us}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";

using Overrides = std::vector<std::string>;
/// Each of the four nodes on a leaf of its own; two such leaves in a pod; spines enough to be dealt to groups of cores.
const Overrides kManyLeaves{"cluster.scale_out.nodes_per_unit=1"};
const Overrides kPods{"cluster.scale_out.tiers=3", "cluster.scale_out.nodes_per_unit=1",
                      "cluster.scale_out.units_per_pod=2"};
const Overrides kPodsOfManySpines{"cluster.scale_out.tiers=3", "cluster.scale_out.nodes_per_unit=1",
                                  "cluster.scale_out.units_per_pod=2", "cluster.scale_out.leaf_spine.links=1"};
/// A slow cable between the two GPUs, so that they reach each other without the switch.
const Overrides kTriangle{
    "cluster.scale_out.links=["
    "{source: gpu0, target: box, bandwidth: 50 GB/s, latency: 1 us}, "
    "{source: gpu1, target: box, bandwidth: 50 GB/s, latency: 1 us}, "
    "{source: gpu0, target: gpu1, bandwidth: 1 GB/s, latency: 1 us}]"};
/// From gpu0 to gpu2 by way of gpu1, or of two switches.
const Overrides kLongWayRound{
    "cluster.scale_out.devices=["
    "{name: gpu0}, {name: gpu1}, {name: gpu2}, {name: box, kind: switch}, {name: crate, kind: switch}]",
    "cluster.scale_out.links=["
    "{source: gpu0, target: gpu1, bandwidth: 50 GB/s, latency: 1 us}, "
    "{source: gpu1, target: gpu2, bandwidth: 50 GB/s, latency: 1 us}, "
    "{source: gpu0, target: box, bandwidth: 50 GB/s, latency: 1 us}, "
    "{source: box, target: crate, bandwidth: 50 GB/s, latency: 1 us}, "
    "{source: crate, target: gpu2, bandwidth: 50 GB/s, latency: 1 us}]"};

/// Four GPUs on a switch, two with each value of a label.
Overrides pairs(const std::string& label) {
  std::string devices = "cluster.scale_out.devices=[", links = "cluster.scale_out.links=[";
  for (int i = 0; i < 4; ++i) {
    const std::string gpu = "gpu" + std::to_string(i);
    devices += "{name: " + gpu + ", " + label + ": " + std::to_string(i / 2) + "}, ";
    links += "{source: " + gpu + ", target: box, bandwidth: 50 GB/s, latency: 1 us}, ";
  }
  return {devices + "{name: box, kind: switch}]", links + "]"};
}

}  // namespace

std::vector<SchemaCase> fabric_cases() {
  return {
      {"cluster.scale_out.kind",
       kTransformer,
       {"cluster.scale_out={kind: single_switch}"},
       TRAINGRAPH_HOLDS(std::holds_alternative<topology::SingleSwitch>(s.cluster.scale_out))},
      {"cluster.scale_out.in_network_reduction",
       kSwitch,
       {"cluster.scale_out.in_network_reduction=true"},
       TRAINGRAPH_HOLDS(out<topology::SingleSwitch>(s).in_network_reduction),
       {"workload.algorithm=in_switch"},
       SeenIn::acceptance},
      {"cluster.scale_out.wiring",
       kTransformer,
       {"cluster.scale_out.wiring=rail_only"},
       TRAINGRAPH_HOLDS(clos(s).wiring == topology::Clos::Wiring::rail_only)},
      {"cluster.scale_out.tiers", kTransformer, {"cluster.scale_out.tiers=3"}, TRAINGRAPH_HOLDS(clos(s).tiers == 3)},
      {"cluster.scale_out.switch_ports",
       kTransformer,
       {"cluster.scale_out.switch_ports=128"},
       TRAINGRAPH_HOLDS(clos(s).switch_ports == 128)},
      {"cluster.scale_out.nodes_per_unit",
       kTransformer,
       {"cluster.scale_out.nodes_per_unit=2"},
       TRAINGRAPH_HOLDS(clos(s).nodes_per_unit == 2)},
      {"cluster.scale_out.units_per_pod",
       kTransformer,
       {"cluster.scale_out.units_per_pod=3"},
       TRAINGRAPH_HOLDS(clos(s).units_per_pod == 3),
       {"cluster.scale_out.tiers=3", "cluster.scale_out.nodes_per_unit=1"}},
      {"cluster.scale_out.rails",
       kTransformer,
       {"cluster.scale_out.rails=4"},
       TRAINGRAPH_HOLDS(clos(s).rails == 4),
       {"cluster.scale_out.wiring=rail_optimized"}},
      {"cluster.scale_out.ports_per_nic",
       kTransformer,
       {"cluster.scale_out.ports_per_nic=2"},
       TRAINGRAPH_HOLDS(clos(s).ports_per_nic == 2)},
      {"cluster.scale_out.separate_planes",
       kTransformer,
       {"cluster.scale_out.separate_planes=true"},
       TRAINGRAPH_HOLDS(clos(s).separate_planes),
       {"cluster.scale_out.tiers=3", "cluster.scale_out.ports_per_nic=2"}},
      {"cluster.scale_out.spine_blocks_per_rail",
       kTransformer,
       {"cluster.scale_out.spine_blocks_per_rail=false"},
       TRAINGRAPH_HOLDS(clos(s).spine_blocks_per_rail == false),
       {"cluster.scale_out.wiring=rail_optimized", "cluster.scale_out.tiers=3"}},
      {"cluster.scale_out.spines_per_block",
       kTransformer,
       {"cluster.scale_out.spines_per_block=4"},
       TRAINGRAPH_HOLDS(clos(s).spines_per_block == 4),
       kManyLeaves},
      {"cluster.scale_out.cores",
       kTransformer,
       {"cluster.scale_out.cores=8"},
       TRAINGRAPH_HOLDS(clos(s).cores == 8),
       kPodsOfManySpines},
      {"cluster.scale_out.core_groups",
       kTransformer,
       {"cluster.scale_out.core_groups=2"},
       TRAINGRAPH_HOLDS(clos(s).core_groups == 2),
       kPodsOfManySpines},
      {"cluster.scale_out.leaf_spine.bandwidth",
       kTransformer,
       {"cluster.scale_out.leaf_spine.bandwidth=400 Gb/s"},
       TRAINGRAPH_HOLDS(clos(s).leaf_spine.bandwidth == Bandwidth::gbit_per_s(400)),
       {"cluster.scale_out.nodes_per_unit=1", "cluster.scale_out.spines_per_block=4",
        "cluster.scale_out.leaf_spine.links=1"}},
      {"cluster.scale_out.leaf_spine.latency",
       kTransformer,
       {"cluster.scale_out.leaf_spine.latency=7 ns"},
       TRAINGRAPH_HOLDS(clos(s).leaf_spine.latency == Duration::ps(7000)),
       kManyLeaves},
      {"cluster.scale_out.leaf_spine.oversubscription",
       kTransformer,
       {"cluster.scale_out.leaf_spine.oversubscription=2"},
       TRAINGRAPH_HOLDS(clos(s).leaf_spine.oversubscription == 2.0),
       kManyLeaves},
      {"cluster.scale_out.leaf_spine.links",
       kTransformer,
       {"cluster.scale_out.leaf_spine.links=2"},
       TRAINGRAPH_HOLDS(clos(s).leaf_spine.links == 2),
       kManyLeaves},
      {"cluster.scale_out.spine_core.bandwidth",
       kTransformer,
       {"cluster.scale_out.spine_core.bandwidth=400 Gb/s"},
       TRAINGRAPH_HOLDS(clos(s).spine_core.bandwidth == Bandwidth::gbit_per_s(400)),
       {"cluster.scale_out.tiers=3", "cluster.scale_out.nodes_per_unit=1", "cluster.scale_out.units_per_pod=2",
        "cluster.scale_out.leaf_spine.links=1", "cluster.scale_out.cores=8", "cluster.scale_out.core_groups=4"}},
      {"cluster.scale_out.spine_core.latency",
       kTransformer,
       {"cluster.scale_out.spine_core.latency=7 ns"},
       TRAINGRAPH_HOLDS(clos(s).spine_core.latency == Duration::ps(7000)),
       kPods},
      {"cluster.scale_out.spine_core.oversubscription",
       kTransformer,
       {"cluster.scale_out.spine_core.oversubscription=2"},
       TRAINGRAPH_HOLDS(clos(s).spine_core.oversubscription == 2.0),
       kPods},
      {"cluster.scale_out.spine_core.links",
       kTransformer,
       {"cluster.scale_out.spine_core.links=2"},
       TRAINGRAPH_HOLDS(clos(s).spine_core.links == 2),
       kPods},
      {"cluster.scale_out.in_network_reduction",
       kTransformer,
       {"cluster.scale_out.in_network_reduction=true"},
       TRAINGRAPH_HOLDS(clos(s).in_network_reduction),
       {"workload={kind: collective, collective: all_reduce, algorithm: in_switch, bytes: 1 MiB}",
        "cluster.node.scale_up={kind: none}"},
       SeenIn::acceptance},
      {"cluster.scale_out.dims",
       kTorus,
       {"cluster.scale_out.dims=[2, 2, 3]"},
       TRAINGRAPH_HOLDS(torus(s).dims == std::vector<std::uint32_t>({2, 2, 3}))},
      {"cluster.scale_out.wrap",
       kTorus,
       {"cluster.scale_out.wrap=[true, false]"},
       TRAINGRAPH_HOLDS(torus(s).wrap == std::vector<bool>({true, false}))},
      {"cluster.scale_out.link.bandwidth",
       kTorus,
       {"cluster.scale_out.link.bandwidth=90 GB/s"},
       TRAINGRAPH_HOLDS(torus(s).link.bandwidth == Bandwidth::bytes_per_s(90e9))},
      {"cluster.scale_out.link.latency",
       kTorus,
       {"cluster.scale_out.link.latency=7 ns"},
       TRAINGRAPH_HOLDS(torus(s).link.latency == Duration::ps(7000))},
      {"cluster.scale_out.wrap", kRing, {"cluster.scale_out.wrap=false"}, TRAINGRAPH_HOLDS(!ring(s).wrap)},
      {"cluster.scale_out.link.bandwidth",
       kRing,
       {"cluster.scale_out.link.bandwidth=90 GB/s"},
       TRAINGRAPH_HOLDS(ring(s).link.bandwidth == Bandwidth::bytes_per_s(90e9))},
      {"cluster.scale_out.link.latency",
       kRing,
       {"cluster.scale_out.link.latency=7 ns"},
       TRAINGRAPH_HOLDS(ring(s).link.latency == Duration::ps(7000))},
      {"cluster.scale_out.link.bandwidth",
       kFull,
       {"cluster.scale_out.link.bandwidth=90 GB/s"},
       TRAINGRAPH_HOLDS(full(s).link.bandwidth == Bandwidth::bytes_per_s(90e9))},
      {"cluster.scale_out.link.latency",
       kFull,
       {"cluster.scale_out.link.latency=7 ns"},
       TRAINGRAPH_HOLDS(full(s).link.latency == Duration::ps(7000))},
      {"cluster.scale_out.groups", kDragonfly, {"cluster.scale_out.groups=5"}, TRAINGRAPH_HOLDS(dragonfly(s).groups == 5)},
      {"cluster.scale_out.routers_per_group",
       kDragonfly,
       {"cluster.scale_out.routers_per_group=8"},
       TRAINGRAPH_HOLDS(dragonfly(s).routers_per_group == 8)},
      {"cluster.scale_out.hosts_per_router",
       kDragonfly,
       {"cluster.scale_out.hosts_per_router=3"},
       TRAINGRAPH_HOLDS(dragonfly(s).hosts_per_router == 3)},
      {"cluster.scale_out.global_links_per_router",
       kDragonfly,
       {"cluster.scale_out.global_links_per_router=4"},
       TRAINGRAPH_HOLDS(dragonfly(s).global_links_per_router == 4)},
      {"cluster.scale_out.local_links",
       kDragonfly,
       {"cluster.scale_out.local_links=2"},
       TRAINGRAPH_HOLDS(dragonfly(s).local_links == 2)},
      {"cluster.scale_out.global_links_per_pair",
       kDragonfly,
       {"cluster.scale_out.global_links_per_pair=1"},
       TRAINGRAPH_HOLDS(dragonfly(s).global_links_per_pair == 1),
       {"cluster.scale_out.groups=5"}},
      {"cluster.scale_out.local.bandwidth",
       kDragonfly,
       {"cluster.scale_out.local.bandwidth=5 GB/s"},
       TRAINGRAPH_HOLDS(dragonfly(s).local.bandwidth == Bandwidth::bytes_per_s(5e9))},
      {"cluster.scale_out.local.latency",
       kDragonfly,
       {"cluster.scale_out.local.latency=7 ns"},
       TRAINGRAPH_HOLDS(dragonfly(s).local.latency == Duration::ps(7000))},
      {"cluster.scale_out.global.bandwidth",
       kDragonfly,
       {"cluster.scale_out.global.bandwidth=5 GB/s"},
       TRAINGRAPH_HOLDS(dragonfly(s).global.bandwidth == Bandwidth::bytes_per_s(5e9))},
      {"cluster.scale_out.global.latency",
       kDragonfly,
       {"cluster.scale_out.global.latency=7 ns"},
       TRAINGRAPH_HOLDS(dragonfly(s).global.latency == Duration::ps(7000))},
      {"cluster.scale_out.devices[].name",
       kCustom,
       {"cluster.scale_out.devices[0].name=first", "cluster.scale_out.links[0].source=first"},
       TRAINGRAPH_HOLDS(device(s).name == "first")},
      {"cluster.scale_out.devices[].kind",
       kCustom,
       {"cluster.scale_out.devices[0].kind=host"},
       TRAINGRAPH_HOLDS(device(s).kind == topology::DeviceKind::host)},
      {"cluster.scale_out.devices[].domain",
       kCustom,
       {"cluster.scale_out.devices[0].domain=3"},
       TRAINGRAPH_HOLDS(device(s).domain == 3)},
      {"cluster.scale_out.devices[].node",
       kCustom,
       {"cluster.scale_out.devices[0].node=3"},
       TRAINGRAPH_HOLDS(device(s).node == 3)},
      {"cluster.scale_out.devices[].rack",
       kCustom,
       {"cluster.scale_out.devices[0].rack=3"},
       TRAINGRAPH_HOLDS(device(s).rack == 3),
       pairs("rack")},
      {"cluster.scale_out.devices[].pod",
       kCustom,
       {"cluster.scale_out.devices[0].pod=3"},
       TRAINGRAPH_HOLDS(device(s).pod == 3),
       pairs("pod")},
      {"cluster.scale_out.devices[].rail",
       kCustom,
       {"cluster.scale_out.devices[0].rail=3"},
       TRAINGRAPH_HOLDS(device(s).rail == 3),
       {},
       SeenIn::topology},
      {"cluster.scale_out.links[].source",
       kCustom,
       {"cluster.scale_out.links[0].source=gpu1"},
       TRAINGRAPH_HOLDS(link(s).source == "gpu1"),
       kTriangle},
      {"cluster.scale_out.links[].target",
       kCustom,
       {"cluster.scale_out.links[0].target=gpu1"},
       TRAINGRAPH_HOLDS(link(s).target == "gpu1"),
       kTriangle},
      {"cluster.scale_out.links[].bandwidth",
       kCustom,
       {"cluster.scale_out.links[0].bandwidth=5 GB/s"},
       TRAINGRAPH_HOLDS(link(s).bandwidth == Bandwidth::bytes_per_s(5e9))},
      {"cluster.scale_out.links[].latency",
       kCustom,
       {"cluster.scale_out.links[0].latency=7 ns"},
       TRAINGRAPH_HOLDS(link(s).latency == Duration::ps(7000))},
      {"cluster.scale_out.links[].half_duplex",
       kCustom,
       {"cluster.scale_out.links[0].half_duplex=true"},
       TRAINGRAPH_HOLDS(link(s).half_duplex)},
      {"cluster.scale_out.links[].one_way",
       kCustom,
       {"cluster.scale_out.links[0].one_way=true"},
       TRAINGRAPH_HOLDS(link(s).one_way),
       kTriangle},
      {"cluster.scale_out.links[].parallel",
       kCustom,
       {"cluster.scale_out.links[0].parallel=3"},
       TRAINGRAPH_HOLDS(link(s).parallel == 3)},
      {"cluster.scale_out.links[].tier",
       kCustom,
       {"cluster.scale_out.links[0].tier=nic"},
       TRAINGRAPH_HOLDS(link(s).tier == topology::Tier::nic)},
      {"cluster.scale_out.gpus_forward",
       kCustom,
       {"cluster.scale_out.gpus_forward=false"},
       TRAINGRAPH_HOLDS(!custom(s).gpus_forward),
       kLongWayRound},
      {"cluster.scale_out.overhead",
       kCustom,
       {"cluster.scale_out.overhead=7 ns"},
       TRAINGRAPH_HOLDS(custom(s).overhead == Duration::ps(7000))},
  };
}

}  // namespace traingraph::scenarios::test
