#include "workloads/nccl/cost_model.h"

#include <algorithm>
#include <cmath>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

using enum NcclAlgorithm;

constexpr std::size_t index(NcclAlgorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t index(NcclProtocol p) { return static_cast<std::size_t>(p); }

double log2_floor(double n) { return std::floor(std::log2(std::max(n, 1.0))); }

}  // namespace

std::string to_string(NcclAlgorithm algorithm) {
  constexpr std::array kNames{"Tree", "Ring", "NVLS", "NVLSTree", "PAT"};
  return kNames[index(algorithm)];
}

std::string to_string(NcclProtocol protocol) {
  constexpr std::array kNames{"LL", "LL128", "Simple"};
  return kNames[index(protocol)];
}

const NcclCaps& NcclCostModel::caps() const {
  SIM_ASSERT(node_ != nullptr, "bandwidths need the node's facts");
  switch (node_->generation) {
    case NcclGeneration::volta:
      return constants_.volta;
    case NcclGeneration::ampere:
      return constants_.ampere;
    case NcclGeneration::hopper:
      return constants_.hopper;
    case NcclGeneration::blackwell:
      break;
  }
  return constants_.blackwell;
}

bool NcclCostModel::enabled(NcclAlgorithm a, NcclProtocol p) const {
  const bool reduce = job_.kind == CollectiveKind::all_reduce;
  const bool shares = job_.kind == CollectiveKind::all_gather || job_.kind == CollectiveKind::reduce_scatter;
  const bool has_nvls = node_ != nullptr && node_->nvls_channels >= 2 && job_.nvlink && job_.ranks > job_.nodes;
  switch (a) {
    case tree:
      return reduce;
    case ring:
      return reduce || shares || job_.kind == CollectiveKind::broadcast || job_.kind == CollectiveKind::reduce;
    case nvls:  // between nodes it needs CollNet
      return has_nvls && job_.nodes == 1 && p == NcclProtocol::simple && (reduce || shares);
    case nvls_tree:
      return has_nvls && job_.nodes > 1 && p == NcclProtocol::simple && reduce;
    case pat:
      return shares && p == NcclProtocol::simple && job_.ranks == job_.nodes && job_.nodes > 1;
  }
  return false;
}

double NcclCostModel::steps() const {
  const double n = job_.ranks;
  switch (job_.kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return n - 1;
    default:
      return n;
  }
}

double NcclCostModel::hop(NcclAlgorithm a, NcclProtocol p, bool net) const {
  const auto& rows = net ? constants_.net_hop : job_.nvlink ? constants_.nvlink_hop : constants_.pci_hop;
  return rows[index(a)][index(p)].in_seconds();
}

double NcclCostModel::latency_s(NcclAlgorithm a, NcclProtocol p, double bytes) const {
  const double n = job_.ranks, nodes = job_.nodes, per_node = n / nodes;
  const double base = constants_.base[index(a)][index(p)].in_seconds();
  const bool simple = p == NcclProtocol::simple;
  const double inside = hop(a, p, false);
  const double nic = node_ == nullptr ? 0 : node_->nic_latency.in_seconds() * (simple ? 2 : 1);
  const double net = hop(per_node == 1 ? tree : a, p, true) + nic;
  const double levels = log2_floor(nodes);
  switch (a) {
    case tree:
      return base + 2 * ((per_node - 1) * inside + levels * net);
    case nvls:
      return inside + (nodes > 1 ? net : 0);
    case nvls_tree:
      return base + inside + 2 * levels * net;
    case pat:
      return base + levels * net / 3.5 + 2.8e-6 * n;
    case ring:
      break;
  }
  const double ring_net = hop(ring, p, true) + nic;
  if (job_.kind == CollectiveKind::broadcast || job_.kind == CollectiveKind::reduce) {
    const double each = nodes > 1 ? ring_net : inside;
    return base + (simple ? steps() * each : each);
  }
  const double crossings = job_.kind == CollectiveKind::all_reduce ? 2 * (nodes - 1) : nodes - 1;
  double host = 0;
  if (nodes > 1) {
    const bool amd = node_ != nullptr && node_->amd_cpu;
    host = (amd ? constants_.net_overhead_amd : constants_.net_overhead_intel).in_seconds() * (simple ? 3 : 1);
  }
  double latency = base + (steps() - crossings) * std::max(inside, host) + crossings * ring_net;
  constexpr double kPlateau = 64;  // bytes of a channel and rank
  if (simple && nodes > 1 && job_.kind == CollectiveKind::all_reduce && node_ != nullptr &&
      bytes / (node_->channels * n) >= kPlateau) {
    latency *= node_->generation == NcclGeneration::volta ? 1.9 : 1.4;
  }
  return latency;
}

