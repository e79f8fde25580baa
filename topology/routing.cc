#include "topology/routing.h"

#include <algorithm>
#include <optional>

#include "topology/explicit_routes.h"
#include "topology/input_error.h"
#include "topology/layout.h"
#include "topology/network.h"
#include "topology/shortest_paths.h"

namespace traingraph::topology {
namespace {

std::string gpu_name(const Fabric& fabric, std::uint32_t e) {
  return fmt::format("{} (GPU {})", fabric.devices[fabric.endpoints[static_cast<sim::EndpointId>(e)]].name, e);
}

[[noreturn]] void no_path(const Fabric& fabric, std::uint32_t a, std::uint32_t b, std::string_view why) {
  throw sim::InputError{fmt::format("no path from {} to {}: {}", gpu_name(fabric, a), gpu_name(fabric, b), why)};
}

void check_endpoints(const Fabric& fabric, std::uint32_t a, std::uint32_t b) {
  SIM_ASSERT(std::max(a, b) < fabric.gpus(), "a path is asked for between GPUs of the fabric");
}

/// A fabric whose links are found by formula.
class RegularRouter : public FabricRouter {
 public:
  RegularRouter(const Fabric& fabric, const ClusterSpec& spec, RoutingPolicy policy)
      : fabric_{fabric},
        l_{resolve(spec)},
        routing_{spec.routing},
        join_{fabric.links, spec.routing.listed_routes},
        scale_up_{l_, join_, routing_},
        direct_{l_, join_, routing_} {
    routing_.policy = policy;
    SIM_ASSERT(fabric.links.size() == l_.end_link && fabric.devices.size() == l_.end_device,
               "the fabric was built from this description");
    std::visit([this](const auto& s) { read_scale_up(s); }, spec.scale_up);
    if (l_.has_nics) scale_out_overhead_ = spec.nic.overhead;
    if (l_.clos) {
      bool reduces = false;
      if (const auto* c = std::get_if<Clos>(&spec.scale_out)) reduces = c->in_network_reduction;
      if (const auto* s = std::get_if<SingleSwitch>(&spec.scale_out)) reduces = s->in_network_reduction;
      switched_ = make_clos_network(l_, join_, routing_, reduces);
    }
    if (l_.dragonfly) switched_ = make_dragonfly_network(l_, join_, routing_);
    if (l_.direct) scale_out_overhead_ = spec.nic.overhead;
  }

  bool depends_on_connection() const override { return routing_.policy == RoutingPolicy::ecmp; }

  std::uint32_t hops(sim::EndpointId source, sim::EndpointId destination) const override {
    const std::uint32_t a = sim::index(source), b = sim::index(destination);
    check_endpoints(fabric_, a, b);
    if (a == b) return 0;
    if (l_.domain(a) == l_.domain(b)) return scale_up_.hops(a, b);
    const std::uint32_t g = gateway(a, b);
    const std::uint32_t inside = scale_up_.hops(a, g);
    if (l_.direct) return inside + direct_.hops(l_.domain(g), l_.domain(b));
    return inside + nic_hops(g, b) + (l_.nic_devices ? 2 : 0);
  }

  /// The planes of a domain are used evenly: the first stands for all.
  sim::LinkId mirror_of(sim::LinkId link) const override { return l_.first_plane(link); }

 private:
  void read_scale_up(const NoScaleUp&) {}
  void read_scale_up(const NvSwitch& s) {
    scale_up_overhead_ = s.overhead;
    nvls_ = s.in_switch_reduction;
  }
  void read_scale_up(const FullMesh& s) { scale_up_overhead_ = s.overhead; }
  void read_scale_up(const HybridCubeMesh& s) { scale_up_overhead_ = s.overhead; }

  [[nodiscard]] NicPlace nic(std::uint32_t gpu, std::uint32_t i) const { return {l_.node(gpu), l_.nic_of(gpu, i)}; }
  [[nodiscard]] std::uint32_t rail_of(std::uint32_t gpu) const { return l_.rail(l_.node(gpu), l_.nic_of(gpu, 0)); }

  /// Links between the NICs of two GPUs, both included; throws when they cannot meet.
  [[nodiscard]] std::uint32_t nic_hops(std::uint32_t a, std::uint32_t b) const {
    if (!switched_) no_path(fabric_, a, b, "the cluster has no scale-out network");
    if (same_nic(a, b)) return 0;
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < l_.nics_per_gpu; ++i) {
      const std::uint32_t links = switched_->hops(nic(a, i), nic(b, i));
      if (links == 0) no_path(fabric_, a, b, "their NICs' switches are not joined (separate rails)");
      most = std::max(most, links);
    }
    return most;
  }
  /// GPUs without a scale-up network that share a NIC meet at it.
  [[nodiscard]] bool same_nic(std::uint32_t a, std::uint32_t b) const {
    return l_.node(a) == l_.node(b) && l_.nic_of(a, 0) == l_.nic_of(b, 0);
  }

