#include "topology/import/ib_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <set>
#include <vector>

#include "topology/import/custom_writer.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

struct Rate {
  std::string_view name;
  double signalling;  ///< Gb/s of a lane on the wire
  double data;        ///< Gb/s of a lane, line code taken off (InfiniBand Architecture Specification, volume 2)
};
constexpr std::array<Rate, 10> kRates{{{"SDR", 2.5, 2},
                                       {"DDR", 5, 4},
                                       {"QDR", 10, 8},
                                       {"FDR10", 10.3125, 10},
                                       {"FDR", 14.0625, 13.64},
                                       {"EDR", 25.78125, 25},
                                       {"HDR", 53.125, 50},
                                       {"NDR", 106.25, 100},
                                       {"XDR", 212.5, 200},
                                       {"GDR", 425, 400}}};

bool aggregates(const IbNode& node) { return node.description.find("Aggregation Node") != std::string::npos; }

class Writer {
 public:
  Writer(const ImportFile& file, const IbFabric& fabric, const ImportOptions& options)
      : file_{file}, fabric_{fabric}, options_{options}, writer_{options} {}

  Imported write() {
    name_nodes();
    for (const auto& [ends, speed] : fabric_.links) {
      ports_[ends.first.node].insert(ends.first.port);
      ports_[ends.second.node].insert(ends.second.port);
    }
    std::uint32_t number = 0;
    for (const auto& [host, adapters] : hosts_) add_host(host, adapters, static_cast<std::int32_t>(number++));
    if (hosts_.empty()) fail(file_, 1, 1, "there is no channel adapter in this fabric, so no GPU");
    add_switches();
    add_links();
    writer_.custom().gpus_forward = false;
    return std::move(writer_).finish(file_.name, number);
  }

 private:
  void name_nodes() {
    std::map<std::string, std::uint32_t> same;
    for (const auto& [id, node] : fabric_.nodes) {
      if (!node.is_switch) {
        if (aggregates(node)) {
          writer_.note("the switches' aggregation nodes (SHARP) are left out");
          continue;
        }
        const std::string_view text = trimmed(node.description);
        const std::string host{text.empty() ? std::string_view{id} : text.substr(0, text.find_first_of(" \t"))};
        hosts_[host].push_back(id);
      } else {
        std::string name = node.description.empty() ? id : node.description;
        for (char& c : name) {
          if (static_cast<unsigned char>(c) <= 0x20) c = '_';
        }
        const std::uint32_t copy = same[name]++;
        names_[id] = copy == 0 ? name : fmt::format("{}#{}", name, copy);
      }
    }
  }

  void add_host(const std::string& host, const std::vector<std::string>& adapters, std::int32_t number) {
    // one NIC a port in use
    std::vector<std::string> nics;
    for (const std::string& id : adapters) {
      for (const std::uint32_t port : ports_[id]) {
        const std::string name = fmt::format("{}.nic{}", host, nics.size());
        port_names_[{id, port}] = name;
        nics.push_back(name);
      }
    }
    if (nics.empty()) {
      writer_.note("hosts without a link are left out");
      return;
    }
    const auto count = static_cast<std::uint32_t>(nics.size());
    const std::uint32_t gpus = options_.gpus_per_node == 0 ? count : options_.gpus_per_node;
    if (options_.gpus_per_node == 0) {
      writer_.note("GPUs of a host: not in the file, taken as one per port; --set gpus_per_node=8 gives another number");
    }
    writer_.gpus_of_node(host, number, gpus);
    for (std::uint32_t i = 0; i < count; ++i) {
      writer_.device({.name = nics[i], .kind = DeviceKind::nic, .node = number, .rail = static_cast<std::int32_t>(i)});
    }
    for (std::uint32_t i = 0; i < std::max(gpus, count); ++i) {
      const std::uint32_t gpu = gpus >= count ? i : i * gpus / count;
      const std::uint32_t nic = gpus >= count ? i * count / gpus : i;
      pending_.push_back({fmt::format("{}.gpu{}", host, gpu), nics[nic]});
    }
  }

