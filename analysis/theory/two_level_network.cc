#include "analysis/theory/two_level_network.h"

#include <optional>
#include <variant>

namespace traingraph::analysis::theory {
namespace {

constexpr double kDirections = 2;
constexpr double kLinksToSwitchAndBack = 2;

double seconds(sim::Duration d) {
  constexpr double kPicosecondsPerSecond = 1e12;
  return static_cast<double>(d.count_ps()) / kPicosecondsPerSecond;
}

struct ScaleUpLevel {
  std::optional<NetworkLevel> operator()(const topology::NoScaleUp&) const { return std::nullopt; }
  std::optional<NetworkLevel> operator()(const topology::NvSwitch& s) const {
    return NetworkLevel{kDirections * s.bandwidth.bytes_per_s(),
                        kLinksToSwitchAndBack * seconds(s.latency) + seconds(s.overhead), static_cast<double>(s.gpus)};
  }
  std::optional<NetworkLevel> operator()(const topology::FullMesh& s) const {
    return NetworkLevel{kDirections * s.bandwidth.bytes_per_s(), seconds(s.latency) + seconds(s.overhead),
                        static_cast<double>(s.gpus)};
  }
  std::optional<NetworkLevel> operator()(const topology::HybridCubeMesh& s) const {
    constexpr double kLinks = 6;
    constexpr double kGpus = 8;
    return NetworkLevel{kDirections * kLinks * s.link_bandwidth.bytes_per_s(), seconds(s.latency) + seconds(s.overhead),
                        kGpus};
  }
};

NetworkLevel scale_out_level(const topology::ClusterSpec& cluster) {
  const topology::NicSpec& nic = cluster.nic;
  const double per_gpu = nic.per_node == 0 ? 1 : static_cast<double>(nic.per_node) / cluster.gpus_per_node;
  const double pcie = nic.pcie ? seconds(nic.pcie->latency) : 0;
  return {kDirections * per_gpu * nic.bandwidth.bytes_per_s(),
          kLinksToSwitchAndBack * (seconds(nic.latency) + pcie) + seconds(nic.overhead), 0};
}

bool switched(const topology::ScaleOut& scale_out) {
  return std::holds_alternative<topology::SingleSwitch>(scale_out) || std::holds_alternative<topology::Clos>(scale_out);
}

}  // namespace

TwoLevelNetwork two_level_network(const topology::ClusterSpec& cluster) {
  TwoLevelNetwork network;
  if (const auto inner = std::visit(ScaleUpLevel{}, cluster.scale_up)) network.levels.push_back(*inner);
  if (std::holds_alternative<topology::NoScaleOut>(cluster.scale_out)) {
    if (network.levels.empty()) network.why_not = "the cluster has no network";
    return network;
  }
  if (!switched(cluster.scale_out)) {
    return {{}, "the scale-out network is not one of switches and NICs, which two levels could stand for"};
  }
  network.levels.push_back(scale_out_level(cluster));
  return network;
}

}  // namespace traingraph::analysis::theory
