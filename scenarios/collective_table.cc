#include "scenarios/collective_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "scenarios/nccl_facts.h"
#include "sim/error.h"
#include "sim/simulate.h"
#include "topology/build.h"
#include "topology/routing.h"
#include "workloads/cluster.h"
#include "workloads/collective_run.h"
#include "workloads/nccl/traffic.h"

namespace traingraph::scenarios {

namespace {

using workloads::CollectiveKind;
using workloads::NcclAlgorithm;
using workloads::NcclProtocol;

bool point_to_point(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_recv || kind == CollectiveKind::gather ||
         kind == CollectiveKind::scatter;
}

double efficiency(NcclProtocol p) { return p == NcclProtocol::ll ? 0.5 : p == NcclProtocol::ll128 ? 0.92 : 1.0; }

/// The cluster with no software start-up: NCCL's latencies hold it.
topology::ClusterSpec bare(topology::ClusterSpec c) {
  c.nic.overhead = {};
  if (auto* n = std::get_if<topology::NvSwitch>(&c.scale_up)) n->overhead = {};
  if (auto* m = std::get_if<topology::FullMesh>(&c.scale_up)) m->overhead = {};
  if (auto* h = std::get_if<topology::HybridCubeMesh>(&c.scale_up)) h->overhead = {};
  if (auto* custom = std::get_if<topology::Custom>(&c.scale_out)) custom->overhead = {};
  return c;
}

class Runner {
 public:
  explicit Runner(const CollectiveRequest& request)
      : request_{request},
        cluster_{bare(request.cluster)},
        fabric_{topology::build(cluster_)},
        router_{topology::make_router(fabric_, cluster_)},
        constants_{load_nccl_constants()} {
    place();
    table_.ranks = static_cast<std::uint32_t>(gpus_.size());
    table_.nodes = static_cast<std::uint32_t>(groups_.nodes.size());
    table_.fabric = fabric_.name;
    job_ = {request.kind, table_.ranks, table_.nodes,
            !std::holds_alternative<topology::NoScaleUp>(cluster_.scale_up) ||
                std::holds_alternative<topology::Custom>(cluster_.scale_out)};
    check();
  }

  CollectiveTable run() {
    for (const double bytes : request_.sizes) table_.rows.push_back(row(bytes));
    drains_.clear();
    static_cast<void>(drain(last_));  // the record of the last row's algorithm
    load();
    return std::move(table_);
  }

 private:
  void place() {
    gpus_ = request_.gpus;
    if (gpus_.empty()) {
      for (std::uint32_t g = 0; g < fabric_.gpus(); ++g) gpus_.push_back(g);
    }
    if (std::set<std::uint32_t>(gpus_.begin(), gpus_.end()).size() != gpus_.size()) {
      throw sim::InputError{"a GPU is named twice"};
    }
    std::map<std::int32_t, std::vector<std::uint32_t>> domains;
    for (std::uint32_t r = 0; r < gpus_.size(); ++r) {
      if (gpus_[r] >= fabric_.gpus()) {
        throw sim::InputError{fmt::format("there is no GPU {}; GPUs are 0 to {}", gpus_[r], fabric_.gpus() - 1)};
      }
      domains[fabric_.domain_of(sim::EndpointId{gpus_[r]})].push_back(r);
    }
    for (auto& [domain, ranks] : domains) groups_.nodes.push_back(std::move(ranks));
    for (const auto& node : groups_.nodes) {
      if (node.size() != groups_.nodes.front().size()) {
        throw sim::InputError{fmt::format("{} ranks in one scale-up domain and {} in another; they must be as many in each",
                                          groups_.nodes.front().size(), node.size())};
      }
    }
    if (gpus_.size() < 2) throw sim::InputError{"a collective needs at least two GPUs"};
    groups_.full_mesh = std::holds_alternative<topology::FullMesh>(cluster_.scale_up);
  }

  [[nodiscard]] workloads::NcclCostModel model() const {
    return {constants_, request_.node ? &*request_.node : nullptr, job_};
  }

