// Fills in what the description of a Clos network leaves open. The rules reproduce the published tables of DGX SuperPODs
// (tests).
#include <algorithm>
#include <cmath>

#include "topology/input_error.h"
#include "topology/layout.h"
#include "topology/size_limits.h"

namespace traingraph::topology {
namespace {

constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return a / b + (a % b == 0 ? 0 : 1); }

/// A count that must come out whole.
std::uint32_t whole(double v, std::string_view field, std::string_view what) {
  const double r = std::round(v);
  if (r < 1 || r > static_cast<double>(kMostDevices) || std::abs(v - r) > 1e-9 * r)
    refuse(field, fmt::format("{:.6g} {}", v, what),
           "a whole number; give the counts and leave the bandwidth open, or change the oversubscription");
  return static_cast<std::uint32_t>(r);
}

/// Ports of a switch that may look down, when `down` x its bandwidth = oversubscription x up x its bandwidth and ports
/// suffice.
std::uint32_t ports_down(std::uint32_t ports, sim::Bandwidth down, sim::Bandwidth up, double oversubscription) {
  const double up_per_down = down / up / oversubscription;
  return static_cast<std::uint32_t>(std::floor(static_cast<double>(ports) / (1.0 + up_per_down) + 1e-9));
}

/// The bandwidth of a tier's links when the number of uplinks is known; `below` is the capacity down, bytes/s.
sim::Bandwidth speed_of(const TierSpec& tier, double below, std::uint32_t uplinks, sim::Bandwidth fallback,
                        const std::string& field) {
  const double up = static_cast<double>(uplinks);
  if (tier.bandwidth.bytes_per_s() > 0) {
    const double ratio = below / (up * tier.bandwidth.bytes_per_s());
    if (tier.oversubscription > 0 && std::abs(ratio / tier.oversubscription - 1) > 1e-6)
      refuse(field + ".oversubscription", tier.oversubscription,
             fmt::format("{:.6g}, which follows from {} uplinks of {:.6g} bytes/s; leave one of the three open", ratio,
                         uplinks, tier.bandwidth.bytes_per_s()));
    return tier.bandwidth;
  }
  if (tier.oversubscription > 0) return sim::Bandwidth::bytes_per_s(below / (tier.oversubscription * up));
  return fallback;
}

class Resolver {
 public:
  Resolver(const Clos& clos, const Layout& layout, const LinkSpec& nic_port) : c_{clos}, l_{layout} { s_.nic = nic_port; }

  ClosShape run() {
    check();
    resolve_rails();
    resolve_unit();
    if (s_.tiers >= 2) resolve_spines();
    if (s_.tiers == 3) resolve_cores();
    check_ports();
    return s_;
  }

 private:
  /// No count is so large that a product of two of them overflows what it is kept in.
  void check_counts() const {
    constexpr std::uint32_t kMost = 1U << 24U;
    const std::pair<std::string_view, std::uint32_t> counts[] = {{"switch_ports", c_.switch_ports},
                                                                 {"nodes_per_unit", c_.nodes_per_unit},
                                                                 {"units_per_pod", c_.units_per_pod},
                                                                 {"spines_per_block", c_.spines_per_block},
                                                                 {"cores", c_.cores},
                                                                 {"core_groups", c_.core_groups},
                                                                 {"leaf_spine.links", c_.leaf_spine.links},
                                                                 {"spine_core.links", c_.spine_core.links}};
    for (const auto& [key, count] : counts)
      if (count > kMost) refuse(fmt::format("scale_out.{}", key), count, fmt::format("at most {}", kMost));
  }

  /// `count` cables of one switch to one neighbouring level.
  static void need_ports(std::string_view key, std::uint64_t count) {
    if (count > kMostDevices)
      refuse(key, fmt::format("{} ports of one switch", count), fmt::format("at most {}", kMostDevices));
  }

