// NCCL topology XML: <system> holds <cpu> (a socket), which hold <pci> trees; a <pci> of class 0x0302, 0x0300 or 0x12 is a
// GPU, 0x02 a NIC, 0x0604 a bridge; <gpu> holds <nvlink>/<xgmi target="busid" count="n" tclass="class of the target">, <nic>
// holds <net speed="Mb/s">. Files that NCCL is given leave out what it finds by itself (NVLinks, ports of NICs).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "topology/import/formats.h"
#include "topology/import/node_template.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

struct NvLink {
  std::string from, to;  ///< bus ids
  std::uint32_t count = 1;
  std::string target_class;
  sim::Bandwidth bandwidth;
  std::size_t offset = 0;
};

class Reader {
 public:
  Reader(const ImportFile& file, const ImportOptions& options) : file_{file}, options_{options}, writer_{options} {}

  Imported read() {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(file_.text.data(), file_.text.size());
    if (!parsed) fail_at(static_cast<std::size_t>(parsed.offset), parsed.description());
    const pugi::xml_node root = document.document_element();
    if (std::strcmp(root.name(), "system") != 0) {
      fail_at(offset(root), fmt::format("found <{}>, allowed: <system>, the root of a topology{}", root.name(),
                                        std::strcmp(root.name(), "graphs") == 0 ? " (this is a graph file)" : ""));
    }
    for (const pugi::xml_node child : root.children()) {
      if (is(child, "cpu")) cpu(child);
      if (is(child, "pci")) pci(child, "", 0);
      if (is(child, "nic")) nic(child, "", 0);
    }
    if (gpus_.empty()) fail_at(offset(root), "there is no GPU in this topology");
    join_cpus();
    join_gpus();
    return write_nodes(file_, node_, std::move(writer_), options_);
  }

 private:
  static constexpr int kDeepest = 64;

  static bool is(const pugi::xml_node& node, const char* name) { return std::strcmp(node.name(), name) == 0; }
  static std::size_t offset(const pugi::xml_node& node) {
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  }

  [[noreturn]] void fail_at(std::size_t at, std::string_view text) const {
    at = std::min(at, file_.text.size());
    const std::string_view before = std::string_view{file_.text}.substr(0, at);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    fail(file_, line + 1, at - (start == std::string_view::npos ? 0 : start + 1) + 1, text);
  }

  double attribute(const pugi::xml_node& node, const char* name, double absent, double least, double most) const {
    const pugi::xml_attribute a = node.attribute(name);
    if (!a || *a.value() == 0) return absent;
    const auto value = number(a.value());
    if (!value || *value < least || *value > most) {
      fail_at(offset(node),
              fmt::format("<{}> {}: found {}, allowed: {} to {}", node.name(), name, shown(a.value()), least, most));
    }
    return *value;
  }

  void cpu(const pugi::xml_node& node) {
    const std::string name = fmt::format("cpu{}", cpus_.size());
    cpus_.push_back(name);
    node_.devices.push_back({.name = name, .kind = DeviceKind::host});
    for (const pugi::xml_node child : node.children()) {
      if (is(child, "pci")) pci(child, name, 0);
      if (is(child, "nic")) nic(child, name, 0);
    }
  }

  /// The link of a PCIe device to what is above it: GT/s of a lane x lanes x what the line code leaves.
  LinkSpec pcie(const pugi::xml_node& node) {
    std::string speed = node.attribute("link_speed").value();
    speed.resize(std::min(speed.find("GT/s"), speed.size()));
    speed = std::string{trimmed(speed)};
    auto transfers = number(speed);
    double lanes = attribute(node, "link_width", 0, 0, 64);
    if (!speed.empty() && speed != "Unknown" && (!transfers || *transfers < 0 || *transfers > 1000)) {
      fail_at(offset(node), fmt::format("<pci> link_speed: found {}, allowed: such as '16 GT/s'",
                                        shown(node.attribute("link_speed").value())));
    }
    if (!transfers || *transfers == 0 || lanes == 0) {
      writer_.note("some PCIe devices have no link speed or width; taken as 8 GT/s and 16 lanes, as NCCL does");
      if (!transfers || *transfers == 0) transfers = 8;
      if (lanes == 0) lanes = 16;
    }
    const double code = *transfers <= 5 ? 0.8 : *transfers <= 32 ? 128.0 / 130.0 : 242.0 / 256.0;
    return {sim::Bandwidth::bytes_per_s(*transfers * 1e9 * lanes * code / 8), sim::Duration{}};
  }

