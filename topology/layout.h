// Layout: the counts behind a regular cluster, every 0 of ClusterSpec filled in, and the numbering of its devices and links.
//
// The builder creates devices and links in this numbering and the router finds them by it, so a path is a few
// multiplications and no table. A cable is two consecutive LinkIds: the even offset is the direction away from the GPU
// (gpu>nic, nic>leaf, leaf>spine, spine>core) or in growing order (torus, dragonfly), the odd one the way back.
//
// Devices, in order: GPUs, NVSwitches, NICs, then leaves, spines, cores (or routers). Links, in order: scale-up, PCIe, NIC,
// then leaf-spine, spine-core (or direct links, or local and global ones).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/ids.h"
#include "topology/cluster_spec.h"
#include "topology/fabric.h"

namespace traingraph::topology {

/// Leaves, spines and cores (Clos and single switch). See Clos for the words.
struct ClosShape {
  std::uint32_t tiers = 1;
  bool rail_aligned = false;
  std::uint32_t rails = 1;
  std::uint32_t ports = 1;  ///< per NIC
  std::uint32_t nodes_per_unit = 1, units = 1;
  std::uint32_t leaves_per_unit = 1;
  std::uint32_t nics_per_leaf = 1;  ///< NIC ports below a leaf of a full unit
  std::uint32_t units_per_pod = 1, pods = 1;
  std::uint32_t planes = 1;       ///< networks that NIC ports are separated into
  std::uint32_t rail_blocks = 1;  ///< spine blocks per pod and plane
  bool rails_isolated = false;    ///< cores do not join rails either
  std::uint32_t spines_per_block = 0;
  std::uint32_t leaf_spine_links = 1;  ///< cables between a leaf and a spine
  std::uint32_t core_groups = 1, cores_per_group = 0;
  std::uint32_t spine_core_links = 1;
  bool bundled = true;                   ///< parallel cables are one Link
  LinkSpec nic, leaf_spine, spine_core;  ///< one cable

  [[nodiscard]] std::uint32_t leaves() const { return units * leaves_per_unit; }
  [[nodiscard]] std::uint32_t classes() const { return planes * rail_blocks; }  ///< spine blocks per pod
  [[nodiscard]] std::uint32_t blocks() const { return tiers >= 2 ? pods * classes() : 0; }
  [[nodiscard]] std::uint32_t spines() const { return blocks() * spines_per_block; }
  [[nodiscard]] std::uint32_t core_sets() const { return rails_isolated ? classes() : planes; }
  [[nodiscard]] std::uint32_t cores_per_set() const { return core_groups * cores_per_group; }
  [[nodiscard]] std::uint32_t cores() const { return tiers == 3 ? core_sets() * cores_per_set() : 0; }
  [[nodiscard]] std::uint32_t spines_per_core_group() const { return spines_per_block / core_groups; }
  [[nodiscard]] std::uint32_t leaf_spine_copies() const { return bundled ? 1 : leaf_spine_links; }
  [[nodiscard]] std::uint32_t spine_core_copies() const { return bundled ? 1 : spine_core_links; }

  [[nodiscard]] std::uint32_t leaf(std::uint32_t unit, std::uint32_t rail, std::uint32_t port) const {
    return unit * leaves_per_unit + (rail_aligned ? rail * ports + port : port);
  }
  [[nodiscard]] std::uint32_t rail_of_leaf(std::uint32_t leaf) const {
    return rail_aligned ? leaf % leaves_per_unit / ports : 0;
  }
  [[nodiscard]] std::uint32_t port_of_leaf(std::uint32_t leaf) const { return leaf % ports; }
  [[nodiscard]] std::uint32_t class_of(std::uint32_t rail, std::uint32_t port) const {
    return (planes > 1 ? port : 0) * rail_blocks + (rail_blocks > 1 ? rail : 0);
  }
  [[nodiscard]] std::uint32_t block_of_leaf(std::uint32_t leaf) const {
    return leaf / leaves_per_unit / units_per_pod * classes() + class_of(rail_of_leaf(leaf), port_of_leaf(leaf));
  }
  [[nodiscard]] std::uint32_t core_set_of_block(std::uint32_t block) const {
    const std::uint32_t cls = block % classes();
    return rails_isolated ? cls : cls / rail_blocks;
  }
};

/// Direct links between domains: torus and ring, or all pairs.
struct DirectShape {
  bool all_pairs = false;
  std::uint32_t points = 1;         ///< domains
  std::vector<std::uint32_t> dims;  ///< torus only
  std::vector<bool> wraps;          ///< a wrap link of its own exists (false for sizes 1 and 2)
  LinkSpec link;