  void check() const {
    if (point_to_point(request_.kind)) {
      if (request_.algorithm || request_.protocol == NcclProtocol::ll128) {
        throw sim::InputError{"a point-to-point collective has no algorithms; --proto may be LL or Simple"};
      }
      return;
    }
    if (!request_.node && !request_.algorithm) {
      throw sim::InputError{
          "NCCL's own choice needs the channels and graph speeds of the node, which are not known for this cluster; give "
          "--algo, or "
          "--nccl with a preset of nccl_nodes"};
    }
    if (!request_.algorithm) return;
    for (const NcclProtocol p : workloads::kNcclProtocols) {
      if ((!request_.protocol || *request_.protocol == p) && model().enabled(*request_.algorithm, p)) return;
    }
    throw sim::InputError{fmt::format(
        "{}{} is not what NCCL has for this collective on {} nodes of {} ranks{}", to_string(*request_.algorithm),
        request_.protocol ? " with " + to_string(*request_.protocol) : "", job_.nodes, job_.ranks / job_.nodes,
        *request_.algorithm == NcclAlgorithm::nvls || *request_.algorithm == NcclAlgorithm::nvls_tree
            ? " (NVLS: one node, NVLSTree: several; both need the node's NVLS channels)"
            : "")};
  }

  /// Seconds in which the fabric carries the algorithm's traffic, per byte of the buffer.
  double drain(std::optional<NcclAlgorithm> algorithm) {
    const auto known = drains_.find(algorithm);
    if (known != drains_.end()) return known->second;
    constexpr double kBytes = 1e9;
    auto matrix =
        std::make_shared<const workloads::BytesMatrix>(workloads::nccl_traffic(request_.kind, algorithm, groups_, kBytes));
    workloads::CollectiveRunSpec spec;
    spec.collective = CollectiveKind::all_to_all_v;
    spec.algorithm = workloads::Algorithm::direct;
    spec.ranks = table_.ranks;
    spec.options.matrix = std::move(matrix);
    workloads::WorkloadSpec common;
    common.steps = 1;
    common.placement.kind = workloads::PlacementKind::list;
    common.placement.gpus = gpus_;
    const workloads::Workload w = workloads::build_collective_run(spec, common, workloads::cluster_of(fabric_));
    sim::RunOptions options;
    options.critical_path = false;
    options.collectives = sim::CollectiveMode::step;
    record_ = sim::simulate(fabric_.links, *router_, w.program, options);
    longest_ = record_.step_time().in_seconds();
    sim::Duration latency{};
    for (std::uint32_t r = 0; r < table_.ranks; ++r) {
      for (const auto& to : (*spec.options.matrix)[r]) {
        const sim::EndpointId a{gpus_[r]}, b{gpus_[to.destination]};
        latency = std::max(latency, router_->route(a, b, 0).latency);
        if (r > 0 && table_.ranks > 64) break;  // paths of one kind are alike
      }
    }
    const double seconds = (longest_ - latency.in_seconds()) / kBytes;
    return drains_[algorithm] = std::max(seconds, 0.0);
  }

  double time_of(std::optional<NcclAlgorithm> a, NcclProtocol p, double bytes, double latency) {
    last_ = a;
    double carry = bytes * drain(a) / efficiency(p);
    if (request_.node && a) carry = std::max(carry, bytes / model().bandwidth(*a, p, bytes));
    return latency + carry;
  }

  CollectiveRow row(double bytes) {
    CollectiveRow r;
    r.bytes = bytes;
    const bool shares = request_.kind == CollectiveKind::all_gather || request_.kind == CollectiveKind::reduce_scatter ||
                        request_.kind == CollectiveKind::all_to_all || request_.kind == CollectiveKind::gather ||
                        request_.kind == CollectiveKind::scatter;
    r.elements = static_cast<std::uint64_t>(bytes / 4 / (shares ? table_.ranks : 1));
    if (point_to_point(request_.kind)) {
      choose_point_to_point(r);
    } else {
      choose(r);
    }
    r.algbw = bytes / r.time_s;
    r.busbw = r.algbw * workloads::bus_bandwidth_factor(request_.kind, table_.ranks);
    return r;
  }

  /// Peers in other domains that the busiest rank sends to or receives from: its host posts them one after the other.
  [[nodiscard]] double remote_peers() const {
    if (job_.nodes < 2) return 0;
    return request_.kind == CollectiveKind::send_recv ? 1 : job_.ranks - job_.ranks / job_.nodes;
  }

