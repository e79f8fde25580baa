// Fabric: a cluster as a graph of devices and directed links.
//
// The graph is a Boost compressed_sparse_row_graph: vertices are devices (GPU, NVSwitch, NIC, leaf, spine, core, host or
// PCIe switch), edges are directed links. Everything known about a device or a link lives outside the graph, in tables
// indexed by id. Built once by a builder (FabricBuilder), then frozen.
//
// Numbering: GPUs are numbered by scale-up domain, then by rail: endpoint e is GPU e, domain e / gpus_per_domain, rail
// e % gpus_per_domain for regular clusters. LinkId numbers links; two edges share one LinkId only in a half-duplex cable.
// Units: capacity bytes/s of one direction, latency of one link.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/ids.h"
#include "sim/link.h"
#include "topology/kinds.h"

namespace traingraph::topology {

enum class DeviceId : std::uint32_t {};

struct Device {
  DeviceKind kind{};
  std::string name;          ///< unique: "node3.gpu5", "leaf12", ...
  std::int32_t domain = -1;  ///< scale-up domain
  std::int32_t node = -1;    ///< server (several may form one domain)
  std::int32_t rack = -1;
  std::int32_t unit = -1;  ///< nodes below the same leaves (scalable unit)
  std::int32_t pod = -1;   ///< units below the same spines; a dragonfly's group
  std::int32_t rail = -1;
};

struct LinkInfo {
  DeviceId source{};
  DeviceId target{};
  Tier tier{};
  std::string name;          ///< unique: "node3.gpu5>nvswitch0", "leaf1>spine2#3" for the fourth of parallel links
  std::uint32_t cables = 1;  ///< physical links that this one stands for (equal parallel links, always used evenly)
  bool half_duplex = false;  ///< also the link from target to source: one capacity for both directions
};

struct EdgeProperty {
  sim::LinkId link{};
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeProperty, boost::no_property,
                                                 std::uint32_t, std::uint32_t>;

/// GPUs first, first + stride, ..., `count` of them.
struct EndpointRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t stride = 1;
};

/// A set of GPUs (with the devices that belong to them) whose boundary is a known cut of the fabric ("node 3", "pod 1",
/// "bisection"). No schedule moves more than capacity_out bytes per second from GPUs inside to GPUs outside, nor more than
/// capacity_in back: lower bounds use it. A half-duplex link on the boundary counts fully in both.
/// Kinds: node, domain, rack, unit, pod, bisection. A set that holds no or all GPUs is left out, and so is one that has the
/// same GPUs and capacities as an earlier kind's.
struct Cut {
  std::string name;
  std::string kind;
  std::vector<EndpointRange> inside;  ///< disjoint, ascending by first; one range for all but strided bisections
  sim::Bandwidth capacity_out;        ///< summed capacity of links that leave the set
  sim::Bandwidth capacity_in;         ///< summed capacity of links that enter it

  [[nodiscard]] bool contains(sim::EndpointId e) const;
  [[nodiscard]] std::uint32_t size() const;  ///< GPUs inside
};

struct Fabric {
  std::string name;
  Graph graph;
  sim::IdVector<DeviceId, Device> devices;
  sim::LinkTable links;                                ///< what the engine sees
  sim::IdVector<sim::LinkId, LinkInfo> link_info;      ///< what people see
  sim::IdVector<sim::EndpointId, DeviceId> endpoints;  ///< GPU e's device
  std::uint32_t gpus_per_domain = 1;                   ///< of a regular cluster; domains may differ in custom fabrics
  bool gpus_forward = false;                           ///< a path may lead through a GPU (torus, cube mesh, custom)
  std::vector<Cut> cuts;                               ///< O(nodes) in number; grouped by kind, ascending

  [[nodiscard]] std::uint32_t gpus() const { return static_cast<std::uint32_t>(endpoints.size()); }
  [[nodiscard]] std::int32_t domain_of(sim::EndpointId e) const { return devices[endpoints[e]].domain; }
};

}  // namespace traingraph::topology