  void pci(const pugi::xml_node& node, const std::string& above, int depth) {
    if (depth > kDeepest) fail_at(offset(node), fmt::format("<pci> nested more than {} deep", kDeepest));
    const std::string_view kind = node.attribute("class").value();
    const pugi::xml_node gpu = node.child("gpu");
    const bool is_gpu = gpu || kind.starts_with("0x0302") || kind.starts_with("0x0300") || kind.starts_with("0x12");
    if (is_gpu) return add_gpu(node, gpu, above);
    if (node.child("nic") || kind.starts_with("0x02")) return nic(node, above, depth);
    if (kind.starts_with("0x0680")) return;  // an NVSwitch: known by the links to it
    const std::string name = fmt::format("pcie{}", switches_++);
    node_.devices.push_back({.name = name, .kind = DeviceKind::pcie_switch});
    if (!above.empty()) node_.links.push_back({name, above, pcie(node), Tier::pcie});
    for (const pugi::xml_node child : node.children()) {
      if (is(child, "pci")) pci(child, name, depth + 1);
      if (is(child, "nic")) nic(child, name, depth + 1);
    }
  }

  void add_gpu(const pugi::xml_node& node, const pugi::xml_node& gpu, const std::string& above) {
    const std::string bus = node.attribute("busid").value();
    if (bus.empty()) fail_at(offset(node), "a GPU without busid");
    if (!gpus_.emplace(bus, "").second) fail_at(offset(node), fmt::format("busid {} is given twice", shown(bus)));
    const double place = attribute(gpu, "dev", static_cast<double>(gpu_order_.size()), 0, 1e6);
    gpu_order_.push_back({place, bus});
    above_gpu_[bus] = {above, pcie(node)};
    const sim::Bandwidth nvlink = speed_of_generation(attribute(gpu, "sm", 0, 0, 10000));
    for (const pugi::xml_node link : gpu.children()) {
      const bool xgmi = is(link, "xgmi");
      if (!xgmi && !is(link, "nvlink")) continue;
      links_.push_back({.from = bus,
                        .to = link.attribute("target").value(),
                        .count = static_cast<std::uint32_t>(attribute(link, "count", 1, 1, 1024)),
                        .target_class = link.attribute("tclass").value(),
                        .bandwidth = xgmi ? options_.xgmi : nvlink,
                        .offset = offset(link)});
    }
    for (const pugi::xml_node link : gpu.children("c2c")) {  // Grace: to its own CPU, MB/s
      const double mega = attribute(link, "bw", 0, 0, 1e9) * attribute(link, "count", 1, 1, 1024);
      if (mega > 0 && !cpus_.empty()) {
        above_gpu_[bus] = {cpus_.back(), {sim::Bandwidth::bytes_per_s(mega * 1e6), sim::Duration{}}};
      }
    }
  }

  [[nodiscard]] sim::Bandwidth speed_of_generation(double sm) const {
    if (sm >= 100) return options_.nvlink_sm100;
    if (sm >= 90) return options_.nvlink_sm90;
    if (sm == 86) return options_.nvlink_sm86;
    return sm >= 70 || sm == 0 ? options_.nvlink_sm70 : options_.nvlink_sm60;
  }

  /// `node`: <nic>, or the <pci> of a NIC with or without <nic> in it.
  void nic(const pugi::xml_node& node, const std::string& above, int depth) {
    const LinkSpec up = is(node, "pci") ? pcie(node) : LinkSpec{};
    std::vector<pugi::xml_node> nets;
    for (const pugi::xml_node child : node.children()) {
      if (is(child, "net")) nets.push_back(child);
      if (is(child, "nic")) {
        for (const pugi::xml_node net : child.children("net")) nets.push_back(net);
      }
      if (is(child, "pci") && depth < kDeepest) nic(child, above, depth + 1);
    }
    if (nets.empty()) {
      writer_.note(fmt::format("speed of the NICs: not in the file, taken as {}; --set bandwidth=200Gb/s gives another",
                               gbit(options_.bandwidth)));
      return add_nic(options_.bandwidth, above, up);
    }
    for (const pugi::xml_node net : nets) {
      const double mega = attribute(net, "speed", 0, 0, 1e9);
      if (mega <= 0) {
        writer_.note(fmt::format("some NICs have no speed in the file; taken as {}", gbit(options_.bandwidth)));
      }
      add_nic(mega > 0 ? sim::Bandwidth::bytes_per_s(mega * 1.25e5) : options_.bandwidth, above, up);
    }
  }

  void add_nic(sim::Bandwidth bandwidth, const std::string& above, LinkSpec up) {
    const std::string name = fmt::format("nic{}", node_.nics.size());
    node_.devices.push_back({.name = name, .kind = DeviceKind::nic, .rail = static_cast<std::int32_t>(node_.nics.size())});
    node_.nics.push_back(bandwidth);
    if (above.empty()) return;
    node_.links.push_back({name, above, up.bandwidth > sim::Bandwidth{} ? up : LinkSpec{bandwidth, {}}, Tier::pcie});
  }