  [[nodiscard]] std::uint32_t cables_per_line(std::size_t dim) const { return wraps[dim] ? dims[dim] : dims[dim] - 1; }
  [[nodiscard]] std::uint64_t cables() const;  ///< per position of the domain
  /// The cable from point `p` to its neighbour in growing direction of `dim` (of the last point of a line: the wrap).
  [[nodiscard]] std::uint64_t torus_cable(std::uint32_t p, std::size_t dim) const;
  /// The cable of the pair a < b.
  [[nodiscard]] std::uint64_t pair_cable(std::uint32_t a, std::uint32_t b) const;
};

struct DragonflyShape {
  std::uint32_t groups = 1, routers = 1;  ///< routers per group
  std::uint32_t hosts = 1;                ///< NICs per router
  std::uint32_t pair_links = 0;           ///< global cables between two groups
  std::uint32_t local_links = 1;
  bool bundled = true;
  LinkSpec nic, local, global;

  [[nodiscard]] std::uint32_t local_copies() const { return bundled ? 1 : local_links; }
  [[nodiscard]] std::uint32_t local_pairs() const { return routers * (routers - 1) / 2; }  ///< per group
  /// Router (within group i) that holds cable `t` to group j. Slots are dealt in cyclic order of the other groups, one
  /// router after the other, so that every group looks the same.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t i, std::uint32_t j, std::uint32_t t) const {
    return ((j + groups - i - 1) % groups * pair_links + t) % routers;
  }
  [[nodiscard]] std::uint32_t local_pair(std::uint32_t a, std::uint32_t b) const;  ///< a < b, within a group
  [[nodiscard]] std::uint32_t global_cable(std::uint32_t i, std::uint32_t j, std::uint32_t t) const;  ///< i < j
};

enum class ScaleUpKind : std::uint8_t { none, nvswitch, full_mesh, cube_mesh };

struct Layout {
  std::uint32_t nodes = 1, gpus_per_node = 1, gpus = 1;
  ScaleUpKind scale_up = ScaleUpKind::none;
  std::uint32_t domain_gpus = 1, domains = 1;
  std::uint32_t domain_nodes = 1;  ///< nodes that a domain spans; 1 when it lies inside one
  std::uint32_t planes = 0;
  LinkSpec scale_up_link;  ///< one link of the scale-up network (one of a cube mesh's 6)

  bool has_nics = false, nic_devices = false;
  std::uint32_t nics_per_node = 0;
  std::uint32_t nics_per_gpu = 1, gpus_per_nic = 1;  ///< one of them is 1
  std::uint32_t ports = 1;
  LinkSpec pcie, nic_port;
  std::uint32_t nodes_per_rack = 0;

  std::optional<ClosShape> clos;
  std::optional<DirectShape> direct;
  std::optional<DragonflyShape> dragonfly;

  // first device and first link of each kind
  std::uint32_t nvswitch_device = 0, nic_device = 0, leaf_device = 0, spine_device = 0, core_device = 0, end_device = 0;
  std::uint64_t pcie_link = 0, nic_link = 0, first_net_link = 0, second_net_link = 0, end_link = 0;

