// The parts of a regular fabric's router, one per kind of network. Each finds its links by the numbering of Layout.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "topology/layout.h"
#include "topology/leg.h"

namespace traingraph::topology {

/// One transfer to route: its GPUs and which connection between them it belongs to.
struct Flow {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t connection = 0;
};

/// A seeded hash of a flow, its queue pair and the place where a choice is made; equal on every machine (splitmix64).
class FlowHash {
 public:
  FlowHash(std::uint64_t seed, const Flow& flow, std::uint64_t queue_pair);
  /// A number below `choices` for the choice number `place` on the way.
  [[nodiscard]] std::uint32_t pick(std::uint32_t place, std::uint32_t choices) const;

 private:
  std::uint64_t state_;
};

/// A NIC by node and number in the node.
struct NicPlace {
  std::uint32_t node = 0;
  std::uint32_t nic = 0;
};

/// A switched scale-out network, from the NIC port of one GPU to that of another.
class SwitchedNetwork {
 public:
  SwitchedNetwork() = default;
  SwitchedNetwork(const SwitchedNetwork&) = delete;
  SwitchedNetwork& operator=(const SwitchedNetwork&) = delete;
  virtual ~SwitchedNetwork() = default;

  /// Links between the two NICs; 0 when they cannot meet.
  [[nodiscard]] virtual std::uint32_t hops(NicPlace a, NicPlace b) const = 0;
  /// REQUIRES hops(a, b) > 0.
  [[nodiscard]] virtual Leg leg(NicPlace a, NicPlace b, const Flow& flow) const = 0;
  /// All ups to a common switch (or tree) and all downs, from the given NICs. Throws InputError when there is none.
  [[nodiscard]] virtual Leg reduction(std::span<const NicPlace> members) const = 0;
};

[[nodiscard]] std::unique_ptr<SwitchedNetwork> make_clos_network(const Layout& layout, const LegJoiner& join,
                                                                 const RoutingSpec& routing, bool reduces);
[[nodiscard]] std::unique_ptr<SwitchedNetwork> make_dragonfly_network(const Layout& layout, const LegJoiner& join,
                                                                      const RoutingSpec& routing);

/// Direct links between equal positions of different domains.
class DirectNetwork {
 public:
  DirectNetwork(const Layout& layout, const LegJoiner& join, const RoutingSpec& routing)
      : l_{layout}, join_{join}, routing_{routing} {}

  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;  ///< between domains
  [[nodiscard]] Leg leg(std::uint32_t from, std::uint32_t to, std::uint32_t position, const Flow& flow) const;

 private:
  struct Offset;
  [[nodiscard]] std::vector<Offset> offsets(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] sim::LinkId hop(std::uint32_t& point, std::size_t dim, bool up, std::uint32_t position) const;
  [[nodiscard]] Leg in_order(std::uint32_t from, const std::vector<Offset>& order, std::uint32_t position) const;
  [[nodiscard]] Leg all_orders(std::uint32_t from, const std::vector<Offset>& offsets, std::uint32_t position) const;
  [[nodiscard]] Leg all_minimal(std::uint32_t from, const std::vector<Offset>& offsets, std::uint32_t position,
                                std::uint32_t ways) const;
  [[nodiscard]] Leg box(std::uint32_t from, const std::vector<Offset>& offsets, std::uint32_t position,
                        std::uint32_t ways) const;

  const Layout& l_;
  const LegJoiner& join_;
  const RoutingSpec& routing_;
};

/// Inside a domain.
class ScaleUpNetwork {
 public:
  ScaleUpNetwork(const Layout& layout, const LegJoiner& join, const RoutingSpec& routing);

  [[nodiscard]] std::uint32_t hops(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] Leg leg(std::uint32_t a, std::uint32_t b, const Flow& flow) const;
  [[nodiscard]] Leg reduction(std::span<const sim::EndpointId> members) const;

 private:
  [[nodiscard]] Leg mesh_leg(std::uint32_t a, std::uint32_t b, const Flow& flow) const;
  /// The link between two linked GPUs of a mesh.
  [[nodiscard]] sim::LinkId mesh_link(std::uint32_t a, std::uint32_t b) const;

  const Layout& l_;
  const LegJoiner& join_;
  const RoutingSpec& routing_;
  /// Cube mesh: the pair's place in kCubeMesh, or none; and the GPUs over which pairs without a link meet.
  std::array<std::array<std::int8_t, 8>, 8> pair_{};
  std::array<std::array<std::vector<std::uint32_t>, 8>, 8> between_;
};

}  // namespace traingraph::topology