  void join_cpus() {
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      for (std::size_t j = i + 1; j < cpus_.size(); ++j) {
        node_.links.push_back({cpus_[i], cpus_[j], {options_.cpu_bus, {}}, Tier::other});
        writer_.note(
            fmt::format("links between sockets: not in the file, taken as {:g} GB/s", options_.cpu_bus.bytes_per_s() / 1e9));
      }
    }
  }

  void join_gpus() {
    std::stable_sort(gpu_order_.begin(), gpu_order_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<CustomDevice> first;
    for (std::size_t i = 0; i < gpu_order_.size(); ++i) {
      const std::string name = fmt::format("gpu{}", i);
      gpus_[gpu_order_[i].second] = name;
      first.push_back({.name = name, .kind = DeviceKind::gpu, .rail = static_cast<std::int32_t>(i)});
    }
    node_.devices.insert(node_.devices.begin(), first.begin(), first.end());
    add_nvlinks();
    const bool invented = !node_.scale_up && options_.scale_up > sim::Bandwidth{} && gpus_.size() > 1;
    if (invented) add_switch();
    if (!node_.scale_up && !invented && gpus_.size() > 1) {
      writer_.note("NVLinks: none in the file, GPUs meet over PCIe; --set scale_up=370.8GB/s gives them a switch");
    }
    node_.scale_up = node_.scale_up || invented;
    // A GPU has a port of its own on the PCIe tree, so that a way over NVLink is always the shorter one.
    for (const auto& [bus, way] : above_gpu_) {
      if (way.first.empty()) continue;
      const std::string& gpu = gpus_.at(bus);
      if (!node_.scale_up) {
        node_.links.push_back({gpu, way.first, way.second, Tier::pcie});
        continue;
      }
      node_.devices.push_back({.name = gpu + "_port", .kind = DeviceKind::pcie_switch});
      node_.links.push_back({gpu, gpu + "_port", way.second, Tier::pcie});
      node_.links.push_back({gpu + "_port", way.first, way.second, Tier::pcie});
    }
  }

  void add_nvlinks() {
    std::map<std::string, std::string> hubs;  // NVSwitches by bus id
    std::map<std::pair<std::string, std::string>, NvLink> direct;
    for (const NvLink& l : links_) {
      node_.scale_up = true;
      writer_.note(fmt::format("a link between GPUs carries {:g} GB/s, from the table of link speeds",
                               l.bandwidth.bytes_per_s() / 1e9));
      if (gpus_.contains(l.to)) {
        if (l.from == l.to) fail_at(l.offset, "a link from a GPU to itself");
        const auto [at, added] = direct.emplace(std::minmax(l.from, l.to), l);
        if (!added && at->second.count != l.count) {
          fail_at(l.offset, fmt::format("{} links from {} to {}, but {} back", l.count, l.from, l.to, at->second.count));
        }
      } else if (l.target_class.starts_with("0x0680")) {
        const auto [hub, added] = hubs.emplace(l.to, fmt::format("nvswitch{}", hubs.size()));
        if (added) node_.devices.push_back({.name = hub->second, .kind = DeviceKind::nvswitch});
        node_.links.push_back(
            {gpus_.at(l.from), hub->second, {l.bandwidth, options_.scale_up_latency}, Tier::scale_up, l.count});
      } else if (l.target_class.starts_with("0x0604") && !cpus_.empty()) {
        writer_.note("NVLinks between GPUs and CPUs are left out");  // POWER
      } else {
        writer_.note(fmt::format("links to {}, which is not in the file, are left out", shown(l.to)));
      }
    }
    for (const auto& [ends, l] : direct) {
      node_.links.push_back(
          {gpus_.at(ends.first), gpus_.at(ends.second), {l.bandwidth, options_.scale_up_latency}, Tier::scale_up, l.count});
    }
    const std::size_t pairs = gpus_.size() * (gpus_.size() - 1) / 2;
    node_.gpus_forward = !direct.empty() && hubs.empty() && direct.size() < pairs;
  }

  void add_switch() {
    node_.devices.push_back({.name = "nvswitch0", .kind = DeviceKind::nvswitch});
    for (const auto& [bus, gpu] : gpus_) {
      node_.links.push_back({gpu, "nvswitch0", {options_.scale_up, options_.scale_up_latency}, Tier::scale_up});
    }
    writer_.note("NVLinks: none in the file; the GPUs are joined by one switch, as asked for");
  }

  const ImportFile& file_;
  const ImportOptions& options_;
  CustomWriter writer_;
  NodeTemplate node_;
  std::vector<std::string> cpus_;
  std::vector<NvLink> links_;
  std::map<std::string, std::string> gpus_;  // bus id to name
  std::vector<std::pair<double, std::string>> gpu_order_;
  std::map<std::string, std::pair<std::string, LinkSpec>> above_gpu_;
  std::uint32_t switches_ = 0;
};

}  // namespace

Imported read_nccl_xml(const ImportFile& file, const ImportOptions& options) { return Reader{file, options}.read(); }

}  // namespace traingraph::topology::imports
