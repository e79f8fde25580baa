#include "topology/explicit_routes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "topology/input_error.h"
#include "topology/leg.h"

namespace traingraph::topology {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

class ExplicitRouter : public FabricRouter {
 public:
  ExplicitRouter(const Fabric& fabric, const ClusterSpec& spec, std::unique_ptr<FabricRouter> rest)
      : fabric_{fabric},
        rest_{std::move(rest)},
        routes_rest_{spec.routing.otherwise.has_value()},
        join_{fabric.links, spec.routing.listed_routes} {
    std::unordered_map<std::string, DeviceId> names;
    for (std::uint32_t i = 0; i < fabric.devices.size(); ++i)
      names.emplace(fabric.devices[static_cast<DeviceId>(i)].name, static_cast<DeviceId>(i));
    struct Listed {
      Leg leg;
      std::uint32_t hops;
      std::uint32_t share;
    };
    std::map<Pair, std::vector<Listed>> listed;
    for (const ExplicitPath& p : spec.routing.explicit_paths) {
      const std::vector<sim::LinkId> links = resolve(p, names);
      if (p.share == 0) refuse("routing.paths", p.share, "1 or more");
      listed[{p.source, p.destination}].push_back({join_.chain(links), static_cast<std::uint32_t>(links.size()), p.share});
    }
    for (auto& [pair, all] : listed) {
      std::uint64_t shares = 0;
      for (const Listed& one : all) shares += one.share;
      Leg sum;
      Entry entry;
      for (Listed& one : all) {
        join_.add(sum, std::move(one.leg), sim::Fraction::of(one.share, shares));
        entry.hops = std::max(entry.hops, one.hops);
      }
      entry.path = join_.path(std::move(sum), overhead(spec, pair));
      paths_.emplace(pair, std::move(entry));
    }
  }

  bool depends_on_connection() const override { return rest_->depends_on_connection(); }

  std::uint32_t hops(sim::EndpointId source, sim::EndpointId destination) const override {
    const auto it = paths_.find({sim::index(source), sim::index(destination)});
    if (it != paths_.end()) return it->second.hops;
    if (source != destination) require_rest(source, destination);
    return rest_->hops(source, destination);
  }

 private:
  struct Entry {
    sim::Path path;
    std::uint32_t hops = 0;
  };

  sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t connection) const override {
    const auto it = paths_.find({sim::index(source), sim::index(destination)});
    if (it != paths_.end()) return it->second.path;
    require_rest(source, destination);
    return rest_->route(source, destination, connection);
  }

  sim::Path do_route_in_switch(std::span<const sim::EndpointId> members) const override {
    return rest_->route_in_switch(members);
  }

  void require_rest(sim::EndpointId a, sim::EndpointId b) const {
    if (!routes_rest_)
      throw sim::InputError{
          fmt::format("no path is listed from {} (GPU {}) to {} (GPU {}), and routing.otherwise is not given",
                      fabric_.devices[fabric_.endpoints[a]].name, sim::index(a), fabric_.devices[fabric_.endpoints[b]].name,
                      sim::index(b))};
  }

  [[nodiscard]] sim::Duration overhead(const ClusterSpec& spec, Pair pair) const {
    if (const auto* custom = std::get_if<Custom>(&spec.scale_out)) return custom->overhead;
    const auto a = static_cast<sim::EndpointId>(pair.first), b = static_cast<sim::EndpointId>(pair.second);
    if (fabric_.domain_of(a) != fabric_.domain_of(b)) return spec.nic.overhead;
    if (const auto* s = std::get_if<NvSwitch>(&spec.scale_up)) return s->overhead;
    if (const auto* s = std::get_if<FullMesh>(&spec.scale_up)) return s->overhead;
    if (const auto* s = std::get_if<HybridCubeMesh>(&spec.scale_up)) return s->overhead;
    return spec.nic.overhead;
  }

  /// The links along the named devices.
  [[nodiscard]] std::vector<sim::LinkId> resolve(const ExplicitPath& p,
                                                 const std::unordered_map<std::string, DeviceId>& names) const {
    const std::string where = fmt::format("routing.paths[{} to {}]", p.source, p.destination);
    if (std::max(p.source, p.destination) >= fabric_.gpus())
      refuse(where, fmt::format("GPU {}", std::max(p.source, p.destination)),
             fmt::format("GPUs 0 to {}", fabric_.gpus() - 1));
    if (p.source == p.destination) refuse(where, "a path from a GPU to itself", "two different GPUs");
    if (p.devices.size() < 2) refuse(where, fmt::format("{} devices", p.devices.size()), "at least the two GPUs");
    std::vector<sim::LinkId> links;
    DeviceId at{};
    for (std::size_t i = 0; i < p.devices.size(); ++i) {
      std::string name = p.devices[i];
      std::uint32_t copy = 0;
      if (const auto hash = name.rfind('#'); hash != std::string::npos && !names.contains(name)) {
        const auto [end, error] = std::from_chars(name.data() + hash + 1, name.data() + name.size(), copy);
        if (error != std::errc{} || end != name.data() + name.size())
          refuse(where, "'" + name + "'", "a device's name, or name#number");
        name.resize(hash);
      }
      const auto it = names.find(name);
      if (it == names.end()) refuse(where, "'" + name + "'", "the name of a device of the fabric");
      if (i > 0) links.push_back(link(at, it->second, copy, where));
      at = it->second;
      const std::uint32_t end = i == 0 ? p.source : p.destination;
      if ((i == 0 || i + 1 == p.devices.size()) && at != fabric_.endpoints[static_cast<sim::EndpointId>(end)])
        refuse(where, "'" + name + "' at its end",
               fabric_.devices[fabric_.endpoints[static_cast<sim::EndpointId>(end)]].name);
    }
    return links;
  }

  [[nodiscard]] sim::LinkId link(DeviceId from, DeviceId to, std::uint32_t copy, const std::string& where) const {
    std::vector<sim::LinkId> parallel;
    for (auto [e, end] = boost::out_edges(sim::index(from), fabric_.graph); e != end; ++e)
      if (boost::target(*e, fabric_.graph) == sim::index(to)) parallel.push_back(fabric_.graph[*e].link);
    std::ranges::sort(parallel);
    const std::string hop = fabric_.devices[from].name + " to " + fabric_.devices[to].name;
    if (parallel.empty()) refuse(where, "a step from " + hop + ", which are not linked", "linked devices");
    if (copy >= parallel.size())
      refuse(where, fmt::format("link #{} from {}", copy, hop), fmt::format("#0 to #{}", parallel.size() - 1));
    return parallel[copy];
  }

  const Fabric& fabric_;
  std::unique_ptr<FabricRouter> rest_;
  bool routes_rest_;
  const LegJoiner join_;
  std::map<Pair, Entry> paths_;
};

}  // namespace

std::unique_ptr<FabricRouter> make_explicit_router(const Fabric& fabric, const ClusterSpec& spec,
                                                   std::unique_ptr<FabricRouter> rest) {
  return std::make_unique<ExplicitRouter>(fabric, spec, std::move(rest));
}

}  // namespace traingraph::topology