  [[nodiscard]] std::uint32_t node(std::uint32_t gpu) const { return gpu / gpus_per_node; }
  [[nodiscard]] std::uint32_t domain(std::uint32_t gpu) const { return gpu / domain_gpus; }
  [[nodiscard]] std::uint32_t gpus_of_domain(std::uint32_t d) const {
    return d + 1 < domains ? domain_gpus : gpus - d * domain_gpus;
  }
  /// NIC `i` (of nics_per_gpu) of a GPU, numbered within its node.
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t gpu, std::uint32_t i) const {
    return gpu % gpus_per_node / gpus_per_nic * nics_per_gpu + i;
  }
  [[nodiscard]] std::uint32_t rail(std::uint32_t node, std::uint32_t nic) const;
  /// The number of a NIC among those of its rail (of the cluster where leaves are not by rail): static routing goes by it.
  [[nodiscard]] std::uint32_t number_on_rail(std::uint32_t node, std::uint32_t nic) const;
  [[nodiscard]] std::uint32_t rail_cycle() const;  ///< NICs after which rails repeat: a node's, or a domain's

  // links
  [[nodiscard]] static sim::LinkId link(std::uint64_t base, std::uint64_t cable, bool back = false) {
    return static_cast<sim::LinkId>(base + 2 * cable + (back ? 1 : 0));
  }
  [[nodiscard]] sim::LinkId plane_link(std::uint32_t gpu, std::uint32_t plane, bool down) const {
    return link(0, std::uint64_t{gpu} * planes + plane, down);
  }
  /// The GPU's link of the same direction to the first plane; of other links, the link itself.
  [[nodiscard]] sim::LinkId first_plane(sim::LinkId id) const {
    const std::uint64_t l = sim::index(id);
    if (l >= std::uint64_t{2} * gpus * planes) return id;
    return static_cast<sim::LinkId>(l / (2 * planes) * (2 * planes) + l % 2);
  }
  [[nodiscard]] sim::LinkId pcie_of(std::uint32_t gpu, std::uint32_t i, bool down) const {
    return link(pcie_link, std::uint64_t{gpu} * nics_per_gpu + i, down);
  }
  [[nodiscard]] sim::LinkId port_link(std::uint32_t node, std::uint32_t nic, std::uint32_t port, bool down) const {
    return link(nic_link, (std::uint64_t{node} * nics_per_node + nic) * ports + port, down);
  }
  [[nodiscard]] sim::LinkId leaf_spine(std::uint32_t leaf, std::uint32_t spine, std::uint32_t copy, bool down) const {
    return link(first_net_link, (std::uint64_t{leaf} * clos->spines_per_block + spine) * clos->leaf_spine_copies() + copy,
                down);
  }
  /// `spine` counted over all blocks, `core` within its group.
  [[nodiscard]] sim::LinkId spine_core(std::uint32_t spine, std::uint32_t core, std::uint32_t copy, bool down) const {
    return link(second_net_link, (std::uint64_t{spine} * clos->cores_per_group + core) * clos->spine_core_copies() + copy,
                down);
  }
  [[nodiscard]] sim::LinkId direct_link(std::uint64_t cable, std::uint32_t position, bool back) const {
    return link(first_net_link, cable * domain_gpus + position, back);
  }
  [[nodiscard]] sim::LinkId local_link(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t copy) const;
  [[nodiscard]] sim::LinkId global_link(std::uint32_t from, std::uint32_t to, std::uint32_t t) const;
};

/// Checks a regular cluster (anything but Custom) and fills in what its description leaves open. Throws InputError.
[[nodiscard]] Layout resolve(const ClusterSpec& spec);

/// The part of resolve() about leaves, spines and cores; needs everything above `clos` of `layout`.
[[nodiscard]] ClosShape resolve_clos(const Clos& clos, const Layout& layout, const LinkSpec& nic_port);

/// The two directions of a linked pair of the hybrid cube mesh and how many NVLinks it has.
struct MeshPair {
  std::uint32_t a, b, cables;
};
/// The 16 linked pairs of a DGX-1 (V100), as `nvidia-smi topo -m` prints them: a < b, ascending.
inline constexpr std::array<MeshPair, 16> kCubeMesh{{{0, 1, 1},
                                                     {0, 2, 1},
                                                     {0, 3, 2},
                                                     {0, 4, 2},
                                                     {1, 2, 2},
                                                     {1, 3, 1},
                                                     {1, 5, 2},
                                                     {2, 3, 2},
                                                     {2, 6, 1},
                                                     {3, 7, 1},
                                                     {4, 5, 1},
                                                     {4, 6, 1},
                                                     {4, 7, 2},
                                                     {5, 6, 2},
                                                     {5, 7, 1},
                                                     {6, 7, 2}}};

/// The number of the pair a < b among the n(n-1)/2 pairs of n things, in lexicographic order.
[[nodiscard]] constexpr std::uint64_t pair_number(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  return a * (2 * n - a - 1) / 2 + (b - a - 1);
}

}  // namespace traingraph::topology
