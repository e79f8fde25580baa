// ClusterSpec: a cluster in plain values, as a scenario describes it; topology/build.h turns it into a Fabric and
// topology/routing.h into a router. A cluster is
//
//     nodes x GPUs per node, inside them a scale-up network, between them NICs and a scale-out network, and routing rules.
//
// Any scale_up goes with any scale_out. Every bandwidth is of one direction, every latency of one link (cable plus the
// switch behind it); both directions of a cable are equal. A count of 0 means "derive it" where the comment says how. What
// does not fit together is an InputError from build(), which names the field, what was found and what is allowed.
//
// Numbering: GPU e is on node e / gpus_per_node; nodes fill scale-up domains, racks, units and pods in order, the last of
// each may be partly filled ("leftover").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/units.h"
#include "topology/kinds.h"

namespace traingraph::topology {

/// Speed of one link in one direction.
struct LinkSpec {
  sim::Bandwidth bandwidth{};  ///< bytes/s, one direction
  sim::Duration latency{};     ///< propagation over the link and through the device behind it
};

// ---------------------------------------------------------------------------------------------------------- scale-up

/// No network inside a node: each GPU is its own domain, and GPUs of one node meet on the scale-out network.
struct NoScaleUp {};

/// `planes` switches per domain; every GPU has one link to each of them, over which each transfer is spread evenly.
struct NvSwitch {
  std::uint32_t gpus = 8;            ///< GPUs per domain: a divisor of gpus_per_node, or a multiple (72 = 18 nodes x 4)
  std::uint32_t planes = 1;          ///< switches (chips) per domain: 4 in a DGX H100, 18 in a GB200 NVL72
  sim::Bandwidth bandwidth{};        ///< per GPU and direction, all planes together
  sim::Duration latency{};           ///< one link, GPU to switch or switch to GPU (a transfer crosses two)
  sim::Duration overhead{};          ///< software start-up of one transfer inside the domain
  bool in_switch_reduction = false;  ///< the switches can reduce and multicast (NVLS)
};

/// Every GPU is linked to every other of its domain; no switch.
struct FullMesh {
  std::uint32_t gpus = 8;      ///< GPUs per domain, as for NvSwitch; at least 2; every domain full
  sim::Bandwidth bandwidth{};  ///< per GPU and direction, split evenly over its gpus - 1 peers
  sim::Duration latency{};     ///< one link, GPU to GPU
  sim::Duration overhead{};    ///< software start-up of one transfer inside the domain
};

/// The DGX-1 (V100) hybrid cube mesh: 8 GPUs with 6 links each; a pair is joined by 2, 1 or no links. Pairs without a link
/// meet over one GPU between them.
struct HybridCubeMesh {
  sim::Bandwidth link_bandwidth{};  ///< one of the 6 links, one direction
  sim::Duration latency{};          ///< one link, GPU to GPU
  sim::Duration overhead{};         ///< software start-up of one transfer inside the domain
};

using ScaleUp = std::variant<NoScaleUp, NvSwitch, FullMesh, HybridCubeMesh>;

// --------------------------------------------------------------------------------------------------------------- NICs

/// How a node reaches a switched scale-out network. Direct networks (torus, ring, fully connected) use only `overhead`,
/// custom ones nothing.
///
/// per_node = gpus_per_node / k: k neighbouring GPUs share a NIC. per_node = m * gpus_per_node: each GPU spreads its
/// transfers evenly over its m NICs. NIC i of a node talks to NIC i of the other (rail affinity) when GPUs have several. A
/// NIC is a device of its own when a PCIe link is given or GPUs share it; else GPU and NIC are one device, which gives the
/// same times with two links less on every path.
struct NicSpec {
  std::uint32_t per_node = 0;      ///< NICs per node; 0: one per GPU
  sim::Bandwidth bandwidth{};      ///< per NIC and direction, all its ports together
  sim::Duration latency{};         ///< the cable from NIC to leaf (or router), each way
  std::optional<LinkSpec> pcie{};  ///< link between a GPU and each of its NICs; none: never the limit, no latency
  sim::Duration overhead{};        ///< software start-up of one transfer over the scale-out network
};

// ---------------------------------------------------------------------------------------------------------- scale-out

/// One domain only; pairs of GPUs in different domains are unreachable.
struct NoScaleOut {};

/// One non-blocking switch for all NICs.
struct SingleSwitch {
  bool in_network_reduction = false;  ///< the switch can reduce (SHARP class)
};

/// The links between two levels of switches. capacity down = what a switch of the lower level can receive from below.
/// Of {bandwidth, number of uplinks, oversubscription} one follows from the others:
/// uplinks x bandwidth = capacity down / oversubscription.
struct TierSpec {
  /// One link; 0: as the links below (NIC port), or derived when uplinks and oversubscription are given.
  sim::Bandwidth bandwidth{};
  sim::Duration latency{};        ///< one link
  double oversubscription = 0.0;  ///< capacity down / capacity up; 0: derived, 1 when nothing tells
  std::uint32_t links = 0;        ///< parallel links between two switches that are joined; 0: derived, 1 when nothing tells
};

/// Leaves, spines, cores. A *unit* is a set of `nodes_per_unit` nodes below the same leaves:
///   fat_tree        one leaf per unit and NIC port; all NICs of a node go to it (a ToR when the unit is a rack);
///   rail_optimized  one leaf per unit, rail and NIC port: NIC i of a node goes to the leaf of rail i (scalable unit);
///   rail_only       as rail_optimized, but the rails are never joined: a transfer to another rail first goes over the
///   scale-up
///                   network to the GPU of that rail.
/// A *spine block* is a set of spines to which each of its leaves has `leaf_spine.links` links per spine. One pod has one
/// block, or one per rail (spine_blocks_per_rail), times one per plane (separate_planes). Cores join the blocks: the spines
/// of a block are dealt in order to core groups, and each spine is linked to every core of its group.
///
/// ports_per_nic = 2 gives dual-ToR (HPN, DCN+): port p goes to leaf p of the unit (of the rail), each port has
/// nic.bandwidth / 2; with separate_planes the leaves of port p meet only among themselves up to the cores (dual plane).
///
/// switch_ports derives what is 0: nodes_per_unit such that a leaf's ports suffice at its oversubscription; spines as the
/// smallest number whose ports suffice and that divides a leaf's uplinks; units_per_pod as many as a spine's ports allow;
/// cores as few as their ports allow. Without switch_ports these fields must be given (units_per_pod: 0 = one pod).
struct Clos {
  enum class Wiring : std::uint8_t { fat_tree, rail_optimized, rail_only };

