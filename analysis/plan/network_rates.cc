#include "analysis/plan/network_rates.h"

#include <algorithm>
#include <variant>

#include "sim/error.h"

namespace traingraph::analysis::plan {
namespace {

using workloads::Algorithm;
using workloads::CollectiveKind;

void set_inside(NetworkRates& r, const topology::NoScaleUp&) { r.domain = 1; }
void set_inside(NetworkRates& r, const topology::NvSwitch& s) {
  r.domain = s.gpus;
  r.inside = r.inside_total = s.bandwidth.bytes_per_s();
  r.inside_latency = (s.overhead + s.latency * 2).in_seconds();
}
void set_inside(NetworkRates& r, const topology::FullMesh& s) {
  r.domain = s.gpus;
  r.inside_total = s.bandwidth.bytes_per_s();
  r.inside = r.inside_total / (s.gpus - 1);
  r.inside_latency = (s.overhead + s.latency).in_seconds();
}
void set_inside(NetworkRates& r, const topology::HybridCubeMesh& s) {
  constexpr std::uint32_t kGpus = 8, kLinks = 6;
  r.domain = kGpus;
  r.inside = r.inside_total = kLinks * s.link_bandwidth.bytes_per_s();
  r.equal_edges_inside = false;
}

/// What a GPU can send over its own NICs; PCIe may be slower than they.
double nic_rate(const topology::ClusterSpec& c) {
  const std::uint32_t gpus = std::max(1U, c.gpus_per_node);
  const std::uint32_t nics = c.nic.per_node == 0 ? gpus : c.nic.per_node;
  double one = c.nic.bandwidth.bytes_per_s();
  if (c.nic.pcie) one = std::min(one, c.nic.pcie->bandwidth.bytes_per_s());
  return std::max(1.0, static_cast<double>(nics) / gpus) * one;
}

/// Links of a GPU of a direct network.
template <class Direct>
double direct_rate(const Direct& network, double links) {
  return links * network.link.bandwidth.bytes_per_s();
}

double own_rate(const topology::ClusterSpec& c, std::uint32_t domains) {
  if (const auto* torus = std::get_if<topology::Torus>(&c.scale_out)) {
    return direct_rate(*torus, 2.0 * static_cast<double>(torus->dims.size()));
  }
  if (const auto* ring = std::get_if<topology::Ring>(&c.scale_out)) return direct_rate(*ring, 2);
  if (const auto* full = std::get_if<topology::FullyConnected>(&c.scale_out)) return direct_rate(*full, domains);
  if (std::holds_alternative<topology::NoScaleOut>(c.scale_out)) return 0;
  return nic_rate(c);
}

bool is_direct(const topology::ScaleOut& s) {
  return std::holds_alternative<topology::Torus>(s) || std::holds_alternative<topology::Ring>(s) ||
         std::holds_alternative<topology::FullyConnected>(s);
}

/// Whether transfers may leave by the NICs of other GPUs of the domain.
bool uses_other_nics(const topology::ClusterSpec& c) {
  const auto* clos = std::get_if<topology::Clos>(&c.scale_out);
  return c.routing.pxn || (clos != nullptr && clos->wiring == topology::Clos::Wiring::rail_only) ||
         !c.routing.explicit_paths.empty();
}

double over(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

/// Bytes that a member of n sends of S, and the steps that follow one another.
struct Shape {
  double sent = 0;
  double steps = 0;  ///< 0: latencies are not counted
};
Shape shape_of(CollectiveKind kind, Algorithm algorithm, double n) {
  const double others = (n - 1) / n;
  const bool ring = algorithm == Algorithm::ring;
  const bool direct = algorithm == Algorithm::direct;
  switch (kind) {
    case CollectiveKind::all_reduce:
      if (ring) return {2 * others, 2 * (n - 1)};
      if (direct) return {2 * others, 2};
      if (algorithm == Algorithm::bidirectional_ring || algorithm == Algorithm::halving_doubling) return {2 * others, 0};
      return {1, 0};
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
      return {others, ring ? n - 1 : direct ? 1.0 : 0.0};
    case CollectiveKind::all_to_all:
      return {others, direct ? 1.0 : 0.0};
    case CollectiveKind::send_recv:
      return {1, 1};
    default:
      return {0, 0};
  }
}

}  // namespace

NetworkRates::NetworkRates(const topology::ClusterSpec& cluster) {
  if (std::holds_alternative<topology::Custom>(cluster.scale_out)) {
    throw sim::InputError{"plan: a custom cluster has no nodes that ranks could fill in order"};
  }
  std::visit([this](const auto& scale_up) { set_inside(*this, scale_up); }, cluster.scale_up);
  const std::uint64_t gpus = std::uint64_t{cluster.nodes} * cluster.gpus_per_node;
  outside = own_rate(cluster, static_cast<std::uint32_t>(std::max<std::uint64_t>(1, gpus / domain)));
  // A direct network joins equal GPUs of its domains: other pairs first go to the right GPU inside.
  if (is_direct(cluster.scale_out)) outside += inside_total;
  outside_total = outside + (uses_other_nics(cluster) ? inside_total : 0);
}

LeastTime NetworkRates::least_time(CollectiveKind kind, Algorithm algorithm, const GroupPlace& group) const {
  if (group.members <= 1) return {};
  const auto n = static_cast<double>(group.members);
  const Shape shape = shape_of(kind, algorithm, n);
  const bool to_all = algorithm != Algorithm::ring && kind != CollectiveKind::send_recv;
  if (is_inside(group)) {
    const double rate = to_all ? inside_total : inside;
    return {equal_edges_inside ? shape.steps * inside_latency : 0, over(shape.sent, rate)};
  }
  if (!to_all) return {0, message(group.span).per_byte * shape.sent};
  const double everywhere = over(shape.sent, inside_total + outside_total);
  if (kind != CollectiveKind::all_to_all) return {0, everywhere};
  // Of the members, no more share a domain than have room in it.
  const double near = std::min(n, static_cast<double>((domain - 1) / group.stride + 1));
  return {0, std::max(over((n - near) / n, outside_total), everywhere)};
}

LeastTime NetworkRates::message(std::uint64_t distance) const {
  return {0, over(1, distance >= domain ? outside : std::max(inside, outside))};
}

}  // namespace traingraph::analysis::plan