double NcclCostModel::bus_bandwidth(NcclAlgorithm a, NcclProtocol p) const {
  const double n = job_.ranks, nodes = job_.nodes, per_node = n / nodes;
  const std::size_t row = nodes <= 2 ? static_cast<std::size_t>(nodes) - 1 : 2;
  const auto cap = [&](const std::vector<sim::Bandwidth>& v) { return v[row].bytes_per_s(); };
  const double channels = node_->channels;
  const double all = channels * (nodes <= 2 ? node_->intra : node_->inter).bytes_per_s();
  switch (a) {
    case ring:
      if (p == NcclProtocol::ll) return std::min(cap(caps().ll), 0.5 * all);
      if (p == NcclProtocol::ll128) return std::min(0.92 * all, channels * cap(caps().ring_ll128));
      return all;
    case tree: {
      const double simple = std::min(0.92 * all, channels * cap(caps().tree_simple));
      if (p == NcclProtocol::ll) return std::min(simple / 3.8, cap(caps().ll));
      if (p == NcclProtocol::simple) return simple;
      return std::min(simple * (nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0), channels * cap(caps().tree_ll128));
    }
    case pat:
      return 0.75 * all;
    case nvls:
    case nvls_tree: {
      const double c = node_->nvls_channels;
      const bool reduce = job_.kind == CollectiveKind::all_reduce;
      double one =
          node_->nvls.bytes_per_s() * caps().nvls_efficiency * (c - 1) / c * (reduce ? 2 : (per_node - 1) / per_node);
      if (a == nvls_tree) {
        one = std::min({one, node_->inter.bytes_per_s() * channels / c * (nodes <= 2 ? 2 : 1), cap(caps().nvls_tree)});
      }
      return c * one;
    }
  }
  return 0;
}

double NcclCostModel::correction(NcclAlgorithm a, NcclProtocol p, double bytes) const {
  if (a != tree || job_.kind != CollectiveKind::all_reduce) return 1;
  const auto& table = p == NcclProtocol::ll      ? constants_.tree_correction_ll
                      : p == NcclProtocol::ll128 ? constants_.tree_correction_ll128
                                                 : constants_.tree_correction_simple;
  const double at = log2_floor(bytes / 64);
  return at >= static_cast<double>(table.size()) ? 1 : table[static_cast<std::size_t>(at)];
}

double NcclCostModel::bandwidth(NcclAlgorithm a, NcclProtocol p, double bytes) const {
  const double n = job_.ranks;
  const double bus = bus_bandwidth(a, p);
  const bool shares = job_.kind == CollectiveKind::all_gather || job_.kind == CollectiveKind::reduce_scatter;
  const double ratio = a == ring || a == nvls || a == nvls_tree ? n / steps() : shares ? 1 : 0.5;
  return bus * ratio * correction(a, p, bytes);
}

std::vector<NcclChoice> NcclCostModel::table(double bytes) const {
  std::vector<NcclChoice> all;
  for (const NcclAlgorithm a : kNcclAlgorithms) {
    for (const NcclProtocol p : kNcclProtocols) {
      if (!enabled(a, p)) continue;
      NcclChoice c{a, p, latency_s(a, p, bytes), bandwidth(a, p, bytes), 0};
      c.time_s = c.latency_s + bytes / c.bandwidth;
      all.push_back(c);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const NcclChoice& x, const NcclChoice& y) { return x.time_s < y.time_s; });
  return all;
}

}  // namespace traingraph::workloads