  /// The GPU of a's domain whose NIC (or direct link) a transfer to b leaves by: a itself, or the one on b's rail.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t a, std::uint32_t b) const {
    if (l_.direct) return l_.domain(a) * l_.domain_gpus + b % l_.domain_gpus;
    if (!l_.clos || !l_.clos->rail_aligned) return a;
    if ((!routing_.pxn && !l_.clos->rails_isolated) || rail_of(a) == rail_of(b)) return a;
    return on_rail(a, rail_of(b)).value_or(a);
  }

  /// A GPU of a's domain with a NIC on `rail`, in a's node if there is one.
  [[nodiscard]] std::optional<std::uint32_t> on_rail(std::uint32_t a, std::uint32_t rail) const {
    const std::uint32_t rails = l_.clos->rails, cycle = l_.rail_cycle();
    const std::uint32_t copies = cycle / rails;  // NICs of this rail: a's own place among those of its rail is kept
    const std::uint32_t node = l_.node(a);
    const std::uint32_t own = (node * l_.nics_per_node + l_.nic_of(a, 0)) % cycle / rails;
    const std::uint32_t n = rail + rails * (own % copies);
    const std::uint32_t first_node = node * l_.nics_per_node / cycle * cycle / l_.nics_per_node;
    const std::uint32_t at = first_node + n / l_.nics_per_node;
    const std::uint32_t local = n % l_.nics_per_node / l_.nics_per_gpu * l_.gpus_per_nic + a % l_.gpus_per_nic;
    const std::uint32_t gpu = at * l_.gpus_per_node + local;
    if (at >= l_.nodes || l_.domain(gpu) != l_.domain(a)) return std::nullopt;
    return gpu;
  }

  [[nodiscard]] Leg between_nics(std::uint32_t a, std::uint32_t b, const Flow& flow) const {
    static_cast<void>(nic_hops(a, b));
    Leg sum;
    for (std::uint32_t i = 0; i < l_.nics_per_gpu; ++i) {
      const sim::Fraction share{1, l_.nics_per_gpu};
      if (!l_.nic_devices) {
        join_.add(sum, switched_->leg(nic(a, i), nic(b, i), flow), share);
      } else if (same_nic(a, b)) {
        join_.add(sum, join_.chain({l_.pcie_of(a, i, false), l_.pcie_of(b, i, true)}), share);
      } else {
        Leg up = join_.series(join_.chain({l_.pcie_of(a, i, false)}), switched_->leg(nic(a, i), nic(b, i), flow));
        join_.add(sum, join_.series(std::move(up), join_.chain({l_.pcie_of(b, i, true)})), share);
      }
    }
    return sum;
  }

  sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t connection) const override {
    const std::uint32_t a = sim::index(source), b = sim::index(destination);
    check_endpoints(fabric_, a, b);
    const Flow flow{a, b, connection};
    if (l_.domain(a) == l_.domain(b)) return join_.path(scale_up_.leg(a, b, flow), scale_up_overhead_);
    const std::uint32_t g = gateway(a, b);
    Leg out = l_.direct ? direct_.leg(l_.domain(g), l_.domain(b), b % l_.domain_gpus, flow) : between_nics(g, b, flow);
    if (g != a) out = join_.series(scale_up_.leg(a, g, flow), std::move(out));
    return join_.path(std::move(out), scale_out_overhead_);
  }

  sim::Path do_route_in_switch(std::span<const sim::EndpointId> members) const override {
    for (const sim::EndpointId e : members) check_endpoints(fabric_, sim::index(e), sim::index(e));
    const std::uint32_t domain = l_.domain(sim::index(members[0]));
    const bool inside = std::ranges::all_of(members, [&](sim::EndpointId e) { return l_.domain(sim::index(e)) == domain; });
    if (inside && l_.scale_up != ScaleUpKind::none) {
      if (!nvls_)
        throw sim::InputError{
            "the members of an in-switch reduction share a scale-up domain that cannot reduce (in_switch_reduction is "
            "false)"};
      return join_.path(scale_up_.reduction(members), scale_up_overhead_);
    }
    if (!switched_) throw sim::InputError{"the members of an in-switch reduction share no switch"};
    Leg sum;
    for (std::uint32_t i = 0; i < l_.nics_per_gpu; ++i) {
      std::vector<NicPlace> nics;
      Leg::Stages up(1), down(1);
      for (const sim::EndpointId e : members) {
        nics.push_back(nic(sim::index(e), i));
        if (!l_.nic_devices) continue;
        up[0].push_back(l_.pcie_of(sim::index(e), i, false));
        down[0].push_back(l_.pcie_of(sim::index(e), i, true));
      }
      Leg leg = switched_->reduction(nics);
      if (l_.nic_devices) leg = join_.series(join_.series(join_.staged(up), std::move(leg)), join_.staged(down));
      join_.add(sum, std::move(leg), {1, l_.nics_per_gpu});
    }
    return join_.path(std::move(sum), scale_out_overhead_);
  }

  const Fabric& fabric_;
  const Layout l_;
  RoutingSpec routing_;
  const LegJoiner join_;
  const ScaleUpNetwork scale_up_;
  const DirectNetwork direct_;
  std::unique_ptr<SwitchedNetwork> switched_;
  sim::Duration scale_up_overhead_, scale_out_overhead_;
  bool nvls_ = false;
};