  void check() {
    check_counts();
    if (c_.tiers < 1 || c_.tiers > 3) refuse("scale_out.tiers", c_.tiers, "1, 2 or 3");
    for (const auto& [tier, name] : {std::pair{&c_.leaf_spine, "leaf_spine"}, std::pair{&c_.spine_core, "spine_core"}}) {
      if (!(tier->oversubscription >= 0))
        refuse(fmt::format("scale_out.{}.oversubscription", name), tier->oversubscription, "more than 0");
      if (tier->bandwidth < sim::Bandwidth{})
        refuse(fmt::format("scale_out.{}.bandwidth", name), tier->bandwidth.bytes_per_s(), "more than 0");
      if (tier->latency < sim::Duration{})
        refuse(fmt::format("scale_out.{}.latency", name), tier->latency.count_ps(), "0 or more");
    }
    if (c_.separate_planes && c_.ports_per_nic < 2)
      refuse("scale_out.separate_planes", "true with one port per NIC", "ports_per_nic of 2 or more");
    s_.tiers = c_.tiers;
    s_.ports = c_.ports_per_nic;
    s_.planes = c_.separate_planes ? c_.ports_per_nic : 1;
  }

  void resolve_rails() {
    s_.rail_aligned = c_.wiring != Clos::Wiring::fat_tree;
    s_.rails_isolated = c_.wiring == Clos::Wiring::rail_only;
    if (!s_.rail_aligned) {
      if (c_.rails != 0) refuse("scale_out.rails", c_.rails, "only rail_optimized and rail_only have rails");
      if (c_.spine_blocks_per_rail.value_or(false))
        refuse("scale_out.spine_blocks_per_rail", "true", "only rail_optimized and rail_only have rails");
      s_.leaves_per_unit = s_.ports;
      return;
    }
    s_.rails = c_.rails == 0 ? l_.nics_per_node : c_.rails;
    const std::uint32_t cycle = s_.rails > l_.nics_per_node ? l_.domain_nodes * l_.nics_per_node : l_.nics_per_node;
    if (s_.rails > cycle || cycle % s_.rails != 0)
      refuse("scale_out.rails", s_.rails,
             fmt::format("a divisor of the NICs per node ({}) or per domain ({})", l_.nics_per_node,
                         l_.domain_nodes * l_.nics_per_node));
    s_.leaves_per_unit = s_.rails * s_.ports;
    const bool per_rail = s_.rails_isolated || c_.spine_blocks_per_rail.value_or(c_.tiers == 3);
    if (s_.rails_isolated && !c_.spine_blocks_per_rail.value_or(true))
      refuse("scale_out.spine_blocks_per_rail", "false", "true: rails are never joined in rail_only");
    if (per_rail && !s_.rails_isolated && c_.tiers == 2)
      refuse("scale_out.spine_blocks_per_rail", "true with two tiers",
             "three tiers, so that cores join the rails, or wiring rail_only");
    s_.rail_blocks = per_rail && c_.tiers >= 2 ? s_.rails : 1;
    if (c_.tiers == 1 && !s_.rails_isolated && s_.rails > 1)
      refuse("scale_out.tiers", "1 with rail_optimized", "2 or 3, or wiring rail_only");
  }

  [[nodiscard]] std::uint32_t nics_per_leaf(std::uint32_t nodes) const {
    const std::uint64_t nics = std::uint64_t{nodes} * l_.nics_per_node;
    return static_cast<std::uint32_t>(s_.rail_aligned ? nics / s_.rails : nics);
  }

