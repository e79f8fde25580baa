#include <variant>

#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios::test {

namespace {

using sim::Bandwidth;
using sim::Duration;
using topology::RoutingPolicy;

const topology::NvSwitch& nvswitch(const Scenario& s) { return std::get<topology::NvSwitch>(s.cluster.scale_up); }
const topology::FullMesh* mesh(const Scenario& s) { return std::get_if<topology::FullMesh>(&s.cluster.scale_up); }
const topology::HybridCubeMesh* cube(const Scenario& s) {
  return std::get_if<topology::HybridCubeMesh>(&s.cluster.scale_up);
}
const topology::RoutingSpec& routing(const Scenario& s) { return s.cluster.routing; }

const char* const kMesh = R"(name: base
cluster:
  node:
    gpus: 8
    scale_up: {kind: full_mesh, gpus: 8, bandwidth: 300 GB/s, latency: 25 ns}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
const char* const kCube = R"(name: base
cluster:
  node:
    gpus: 8
    scale_up: {kind: hybrid_cube_mesh, link_bandwidth: 25 GB/s, latency: 25 ns}
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";
/// One message, two links along the first dimension and one along the second: three shortest paths, two orders.
const char* const kTorus = R"(name: base
cluster:
  nodes: 25
  node: {gpus: 1}
  scale_out: {kind: torus, dims: [5, 5], link: {bandwidth: 45 GB/s, latency: 1 us}}
workload: {kind: collective, collective: all_to_all_v, matrix: [{source: 0, destination: 7, bytes: 1 MB}]}
)";
/// Two ways between any two of three GPUs.
const char* const kExplicit = R"(name: base
cluster:
  scale_out:
    kind: custom
    gpus_forward: false
    devices: [{name: gpu0}, {name: gpu1}, {name: gpu2}, {name: near, kind: switch}, {name: far, kind: switch}]
    links:
      - {source: gpu0, target: near, bandwidth: 50 GB/s, latency: 1 us}
      - {source: gpu1, target: near, bandwidth: 50 GB/s, latency: 1 us}
      - {source: gpu2, target: near, bandwidth: 50 GB/s, latency: 1 us}
      - {source: gpu0, target: far, bandwidth: 10 GB/s, latency: 5 us}
      - {source: gpu1, target: far, bandwidth: 10 GB/s, latency: 5 us}
      - {source: gpu2, target: far, bandwidth: 10 GB/s, latency: 5 us}
  routing:
    policy: explicit
    otherwise: static
    paths: [{source: 0, destination: 1, devices: [gpu0, near, gpu1]}]
workload: {kind: collective, collective: all_reduce, bytes: 1 MiB}
)";

}  // namespace