  Wiring wiring = Wiring::fat_tree;
  std::uint32_t tiers = 2;           ///< levels of switches: 1 (leaves only, one unit), 2 or 3
  std::uint32_t switch_ports = 0;    ///< ports of every switch, each of one link; 0: counts are given
  std::uint32_t nodes_per_unit = 0;  ///< nodes; 0: derived from switch_ports (tiers = 1: all nodes)
  std::uint32_t units_per_pod = 0;   ///< three tiers only
  std::uint32_t rails = 0;  ///< 0: NICs per node; more: NICs are counted along the domain (rail-only with big domains)
  std::uint32_t ports_per_nic = 1;  ///< 1 or 2 (any small number works)
  bool separate_planes = false;     ///< one network per NIC port
  /// One spine block per rail in each pod (cores join rails). Default: yes with three tiers of rail_optimized (as DGX
  /// SuperPOD), always in rail_only, never in fat_tree.
  std::optional<bool> spine_blocks_per_rail{};
  std::uint32_t spines_per_block = 0;  ///< spines; with two tiers, one plane and no per-rail blocks: all spines
  std::uint32_t cores = 0;             ///< cores in the whole cluster (three tiers)
  std::uint32_t core_groups = 0;       ///< core groups that a block's spines are dealt to; 0: derived. Given together with
                                       ///< cores it fixes the uplinks of a spine: cores of one group x spine_core.links
  TierSpec leaf_spine{};
  TierSpec spine_core{};
  bool in_network_reduction = false;  ///< switches can reduce (SHARP class): trees of switches
};

/// Domains (GPUs, when there is no scale-up) at the points of a grid; dims[0] varies fastest. With a scale-up network GPU j
/// of a domain is linked to GPU j of the neighbouring domains, and other pairs first go to the right GPU inside the domain.
struct Torus {
  std::vector<std::uint32_t> dims{};  ///< 1 to 4 sizes whose product is the number of domains
  std::vector<bool> wrap{};           ///< per dimension; empty: all. A dimension of 1 or 2 has no wrap link of its own.
  LinkSpec link{};
};

/// A torus of one dimension over all domains.
struct Ring {
  bool wrap = true;  ///< false: a line
  LinkSpec link{};
};

/// Each domain is linked to every other (GPU j to GPU j), links = domains squared.
struct FullyConnected {
  LinkSpec link{};  ///< of one pair
};

/// Groups of routers; inside a group every router is linked to every other, groups are linked pairwise. NIC i of the cluster
/// hangs on router i / hosts_per_router. The routers' global links are dealt evenly to the other groups, in cyclic order.
struct Dragonfly {
  std::uint32_t groups = 0;
  std::uint32_t routers_per_group = 0;
  std::uint32_t hosts_per_router = 0;  ///< NICs per router
  std::uint32_t global_links_per_router = 0;
  std::uint32_t local_links = 1;            ///< parallel links between two routers of a group
  std::uint32_t global_links_per_pair = 0;  ///< between two groups; 0: routers x global links / (groups - 1), rounded down
  LinkSpec local{};
  LinkSpec global{};
};

struct CustomDevice {
  std::string name{};  ///< unique
  DeviceKind kind = DeviceKind::gpu;
  std::int32_t domain = -1;  ///< labels for tables and cuts; -1: none (a GPU's domain then is its own)
  std::int32_t node = -1;
  std::int32_t rack = -1;
  std::int32_t pod = -1;
  std::int32_t rail = -1;
  bool reduces = false;  ///< a switch that can reduce and multicast for the devices linked to it (NVLS, SHARP)
};

struct CustomLink {
  std::string source{};  ///< device name
  std::string target{};  ///< device name
  sim::Bandwidth bandwidth{};
  sim::Duration latency{};
  bool half_duplex = false;    ///< both directions share one capacity
  bool one_way = false;        ///< only source to target
  std::uint32_t parallel = 1;  ///< so many equal cables
  Tier tier = Tier::other;
};

/// The whole cluster listed device by device. GPUs are numbered in the order of the list. scale_up must be NoScaleUp;
/// nodes, gpus_per_node and nic are not used.
struct Custom {
  std::vector<CustomDevice> devices{};
  std::vector<CustomLink> links{};
  bool gpus_forward = true;  ///< a path may lead through a GPU
  sim::Duration overhead{};  ///< software start-up of one transfer
};

using ScaleOut = std::variant<NoScaleOut, SingleSwitch, Clos, Torus, Ring, FullyConnected, Dragonfly, Custom>;

// ------------------------------------------------------------------------------------------------------------ routing

/// static_    one path, chosen by the destination (d-mod-k: uplink = destination's number on its rail mod uplinks)
/// ecmp       queue_pairs paths per transfer, each chosen by a seeded hash of source, destination, connection and queue pair
/// spray      even over all shortest paths between the NIC ports concerned
/// explicit_  the listed paths
enum class RoutingPolicy : std::uint8_t { static_, ecmp, spray, explicit_ };
[[nodiscard]] std::string to_string(RoutingPolicy policy);

/// One listed path. Several entries for one pair share its bytes in proportion to `share`.
struct ExplicitPath {
  std::uint32_t source = 0;       ///< GPU number
  std::uint32_t destination = 0;  ///< GPU number
  /// Devices in order, source and destination GPU included. "leaf3" takes the first of parallel links, "leaf3#1" the second.
  std::vector<std::string> devices{};
  std::uint32_t share = 1;  ///< weight among the paths of this pair
};

/// spray on a torus: over all minimal paths (fractions are exact; an error when a fraction's terms exceed 32 bits), or over
/// one path per order of the dimensions (and per direction where both ways round are equally long).
enum class TorusSpray : std::uint8_t { minimal_paths, dimension_orders };

struct RoutingSpec {
  RoutingPolicy policy = RoutingPolicy::spray;
  std::uint64_t seed = 0;         ///< ecmp
  std::uint32_t queue_pairs = 1;  ///< ecmp: hashed paths per transfer and NIC
  bool pxn = false;  ///< rail-wired fabrics: go inside the node to the GPU whose NIC is on the destination's rail
  TorusSpray torus_spray = TorusSpray::minimal_paths;
  std::vector<ExplicitPath> explicit_paths{};
  std::optional<RoutingPolicy>
      otherwise;  ///< explicit_: policy of pairs without a listed path; none: an error naming the pair
  /// Paths of at most so many routes list them (Path::routes), which the chunk model needs; others, and all when 0, list
  /// none.
  std::uint32_t listed_routes = 64;
};

// ------------------------------------------------------------------------------------------------------------ cluster

struct ClusterSpec {
  std::string name{};       ///< for people
  std::uint32_t nodes = 1;  ///< servers
  std::uint32_t gpus_per_node = 8;
  std::uint32_t nodes_per_rack =
      0;  ///< a label for tables and cuts; 0: one domain when it spans nodes, one unit of a fat tree, else none
  ScaleUp scale_up = NoScaleUp{};
  NicSpec nic{};
  ScaleOut scale_out = NoScaleOut{};
  RoutingSpec routing{};
};

}  // namespace traingraph::topology