  void resolve_unit() {
    const std::uint32_t step = s_.rail_aligned && s_.rails > l_.nics_per_node ? l_.domain_nodes : 1;
    std::uint32_t nodes = c_.nodes_per_unit;
    if (nodes == 0 && c_.tiers == 1) nodes = ceil_div(l_.nodes, step) * step;
    if (nodes == 0) {
      if (c_.switch_ports == 0) refuse("scale_out.nodes_per_unit", 0, "1 or more, or switch_ports to derive it from");
      const double over = c_.leaf_spine.oversubscription > 0 ? c_.leaf_spine.oversubscription : 1.0;
      const sim::Bandwidth up = c_.leaf_spine.bandwidth.bytes_per_s() > 0 ? c_.leaf_spine.bandwidth : s_.nic.bandwidth;
      const std::uint32_t down = ports_down(c_.switch_ports, s_.nic.bandwidth, up, over);
      nodes = static_cast<std::uint32_t>(std::uint64_t{down} * (s_.rail_aligned ? s_.rails : 1) / l_.nics_per_node) / step *
              step;
      if (nodes == 0)
        refuse("scale_out.switch_ports", c_.switch_ports,
               fmt::format("enough ports on a leaf for one node's {} NICs and their uplinks", l_.nics_per_node));
    }
    if (nodes % step != 0)
      refuse("scale_out.nodes_per_unit", nodes,
             fmt::format("a multiple of the {} nodes of a domain, along which the rails are counted", step));
    need_ports("scale_out.nodes_per_unit", std::uint64_t{nodes} * l_.nics_per_node * s_.ports);
    s_.nodes_per_unit = nodes;
    s_.units = ceil_div(l_.nodes, nodes);
    s_.nics_per_leaf = nics_per_leaf(nodes);
    s_.units_per_pod = s_.units;
    s_.pods = 1;
    if (c_.tiers == 1 && s_.units > 1)
      refuse("scale_out.nodes_per_unit", nodes,
             fmt::format("{} or more: with one tier all nodes hang on the same leaves", l_.nodes));
    if (c_.tiers != 3 && c_.units_per_pod != 0)
      refuse("scale_out.units_per_pod", c_.units_per_pod, "only three tiers have pods");
    if (c_.tiers != 3 && c_.cores != 0) refuse("scale_out.cores", c_.cores, "only three tiers have cores");
  }

  /// Leaves of one spine block in a pod of so many units.
  [[nodiscard]] std::uint32_t leaves_per_block(std::uint32_t units) const {
    const std::uint64_t leaves = std::uint64_t{units} * s_.leaves_per_unit / s_.classes();
    need_ports("scale_out.units_per_pod", leaves);
    return static_cast<std::uint32_t>(leaves);
  }

  void resolve_spines() {
    const TierSpec& t = c_.leaf_spine;
    const double below = s_.nic.bandwidth.bytes_per_s() * static_cast<double>(s_.nics_per_leaf);
    sim::Bandwidth speed = t.bandwidth.bytes_per_s() > 0 ? t.bandwidth : s_.nic.bandwidth;
    std::uint32_t uplinks = 0;
    const bool counted = c_.spines_per_block != 0 && t.links != 0;
    if (counted) {
      need_ports("scale_out.leaf_spine.links", std::uint64_t{c_.spines_per_block} * t.links);
      uplinks = c_.spines_per_block * t.links;
      speed = speed_of(t, below, uplinks, s_.nic.bandwidth, "scale_out.leaf_spine");
    } else {
      const double over = t.oversubscription > 0 ? t.oversubscription : 1.0;
      uplinks = whole(below / (over * speed.bytes_per_s()), "scale_out.leaf_spine", "uplinks of a leaf");
    }
    s_.leaf_spine = {speed, t.latency};
    const std::uint32_t spine_down = spine_ports_down();
    if (c_.tiers == 3) resolve_pods(uplinks, spine_down);
    if (!counted)
      split_uplinks(uplinks, spine_down);
    else {
      s_.spines_per_block = c_.spines_per_block;
      s_.leaf_spine_links = t.links;
    }
  }

  /// Ports of a spine for leaves; 0 when switch_ports is not given.
  [[nodiscard]] std::uint32_t spine_ports_down() const {
    if (c_.switch_ports == 0 || c_.tiers == 2) return c_.switch_ports;
    const double over = c_.spine_core.oversubscription > 0 ? c_.spine_core.oversubscription : 1.0;
    const sim::Bandwidth up = c_.spine_core.bandwidth.bytes_per_s() > 0 ? c_.spine_core.bandwidth : s_.leaf_spine.bandwidth;
    return ports_down(c_.switch_ports, s_.leaf_spine.bandwidth, up, over);
  }