  void add_switches() {
    std::map<std::string, std::vector<std::string>> next;
    for (const auto& [ends, speed] : fabric_.links) {
      next[ends.first.node].push_back(ends.second.node);
      next[ends.second.node].push_back(ends.first.node);
    }
    std::map<std::string, int> level;
    std::deque<std::string> queue;
    for (const auto& [host, adapters] : hosts_) {
      for (const std::string& id : adapters) {
        level[id] = 0;
        queue.push_back(id);
      }
    }
    while (!queue.empty()) {
      const std::string id = queue.front();
      queue.pop_front();
      for (const std::string& other : next[id]) {
        if (names_.contains(other) && level.emplace(other, level[id] + 1).second) queue.push_back(other);
      }
    }
    for (const auto& [id, name] : names_) {
      const auto at = level.find(id);
      if (at == level.end()) {
        writer_.note("switches that no host reaches are left out");
        continue;
      }
      placed_.insert(id);
      level_of_name_[name] = at->second;
      writer_.device({.name = name,
                      .kind = at->second == 1   ? DeviceKind::leaf
                              : at->second == 2 ? DeviceKind::spine
                                                : DeviceKind::core});
    }
  }

  void add_links() {
    std::map<std::string, sim::Bandwidth> nic_speed;
    std::map<std::pair<std::string, std::string>, std::map<double, std::uint32_t>> cables;
    for (const auto& [ends, told] : fabric_.links) {
      const std::string a = name_of(ends.first), b = name_of(ends.second);
      if (a.empty() || b.empty()) continue;
      sim::Bandwidth speed = told;
      if (!(speed > sim::Bandwidth{})) {
        speed = options_.bandwidth;
        writer_.note(fmt::format("speed of links: not in the file, taken as {}; --set bandwidth=200Gb/s gives another",
                                 gbit(options_.bandwidth)));
      }
      for (const std::string& end : {a, b}) {
        if (end.find(".nic") != std::string::npos) nic_speed[end] = speed;
      }
      ++cables[std::minmax(a, b)][speed.bytes_per_s()];
    }
    for (const auto& [gpu, nic] : pending_) writer_.link(gpu, nic, {nic_speed[nic], {}}, Tier::pcie);
    for (const auto& [ends, speeds] : cables) {
      for (const auto& [speed, count] : speeds) {
        writer_.link(ends.first, ends.second, {sim::Bandwidth::bytes_per_s(speed), options_.latency}, tier(ends), count);
      }
    }
    writer_.note(fmt::format("latency of links: not in the file, taken as {:g} ns",
                             static_cast<double>(options_.latency.count_ps()) / 1e3));
  }

  [[nodiscard]] std::string name_of(const IbPort& port) const {
    if (const auto at = port_names_.find(port); at != port_names_.end()) return at->second;
    return placed_.contains(port.node) ? names_.at(port.node) : std::string{};
  }

  [[nodiscard]] Tier tier(const std::pair<std::string, std::string>& ends) const {
    int top = 0;
    for (const std::string& name : {ends.first, ends.second}) {
      const auto at = level_of_name_.find(name);
      if (at != level_of_name_.end()) top = std::max(top, at->second);
    }
    return top <= 1 ? Tier::nic : top == 2 ? Tier::leaf_spine : Tier::spine_core;
  }

  const ImportFile& file_;
  const IbFabric& fabric_;
  const ImportOptions& options_;
  CustomWriter writer_;
  std::map<std::string, std::vector<std::string>> hosts_;  // adapters by host
  std::map<std::string, std::string> names_;               // switches by id
  std::map<std::string, int> level_of_name_;
  std::map<std::string, std::set<std::uint32_t>> ports_;  // in use, by id
  std::set<std::string> placed_;
  std::map<IbPort, std::string> port_names_;
  std::vector<std::pair<std::string, std::string>> pending_;  // GPU and its NIC
};

}  // namespace

void IbFabric::node(const std::string& id, bool is_switch, std::string_view description) {
  IbNode& n = nodes[id];
  n.is_switch = n.is_switch || is_switch;
  if (n.description.empty()) n.description = trimmed(description);
}

void IbFabric::link(IbPort a, IbPort b, sim::Bandwidth speed) {
  if (b < a) std::swap(a, b);
  sim::Bandwidth& known = links[{std::move(a), std::move(b)}];
  known = std::max(known, speed);
}

double lane_rate(std::string_view name) {
  for (const Rate& r : kRates) {
    if (equal_ignoring_case(r.name, name)) return r.data;
  }
  return 0;
}

double lane_rate(double signalling) {
  for (const Rate& r : kRates) {
    if (std::abs(r.signalling - signalling) < 0.01) return r.data;
  }
  return 0;
}

Imported write_ib_fabric(const ImportFile& file, const IbFabric& fabric, const ImportOptions& options) {
  return Writer{file, fabric, options}.write();
}

}  // namespace traingraph::topology::imports
