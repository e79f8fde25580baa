// Clusters that several tests use, and what must hold of every path.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "sim/fraction.h"
#include "topology/build.h"
#include "topology/describe.h"
#include "topology/routing.h"

namespace traingraph::topology::test {

using sim::Bandwidth;
using sim::Duration;

inline Bandwidth gbps(double v) { return Bandwidth::gbit_per_s(v); }
inline Bandwidth gb_per_s(double v) { return Bandwidth::bytes_per_s(v * 1e9); }
inline sim::EndpointId gpu(std::uint32_t e) { return static_cast<sim::EndpointId>(e); }

inline NvSwitch nvlink(std::uint32_t gpus, std::uint32_t planes) {
  return {
      .gpus = gpus, .planes = planes, .bandwidth = gb_per_s(450), .latency = Duration::ns(300), .overhead = Duration::us(2)};
}

inline NicSpec nic(double gbit) {
  return {.bandwidth = gbps(gbit), .latency = Duration::ns(500), .pcie = {}, .overhead = Duration::us(5)};
}

/// DGX H100/B200 SuperPOD: 32-node scalable units, QM9700 (64 x 400 Gb/s), rails.
inline ClusterSpec superpod(std::uint32_t nodes, std::uint32_t tiers) {
  return {.name = "superpod",
          .nodes = nodes,
          .gpus_per_node = 8,
          .scale_up = nvlink(8, 4),
          .nic = nic(400),
          .scale_out = Clos{.wiring = Clos::Wiring::rail_optimized,
                            .tiers = tiers,
                            .switch_ports = 64,
                            .nodes_per_unit = 32,
                            .leaf_spine = {.latency = Duration::ns(700)},
                            .spine_core = {.latency = Duration::ns(900)}}};
}

/// Devices of one kind, from the graph's own list.
inline std::size_t devices(const Fabric& f, DeviceKind kind) {
  std::size_t n = 0;
  for (const Device& d : f.devices) n += d.kind == kind ? 1 : 0;
  return n;
}

/// Physical cables of one tier: links / 2, bundles counted by their members.
inline std::size_t cables(const Fabric& f, Tier tier) {
  std::size_t n = 0;
  for (const LinkInfo& l : f.link_info) n += l.tier == tier ? l.cables : 0;
  return n / 2;
}

/// Cables at the devices of one kind over links of one tier: the least and the most.
inline std::pair<std::uint32_t, std::uint32_t> ports_used(const Fabric& f, DeviceKind kind, Tier tier) {
  std::vector<std::uint32_t> used(f.devices.size());
  for (const LinkInfo& l : f.link_info)
    if (l.tier == tier) used[sim::index(l.source)] += l.cables;
  std::uint32_t least = ~0U, most = 0;
  for (std::uint32_t i = 0; i < f.devices.size(); ++i) {
    if (f.devices[static_cast<DeviceId>(i)].kind != kind) continue;
    least = std::min(least, used[i]);
    most = std::max(most, used[i]);
  }
  return {least, most};
}

/// What enters a device leaves it: the source sends the whole, the destination receives it, nothing is lost on the way;
/// fractions are in lowest terms, links ascend; listed routes add up to the links and each is a walk of `hops` links.
inline void expect_sound(const Fabric& f, const FabricRouter& router, std::uint32_t a, std::uint32_t b,
                         const sim::Path& path) {
  SCOPED_TRACE("GPU " + std::to_string(a) + " to GPU " + std::to_string(b));
  std::map<DeviceId, sim::Fraction> in, out;
  for (std::size_t i = 0; i < path.links.size(); ++i) {
    const sim::PathLink& l = path.links[i];
    ASSERT_EQ(std::gcd(l.n, l.k), 1U);
    ASSERT_LE(l.n, l.k);
    if (i > 0) {
      ASSERT_LT(path.links[i - 1].link, l.link);
    }
    const LinkInfo& info = f.link_info[l.link];
    const sim::Fraction share{l.n, l.k};
    out[info.source] = out[info.source] + share;
    in[info.target] = in[info.target] + share;
  }
  const DeviceId source = f.endpoints[gpu(a)], target = f.endpoints[gpu(b)];
  const sim::Fraction one{1, 1};
  for (const auto& [device, share] : out) {
    if (device == source) {
      EXPECT_EQ(share, one) << "all bytes leave the source";
    } else
      EXPECT_EQ(share, in[device]) << f.devices[device].name;
  }
  for (const auto& [device, share] : in) {
    if (device == target) {
      EXPECT_EQ(share, one) << "all bytes arrive";
    }
    if (device != target) {
      EXPECT_EQ(share, out[device]) << f.devices[device].name;
    }
  }
  const std::uint32_t hops = router.hops(gpu(a), gpu(b));
  if (path.routes.empty()) return;
  const sim::Path again = sim::combine_routes(f.links, path.routes, path.overhead);
  EXPECT_EQ(again.links, path.links);
  EXPECT_EQ(again.latency, path.latency);
  for (const sim::Route& r : path.routes) {
    EXPECT_EQ(r.stages.size(), hops);
    DeviceId at = source;
    for (const auto& stage : r.stages) {
      ASSERT_EQ(stage.size(), 1U);
      ASSERT_EQ(f.link_info[stage[0]].source, at);
      at = f.link_info[stage[0]].target;
    }
    EXPECT_EQ(at, target);
  }
}

/// The share of each link by name.
inline std::map<std::string, sim::Fraction> shares(const Fabric& f, const sim::Path& path) {
  std::map<std::string, sim::Fraction> out;
  for (const sim::PathLink& l : path.links) out[f.link_info[l.link].name] = {l.n, l.k};
  return out;
}

/// The message of the InputError that `f` throws; "" when it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const sim::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace traingraph::topology::test