  void resolve_pods(std::uint32_t uplinks, std::uint32_t spine_down) {
    std::uint32_t units = c_.units_per_pod;
    if (units == 0 && spine_down != 0) {
      const std::uint32_t links = c_.leaf_spine.links != 0   ? c_.leaf_spine.links
                                  : c_.spines_per_block != 0 ? ceil_div(uplinks, c_.spines_per_block)
                                                             : 1;
      units = spine_down / links / leaves_per_block(1);
      if (units == 0)
        refuse("scale_out.switch_ports", c_.switch_ports, "enough ports on a spine for the leaves of one unit");
    }
    s_.units_per_pod = std::min(units == 0 ? s_.units : units, s_.units);
    s_.pods = ceil_div(s_.units, s_.units_per_pod);
  }

  /// Uplinks of a leaf = spines x links.
  void split_uplinks(std::uint32_t uplinks, std::uint32_t spine_down) {
    std::uint32_t spines = c_.spines_per_block;
    if (spines == 0 && c_.leaf_spine.links != 0) {
      if (uplinks % c_.leaf_spine.links != 0)
        refuse("scale_out.leaf_spine.links", c_.leaf_spine.links, fmt::format("a divisor of a leaf's {} uplinks", uplinks));
      spines = uplinks / c_.leaf_spine.links;
    }
    if (spines == 0) {
      if (spine_down == 0) refuse("scale_out.spines_per_block", 0, "1 or more, or switch_ports to derive it from");
      const std::uint32_t leaves = leaves_per_block(s_.units_per_pod);
      const std::uint64_t needed = (std::uint64_t{leaves} * uplinks + spine_down - 1) / spine_down;
      if (needed > uplinks)
        refuse("scale_out.switch_ports", c_.switch_ports,
               fmt::format("at least {} ports on a spine, one for each of the {} leaves; or one tier more", leaves, leaves));
      spines = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(needed));
      while (uplinks % spines != 0) ++spines;
    }
    if (uplinks % spines != 0)
      refuse("scale_out.spines_per_block", spines, fmt::format("a divisor of a leaf's {} uplinks", uplinks));
    s_.spines_per_block = spines;
    s_.leaf_spine_links = uplinks / spines;
  }

  void resolve_cores() {
    const TierSpec& t = c_.spine_core;
    const std::uint32_t spines = s_.spines_per_block;
    // A pod that is given is the pod that is bought: its last, or only, one may be partly filled.
    const std::uint32_t leaves = leaves_per_block(c_.units_per_pod == 0 ? s_.units_per_pod : c_.units_per_pod);
    need_ports("scale_out.leaf_spine.links", std::uint64_t{leaves} * s_.leaf_spine_links);
    const std::uint32_t down = leaves * s_.leaf_spine_links;
    const double below = s_.leaf_spine.bandwidth.bytes_per_s() * static_cast<double>(down);
    if (c_.cores % s_.core_sets() != 0)
      refuse("scale_out.cores", c_.cores, fmt::format("a multiple of the {} separate core networks", s_.core_sets()));
    const std::uint32_t per_set = c_.cores / s_.core_sets();
    if (c_.core_groups != 0 && c_.cores != 0) {
      need_groups(c_.core_groups, per_set);
      s_.core_groups = c_.core_groups;
      s_.cores_per_group = per_set / c_.core_groups;
      s_.spine_core_links = std::max(1U, t.links);
      need_ports("scale_out.spine_core.links", std::uint64_t{s_.cores_per_group} * s_.spine_core_links);
      const std::uint32_t uplinks = s_.cores_per_group * s_.spine_core_links;
      s_.spine_core = {speed_of(t, below, uplinks, s_.leaf_spine.bandwidth, "scale_out.spine_core"), t.latency};
      return;
    }
    const sim::Bandwidth speed = t.bandwidth.bytes_per_s() > 0 ? t.bandwidth : s_.leaf_spine.bandwidth;
    const double over = t.oversubscription > 0 ? t.oversubscription : 1.0;
    s_.spine_core = {speed, t.latency};
    const std::uint32_t uplinks = whole(below / (over * speed.bytes_per_s()), "scale_out.spine_core", "uplinks of a spine");
    s_.spine_core_links = std::max(1U, t.links);
    if (uplinks % s_.spine_core_links != 0)
      refuse("scale_out.spine_core.links", t.links, fmt::format("a divisor of a spine's {} uplinks", uplinks));
    s_.cores_per_group = uplinks / s_.spine_core_links;
    if (c_.cores != 0) {
      if (per_set % s_.cores_per_group != 0)
        refuse("scale_out.cores", c_.cores,
               fmt::format("a multiple of {}, the cores that one spine's {} uplinks reach",
                           s_.cores_per_group * s_.core_sets(), uplinks));
      need_groups(per_set / s_.cores_per_group, per_set);
      s_.core_groups = per_set / s_.cores_per_group;
      return;
    }
    if (c_.core_groups != 0) {
      if (spines % c_.core_groups != 0)
        refuse("scale_out.core_groups", c_.core_groups, fmt::format("a divisor of the {} spines of a block", spines));
      s_.core_groups = c_.core_groups;
      return;
    }
    fewest_cores(uplinks);
  }