/// A fabric that is searched.
class CustomRouter : public FabricRouter {
 public:
  CustomRouter(const Fabric& fabric, const ClusterSpec& spec, const Custom& custom, RoutingPolicy policy)
      : fabric_{fabric},
        routing_{spec.routing},
        overhead_{custom.overhead},
        join_{fabric.links, spec.routing.listed_routes},
        search_{fabric} {
    routing_.policy = policy;
    for (std::uint32_t i = 0; i < custom.devices.size(); ++i)
      if (custom.devices[i].reduces) reducers_.push_back(i);
  }

  bool depends_on_connection() const override { return routing_.policy == RoutingPolicy::ecmp; }

  std::uint32_t hops(sim::EndpointId source, sim::EndpointId destination) const override {
    check_endpoints(fabric_, sim::index(source), sim::index(destination));
    const auto links =
        search_.distance(fabric_.endpoints[source], fabric_.endpoints[destination], {.through_gpus = fabric_.gpus_forward});
    if (!links) no_path(fabric_, sim::index(source), sim::index(destination), "no links lead there");
    return *links;
  }

 private:
  sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t connection) const override {
    const std::uint32_t a = sim::index(source), b = sim::index(destination);
    check_endpoints(fabric_, a, b);
    Leg leg = search_.leg(fabric_.endpoints[source], fabric_.endpoints[destination], fabric_.gpus_forward,
                          {a, b, connection}, routing_, join_);
    if (leg.routes == 0) no_path(fabric_, a, b, "no links lead there");
    return join_.path(std::move(leg), overhead_);
  }

  /// Evenly over all reducing switches to which every member has a link each way.
  sim::Path do_route_in_switch(std::span<const sim::EndpointId> members) const override {
    std::vector<Leg::Stages> planes;
    for (const std::uint32_t s : reducers_) {
      Leg::Stages stages(2);
      for (const sim::EndpointId e : members) {
        const std::uint32_t gpu = sim::index(fabric_.endpoints[e]);
        const auto up = link(gpu, s), down = link(s, gpu);
        if (!up || !down) break;
        stages[0].push_back(*up);
        stages[1].push_back(*down);
      }
      if (stages[0].size() == members.size()) planes.push_back(std::move(stages));
    }
    if (planes.empty())
      throw sim::InputError{"the members of an in-switch reduction share no switch that can reduce (reduces: true)"};
    Leg sum;
    const std::uint64_t n = planes.size();
    for (Leg::Stages& stages : planes) join_.add(sum, join_.staged(std::move(stages)), {1, n});
    return join_.path(std::move(sum), overhead_);
  }

  [[nodiscard]] std::optional<sim::LinkId> link(std::uint32_t from, std::uint32_t to) const {
    for (auto [e, end] = boost::out_edges(from, fabric_.graph); e != end; ++e)
      if (boost::target(*e, fabric_.graph) == to) return fabric_.graph[*e].link;
    return std::nullopt;
  }

  const Fabric& fabric_;
  RoutingSpec routing_;
  sim::Duration overhead_;
  const LegJoiner join_;
  const ShortestPaths search_;
  std::vector<std::uint32_t> reducers_;
};

}  // namespace

std::unique_ptr<FabricRouter> make_router(const Fabric& fabric, const ClusterSpec& spec) {
  const RoutingSpec& routing = spec.routing;
  if (routing.queue_pairs == 0) refuse("routing.queue_pairs", routing.queue_pairs, "1 or more");
  const bool is_explicit = routing.policy == RoutingPolicy::explicit_;
  if (routing.otherwise == RoutingPolicy::explicit_) refuse("routing.otherwise", "explicit", "static, ecmp or spray");
  if (!is_explicit && (routing.otherwise || !routing.explicit_paths.empty()))
    refuse("routing.policy", to_string(routing.policy), "explicit when paths are listed");
  // unlisted pairs are refused unless `otherwise` says how to route them; hops() still needs a policy for lengths
  const RoutingPolicy policy = is_explicit ? routing.otherwise.value_or(RoutingPolicy::static_) : routing.policy;
  std::unique_ptr<FabricRouter> router;
  if (const auto* custom = std::get_if<Custom>(&spec.scale_out))
    router = std::make_unique<CustomRouter>(fabric, spec, *custom, policy);
  else
    router = std::make_unique<RegularRouter>(fabric, spec, policy);
  if (!is_explicit) return router;
  return make_explicit_router(fabric, spec, std::move(router));
}

}  // namespace traingraph::topology
