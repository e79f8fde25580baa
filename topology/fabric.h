// Fabric: a cluster as a graph of devices and directed links.
//
// The graph is a Boost compressed_sparse_row_graph: vertices are devices (GPU, NVSwitch, NIC, leaf, spine, core, host or PCIe
// switch), edges are directed links. Everything known about a device or a link lives outside the graph, in tables indexed by
// id. Built once by a builder (FabricBuilder), then frozen.
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

namespace traingraph::topology {

enum class DeviceKind : std::uint8_t { gpu, nvswitch, nic, pcie_switch, host, leaf, spine, core, switch_ };
[[nodiscard]] std::string to_string(DeviceKind kind);

/// What a link is for; the tables of results group by it.
enum class Tier : std::uint8_t { scale_up, pcie, nic, leaf_spine, spine_core, torus, global, other };
[[nodiscard]] std::string to_string(Tier tier);

enum class DeviceId : std::uint32_t {};

struct Device {
  DeviceKind kind{};
  std::string name;          ///< unique: "node3.gpu5", "leaf12", ...
  std::int32_t domain = -1;  ///< scale-up domain
  std::int32_t node = -1;    ///< server (several may form one domain)
  std::int32_t rack = -1;
  std::int32_t pod = -1;
  std::int32_t rail = -1;
};

struct LinkInfo {
  DeviceId source{};
  DeviceId target{};
  Tier tier{};
  std::string name;  ///< unique: "node3.gpu5>nvswitch0"
};

struct EdgeProperty {
  sim::LinkId link{};
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeProperty, boost::no_property,
                                                 std::uint32_t, std::uint32_t>;

/// A set of devices whose boundary is a known cut of the fabric ("node 3", "pod 1", "rail 0", "bisection"): lower bounds use it.
struct Cut {
  std::string name;
  std::string kind;               ///< node, rack, pod, domain, bisection
  std::vector<bool> inside;       ///< by endpoint: true when the endpoint is inside
  sim::Bandwidth capacity_out;    ///< summed capacity of links that leave the set
  sim::Bandwidth capacity_in;
};

struct Fabric {
  std::string name;
  Graph graph;
  sim::IdVector<DeviceId, Device> devices;
  sim::LinkTable links;                           ///< what the engine sees
  sim::IdVector<sim::LinkId, LinkInfo> link_info; ///< what people see
  sim::IdVector<sim::EndpointId, DeviceId> endpoints;  ///< GPU e's device
  std::uint32_t gpus_per_domain = 1;              ///< of a regular cluster; domains may differ in custom fabrics
  std::vector<Cut> cuts;

  [[nodiscard]] std::uint32_t gpus() const { return static_cast<std::uint32_t>(endpoints.size()); }
  [[nodiscard]] std::int32_t domain_of(sim::EndpointId e) const { return devices[endpoints[e]].domain; }
};

}  // namespace traingraph::topology