  [[nodiscard]] double host_overhead_s() const {
    const bool amd = request_.node && request_.node->amd_cpu;
    return (amd ? constants_.net_overhead_amd : constants_.net_overhead_intel).in_seconds();
  }

  void choose_point_to_point(CollectiveRow& r) {
    r.algorithm = "P2P";
    r.time_s = std::numeric_limits<double>::infinity();
    for (const NcclProtocol p : {NcclProtocol::ll, NcclProtocol::simple}) {
      if (request_.protocol && *request_.protocol != p) continue;
      const auto i = static_cast<std::size_t>(p);
      const auto ring = static_cast<std::size_t>(NcclAlgorithm::ring);
      const auto& hops = job_.nodes > 1 ? constants_.net_hop : job_.nvlink ? constants_.nvlink_hop : constants_.pci_hop;
      const double nic = request_.node && job_.nodes > 1 ? request_.node->nic_latency.in_seconds() : 0;
      const double latency = constants_.base[ring][i].in_seconds() + hops[ring][i].in_seconds() + nic +
                             remote_peers() * host_overhead_s() * (p == NcclProtocol::simple ? 3 : 1);
      const double time = time_of(std::nullopt, p, r.bytes, latency);
      if (time >= r.time_s) continue;
      r.time_s = time;
      r.latency_s = latency;
      r.protocol = to_string(p);
    }
  }

  void choose(CollectiveRow& r) {
    const workloads::NcclCostModel m = model();
    if (request_.node) r.costs = m.table(r.bytes);
    NcclAlgorithm a = request_.algorithm.value_or(NcclAlgorithm::ring);
    NcclProtocol p = request_.protocol.value_or(NcclProtocol::simple);
    if (request_.node) {
      for (const workloads::NcclChoice& c : r.costs) {  // the fastest of what is allowed
        if (request_.algorithm && *request_.algorithm != c.algorithm) continue;
        if (request_.protocol && *request_.protocol != c.protocol) continue;
        a = c.algorithm;
        p = c.protocol;
        break;
      }
    } else if (!request_.protocol) {
      p = fastest_protocol(a, r.bytes);
    }
    r.algorithm = to_string(a);
    r.protocol = to_string(p);
    r.latency_s = m.latency_s(a, p, r.bytes);
    r.time_s = time_of(a, p, r.bytes, r.latency_s);
  }

  /// Without the node's facts, for a given algorithm: by the time that this table prints.
  NcclProtocol fastest_protocol(NcclAlgorithm a, double bytes) {
    NcclProtocol best = NcclProtocol::simple;
    double least = std::numeric_limits<double>::infinity();
    for (const NcclProtocol p : workloads::kNcclProtocols) {
      if (!model().enabled(a, p)) continue;
      const double time = time_of(a, p, bytes, model().latency_s(a, p, bytes));
      if (time >= least) continue;
      least = time;
      best = p;
    }
    return best;
  }

  void load() {
    if (record_.links.empty() || !(longest_ > 0)) return;
    constexpr double kBytes = 1e9;
    for (std::uint32_t i = 0; i < fabric_.links.size(); ++i) {
      const sim::LinkId id{i};
      const double bytes = record_.links[id].bytes;
      if (bytes <= 0) continue;
      table_.load.push_back(
          {fabric_.link_info[id].name, bytes / kBytes, bytes / (fabric_.links[id].capacity.bytes_per_s() * longest_)});
    }
    std::stable_sort(table_.load.begin(), table_.load.end(),
                     [](const LinkLoad& x, const LinkLoad& y) { return x.utilization > y.utilization; });
  }

  const CollectiveRequest& request_;
  topology::ClusterSpec cluster_;
  topology::Fabric fabric_;
  std::unique_ptr<topology::FabricRouter> router_;
  workloads::NcclConstants constants_;
  workloads::NcclJob job_;
  std::vector<std::uint32_t> gpus_;
  workloads::NcclGroups groups_;
  std::map<std::optional<NcclAlgorithm>, double> drains_;
  std::optional<NcclAlgorithm> last_;
  sim::Record record_;
  double longest_ = 0;
  CollectiveTable table_;
};

}  // namespace

CollectiveTable run_collective_table(const CollectiveRequest& request) { return Runner{request}.run(); }

}  // namespace traingraph::scenarios