  void need_groups(std::uint32_t groups, std::uint32_t per_set) const {
    if (per_set % groups != 0 || s_.spines_per_block % groups != 0)
      refuse("scale_out.core_groups", groups,
             fmt::format("a divisor of the {} spines of a block and of the {} cores", s_.spines_per_block, per_set));
  }

  /// Spine blocks that meet at one core.
  [[nodiscard]] std::uint32_t blocks_per_set() const { return s_.pods * s_.classes() / s_.core_sets(); }

  void fewest_cores(std::uint32_t uplinks) {
    if (c_.switch_ports == 0) refuse("scale_out.cores", 0, "1 or more, or switch_ports to derive it from");
    const std::uint32_t blocks = blocks_per_set();
    std::uint32_t groups = 1;
    const auto used = [&](std::uint32_t links) { return std::uint64_t{blocks} * (s_.spines_per_block / groups) * links; };
    while (groups <= s_.spines_per_block &&
           (s_.spines_per_block % groups != 0 || used(s_.spine_core_links) > c_.switch_ports))
      ++groups;
    if (groups > s_.spines_per_block)
      refuse("scale_out.switch_ports", c_.switch_ports,
             fmt::format("at least {} ports on a core, one for each spine block", blocks));
    if (groups == 1 && c_.spine_core.links == 0)
      for (std::uint32_t links = uplinks; links > 1; --links)
        if (uplinks % links == 0 && used(links) <= c_.switch_ports) {
          s_.spine_core_links = links;
          break;
        }
    s_.core_groups = groups;
    s_.cores_per_group = uplinks / s_.spine_core_links;
  }

  /// No switch has more cables than ports.
  void check_ports() const {
    if (c_.switch_ports == 0) return;
    const auto check = [&](std::string_view what, std::uint64_t used) {
      if (used > c_.switch_ports)
        refuse("scale_out.switch_ports", c_.switch_ports, fmt::format("at least {}, the cables of {}", used, what));
    };
    const std::uint64_t up = std::uint64_t{s_.spines_per_block} * s_.leaf_spine_links;
    check("a leaf", s_.nics_per_leaf + (s_.tiers >= 2 ? up : 0));
    if (s_.tiers >= 2)
      check("a spine", std::uint64_t{leaves_per_block(s_.units_per_pod)} * s_.leaf_spine_links +
                           (s_.tiers == 3 ? std::uint64_t{s_.cores_per_group} * s_.spine_core_links : 0));
    if (s_.tiers == 3) check("a core", std::uint64_t{blocks_per_set()} * s_.spines_per_core_group() * s_.spine_core_links);
  }

  const Clos& c_;
  const Layout& l_;
  ClosShape s_;
};

}  // namespace

ClosShape resolve_clos(const Clos& clos, const Layout& layout, const LinkSpec& nic_port) {
  return Resolver{clos, layout, nic_port}.run();
}

}  // namespace traingraph::topology