std::vector<SchemaCase> cluster_cases() {
  return {
      {"name", kTransformer, {"name=other"}, TRAINGRAPH_HOLDS(s.name == "other"), {}, SeenIn::effective_scenario},
      {"cluster",
       kTransformer,
       {"cluster=dgx_h100_superpod", "cluster.nodes=4"},
       TRAINGRAPH_HOLDS(s.cluster.name == "DGX H100 SuperPOD, with nodes=4")},
      {"cluster.name", kTransformer, {"cluster.name=mine"}, TRAINGRAPH_HOLDS(s.cluster.name == "mine")},
      {"cluster.nodes", kTransformer, {"cluster.nodes=8", "workload.parallel.dp=4"}, TRAINGRAPH_HOLDS(s.cluster.nodes == 8)},
      {"cluster.nodes_per_rack",
       kTransformer,
       {"cluster.nodes_per_rack=2"},
       TRAINGRAPH_HOLDS(s.cluster.nodes_per_rack == 2)},
      {"cluster.node",
       kTransformer,
       {"cluster.node=dgx_a100"},
       TRAINGRAPH_HOLDS(nvswitch(s).bandwidth == Bandwidth::bytes_per_s(240e9))},
      {"cluster.node.gpus",
       kTransformer,
       {"cluster.node.gpus=16", "workload.parallel.dp=4"},
       TRAINGRAPH_HOLDS(s.cluster.gpus_per_node == 16)},
      {"cluster.node.scale_up.kind",
       kTransformer,
       {"cluster.node.scale_up={kind: none}"},
       TRAINGRAPH_HOLDS(std::holds_alternative<topology::NoScaleUp>(s.cluster.scale_up))},
      {"cluster.node.scale_up.gpus",
       kTransformer,
       {"cluster.node.scale_up.gpus=4"},
       TRAINGRAPH_HOLDS(nvswitch(s).gpus == 4)},
      {"cluster.node.scale_up.planes",
       kTransformer,
       {"cluster.node.scale_up.planes=6"},
       TRAINGRAPH_HOLDS(nvswitch(s).planes == 6)},
      {"cluster.node.scale_up.bandwidth",
       kTransformer,
       {"cluster.node.scale_up.bandwidth=1 GB/s"},
       TRAINGRAPH_HOLDS(nvswitch(s).bandwidth == Bandwidth::bytes_per_s(1e9))},
      {"cluster.node.scale_up.latency",
       kTransformer,
       {"cluster.node.scale_up.latency=3 ns"},
       TRAINGRAPH_HOLDS(nvswitch(s).latency == Duration::ps(3000))},
      {"cluster.node.scale_up.overhead",
       kTransformer,
       {"cluster.node.scale_up.overhead=3 ns"},
       TRAINGRAPH_HOLDS(nvswitch(s).overhead == Duration::ps(3000))},
      {"cluster.node.scale_up.in_switch_reduction",
       kTransformer,
       {"cluster.node.scale_up.in_switch_reduction=true"},
       TRAINGRAPH_HOLDS(nvswitch(s).in_switch_reduction),
       {"workload.algorithms.tp_all_reduce=in_switch"},
       SeenIn::acceptance},
      {"cluster.node.scale_up.gpus",
       kMesh,
       {"cluster.node.scale_up.gpus=4"},
       TRAINGRAPH_HOLDS(mesh(s)->gpus == 4),
       {"cluster.scale_out={kind: single_switch}", "cluster.node.nic={bandwidth: 50 GB/s}"}},
      {"cluster.node.scale_up.bandwidth",
       kMesh,
       {"cluster.node.scale_up.bandwidth=1 GB/s"},
       TRAINGRAPH_HOLDS(mesh(s)->bandwidth == Bandwidth::bytes_per_s(1e9))},
      {"cluster.node.scale_up.latency",
       kMesh,
       {"cluster.node.scale_up.latency=3 ns"},
       TRAINGRAPH_HOLDS(mesh(s)->latency == Duration::ps(3000))},
      {"cluster.node.scale_up.overhead",
       kMesh,
       {"cluster.node.scale_up.overhead=3 ns"},
       TRAINGRAPH_HOLDS(mesh(s)->overhead == Duration::ps(3000))},
      {"cluster.node.scale_up.link_bandwidth",
       kCube,
       {"cluster.node.scale_up.link_bandwidth=1 GB/s"},
       TRAINGRAPH_HOLDS(cube(s)->link_bandwidth == Bandwidth::bytes_per_s(1e9))},
      {"cluster.node.scale_up.latency",
       kCube,
       {"cluster.node.scale_up.latency=3 ns"},
       TRAINGRAPH_HOLDS(cube(s)->latency == Duration::ps(3000))},
      {"cluster.node.scale_up.overhead",
       kCube,
       {"cluster.node.scale_up.overhead=3 ns"},
       TRAINGRAPH_HOLDS(cube(s)->overhead == Duration::ps(3000))},
      {"cluster.node.nic.per_node",
       kTransformer,
       {"cluster.node.nic.per_node=4"},
       TRAINGRAPH_HOLDS(s.cluster.nic.per_node == 4)},
      {"cluster.node.nic.bandwidth",
       kTransformer,
       {"cluster.node.nic.bandwidth=100 Gb/s"},
       TRAINGRAPH_HOLDS(s.cluster.nic.bandwidth == Bandwidth::gbit_per_s(100))},
      {"cluster.node.nic.latency",
       kTransformer,
       {"cluster.node.nic.latency=3 ns"},
       TRAINGRAPH_HOLDS(s.cluster.nic.latency == Duration::ps(3000))},
      {"cluster.node.nic.pcie.bandwidth",
       kTransformer,
       {"cluster.node.nic.pcie.bandwidth=10 GB/s"},
       TRAINGRAPH_HOLDS(s.cluster.nic.pcie && s.cluster.nic.pcie->bandwidth == Bandwidth::bytes_per_s(10e9)),
       {"cluster.node.nic.pcie={bandwidth: 30 GB/s, latency: 3 ns}"}},
      {"cluster.node.nic.pcie.latency",
       kTransformer,
       {"cluster.node.nic.pcie.latency=4 ns"},
       TRAINGRAPH_HOLDS(s.cluster.nic.pcie && s.cluster.nic.pcie->latency == Duration::ps(4000)),
       {"cluster.node.nic.pcie={bandwidth: 30 GB/s, latency: 3 ns}"}},
      {"cluster.node.nic.overhead",
       kTransformer,
       {"cluster.node.nic.overhead=3 ns"},
       TRAINGRAPH_HOLDS(s.cluster.nic.overhead == Duration::ps(3000))},
      {"cluster.routing.policy",
       kLeaves,
       {"cluster.routing.policy=ecmp"},
       TRAINGRAPH_HOLDS(routing(s).policy == RoutingPolicy::ecmp)},
      {"cluster.routing.seed",
       kLeaves,
       {"cluster.routing.seed=42"},
       TRAINGRAPH_HOLDS(routing(s).seed == 42),
       {"cluster.routing.policy=ecmp"}},
      {"cluster.routing.queue_pairs",
       kLeaves,
       {"cluster.routing.queue_pairs=4"},
       TRAINGRAPH_HOLDS(routing(s).queue_pairs == 4),
       {"cluster.routing.policy=ecmp"}},
      {"cluster.routing.pxn",
       kLeaves,
       {"cluster.routing.pxn=true"},
       TRAINGRAPH_HOLDS(routing(s).pxn),
       {"cluster.scale_out.wiring=rail_optimized", "cluster.scale_out.nodes_per_unit=2"}},
      {"cluster.routing.torus_spray",
       kTorus,
       {"cluster.routing.torus_spray=dimension_orders"},
       TRAINGRAPH_HOLDS(routing(s).torus_spray == topology::TorusSpray::dimension_orders),
       {"cluster.routing.policy=spray"}},
      {"cluster.routing.listed_routes",
       kLeaves,
       {"cluster.routing.listed_routes=1"},
       TRAINGRAPH_HOLDS(routing(s).listed_routes == 1),
       {"cluster.routing.policy=spray", "run.network=chunk"},
       SeenIn::acceptance},
      {"cluster.routing.paths[].source",
       kExplicit,
       {"cluster.routing.paths[0]={source: 2, destination: 1, devices: [gpu2, near, gpu1]}"},
       TRAINGRAPH_HOLDS(routing(s).explicit_paths[0].source == 2)},
      {"cluster.routing.paths[].destination",
       kExplicit,
       {"cluster.routing.paths[0]={source: 0, destination: 2, devices: [gpu0, near, gpu2]}"},
       TRAINGRAPH_HOLDS(routing(s).explicit_paths[0].destination == 2)},
      {"cluster.routing.paths[].devices",
       kExplicit,
       {"cluster.routing.paths[0].devices=[gpu0, far, gpu1]"},
       TRAINGRAPH_HOLDS(routing(s).explicit_paths[0].devices == std::vector<std::string>({"gpu0", "far", "gpu1"}))},
      {"cluster.routing.paths[].share",
       kExplicit,
       {"cluster.routing.paths[0].share=5"},
       TRAINGRAPH_HOLDS(routing(s).explicit_paths[0].share == 5),
       {"cluster.routing.paths=[{source: 0, destination: 1, devices: [gpu0, far, gpu1]}, {source: 0, destination: 1, "
        "devices: [gpu0, near, gpu1]}]"}},
      {"cluster.routing.otherwise",
       kExplicit,
       {"cluster.routing.otherwise=spray"},
       TRAINGRAPH_HOLDS(routing(s).otherwise == RoutingPolicy::spray)},
  };
}

}  // namespace traingraph::scenarios::test
