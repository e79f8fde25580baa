// InfraGraph: devices made of components with links between them, instances of devices, and links between instances'
// components. Two forms are in use: `connections` ("server.0.nic.0.eth1.leafsw.0.port.0": instance, number, component,
// number, link, and the other end) and `edges` ({scheme: one2one or many2many, link, ep1: {instance: "host[0:4]", component:
// "nic"}, ep2}, with Python's slices). Devices and instances may stand in several files. A count that is not given is what
// the connections use.
#include "topology/import/infragraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

class Expander {
 public:
  Expander(std::span<const ParsedFile> files, const ImportOptions& options)
      : file_{*files.front().file}, options_{options}, writer_{options}, infra_{read_infrastructure(files, writer_)} {}

  Imported write() {
    complete();
    expand();
    if (gpus_ == 0) {
      fail(file_, 1, 1, "there is no GPU (a component of type xpu, npu or gpu) in this infrastructure");
    }
    writer_.custom().gpus_forward = switches_ == 0;
    return std::move(writer_).finish(file_.name, nodes_);
  }

 private:
  [[noreturn]] static void fail_at(const InfraPlace& p, std::string_view text) { fail(*p.file, p.line, p.column, text); }

  /// Counts that are not given, devices and instances that are only used.
  void complete() {
    for (auto& [name, device] : infra_.devices) {
      for (const InfraEdge& e : device.edges) {
        for (const InfraEndpoint* end : {&e.a, &e.b}) use(device, end->component, e.place);
      }
    }
    for (const InfraEdge& e : infra_.edges) {
      for (const InfraEndpoint* end : {&e.a, &e.b}) {
        InfraInstance& instance = instance_of(end->instance.name);
        if (end->instance.last) instance.count = grown(instance.count, *end->instance.last);
        InfraDevice& device = infra_.devices[instance.device];
        if (device.components.empty()) {
          writer_.note(
              fmt::format("device {} is not described: taken as what the connections name", shown(instance.device)));
        }
        use(device, end->component, {});
      }
    }
    for (const auto& [name, instance] : infra_.instances) infra_.devices.try_emplace(instance.device);
    for (auto& [name, device] : infra_.devices) {
      for (InfraComponent& c : device.components) c.count = std::max(c.count, 1U);
    }
    if (infra_.instances.empty()) {  // a device alone
      for (const auto& [name, device] : infra_.devices) infra_.instances[name] = {name, 1};
    }
    for (auto& [name, instance] : infra_.instances) instance.count = std::max(instance.count, 1U);
  }

  static std::uint32_t grown(std::uint32_t count, std::int64_t last) {
    return std::max(count, static_cast<std::uint32_t>(std::clamp<std::int64_t>(last, 0, kMostDevices)));
  }

  void use(InfraDevice& device, const InfraSlice& component, const InfraPlace& p) const {
    const auto at = std::find_if(device.components.begin(), device.components.end(),
                                 [&](const InfraComponent& c) { return c.name == component.name; });
    if (at != device.components.end()) {
      if (component.last) at->count = grown(at->count, *component.last);
      return;
    }
    if (p.file != nullptr) fail_at(p, fmt::format("no component {} in this device", shown(component.name)));
    const bool nic = component.name.find("nic") != std::string::npos;
    device.components.push_back({component.name, nic ? "nic" : "custom", grown(1, component.last.value_or(1))});
  }

  InfraInstance& instance_of(const std::string& name) {
    const auto at = infra_.instances.find(name);
    if (at != infra_.instances.end()) return at->second;
    std::set<std::string> used;
    for (const auto& [other, instance] : infra_.instances) used.insert(instance.device);
    std::string device = name;
    for (const auto& [candidate, description] : infra_.devices) {
      if (!used.contains(candidate) && !description.components.empty()) device = candidate;
    }
    writer_.note(fmt::format("instance {} is not declared: taken as of device {}", shown(name), shown(device)));
    return infra_.instances[name] = {device, 0};
  }

  DeviceKind kind_of(const InfraComponent& c, bool has_gpus) const {
    const std::string& t = c.type;
    if (t == "xpu" || t == "npu" || t == "gpu") return DeviceKind::gpu;
    if (!has_gpus) return t == "nic" && c.name.find("nic") != std::string::npos ? DeviceKind::nic : DeviceKind::switch_;
    if (t == "cpu") return DeviceKind::host;
    if (t == "nic") return DeviceKind::nic;
    if (c.name.find("nvl") != std::string::npos) return DeviceKind::nvswitch;
    return c.name.find("pci") != std::string::npos ? DeviceKind::pcie_switch : DeviceKind::switch_;
  }

  static std::string full(const std::string& instance, std::uint32_t i, const std::string& component, std::uint32_t j) {
    return fmt::format("{}{}.{}{}", instance, i, component, j);
  }

  void expand() {
    for (const auto& [name, instance] : infra_.instances) {
      const InfraDevice& device = infra_.devices.at(instance.device);
      const bool has_gpus = std::any_of(device.components.begin(), device.components.end(), [](const InfraComponent& c) {
        return c.type == "xpu" || c.type == "npu" || c.type == "gpu";
      });
      const bool joined = std::any_of(device.components.begin(), device.components.end(),
                                      [](const InfraComponent& c) { return c.name.find("nvl") != std::string::npos; });
      for (std::uint32_t i = 0; i < instance.count; ++i) {
        const std::int32_t node = has_gpus ? static_cast<std::int32_t>(nodes_++) : -1;
        for (const InfraComponent& c : device.components) {
          const DeviceKind kind = kind_of(c, has_gpus);
          for (std::uint32_t j = 0; j < c.count; ++j) {
            gpus_ += kind == DeviceKind::gpu ? 1 : 0;
            switches_ += kind != DeviceKind::gpu ? 1 : 0;
            writer_.device({.name = full(name, i, c.name, j),
                            .kind = kind,
                            .domain = kind == DeviceKind::gpu && joined ? node : -1,
                            .node = node});
          }
        }
        for (const InfraEdge& e : device.edges) {
          join(e, points(device, name, i, e.a, e.place), points(device, name, i, e.b, e.place), device.links);
        }
      }
    }
    for (const InfraEdge& e : infra_.edges) join(e, points(e.a, e.place), points(e.b, e.place), infra_.links);
  }

  static std::vector<std::uint32_t> numbers(const InfraSlice& s, std::uint32_t count, const InfraPlace& p) {
    std::vector<std::uint32_t> out;
    const std::int64_t last = s.last.value_or(count);
    if (last > count) fail_at(p, fmt::format("{}[{}], but there are {}", s.name, last - 1, count));
    for (std::int64_t i = s.first.value_or(0); i < last; i += s.step) out.push_back(static_cast<std::uint32_t>(i));
    return out;
  }

  static std::vector<std::string> points(const InfraDevice& device, const std::string& instance, std::uint32_t i,
                                         const InfraEndpoint& e, const InfraPlace& p) {
    const auto at = std::find_if(device.components.begin(), device.components.end(),
                                 [&](const InfraComponent& c) { return c.name == e.component.name; });
    if (at == device.components.end()) fail_at(p, fmt::format("no component {} there", shown(e.component.name)));
    std::vector<std::string> out;
    for (const std::uint32_t j : numbers(e.component, at->count, p)) out.push_back(full(instance, i, at->name, j));
    return out;
  }

  std::vector<std::string> points(const InfraEndpoint& e, const InfraPlace& p) const {
    const InfraInstance& instance = infra_.instances.at(e.instance.name);
    const InfraDevice& device = infra_.devices.at(instance.device);
    std::vector<std::string> out;
    for (const std::uint32_t i : numbers(e.instance, instance.count, p)) {
      for (std::string& point : points(device, e.instance.name, i, e, p)) out.push_back(std::move(point));
    }
    return out;
  }

  sim::Bandwidth speed_of(const InfraEdge& e, const InfraLinks& links) {
    const auto at = links.find(e.link);
    for (auto d = infra_.devices.begin(); at == links.end() && d != infra_.devices.end();
         ++d) {  // a device's link used between devices
      const auto inner = d->second.links.find(e.link);
      if (inner != d->second.links.end()) return speed_of(e, d->second.links);
    }
    if (at == links.end()) fail_at(e.place, fmt::format("no link {} is described", shown(e.link)));
    if (at->second > sim::Bandwidth{}) return at->second;
    sim::Bandwidth speed = std::max(infra_.fastest, options_.bandwidth);
    if (e.link.find("nvl") != std::string::npos)
      speed = options_.scale_up > sim::Bandwidth{} ? options_.scale_up : options_.nvlink_sm70;
    if (e.link.find("pci") != std::string::npos) speed = options_.pcie;
    writer_.note(
        fmt::format("link {} has no bandwidth in the file: taken as {:g} GB/s", shown(e.link), speed.bytes_per_s() / 1e9));
    return speed;
  }

  void join(const InfraEdge& e, const std::vector<std::string>& a, const std::vector<std::string>& b,
            const InfraLinks& links) {
    const LinkSpec speed{speed_of(e, links), options_.latency};
    writer_.note(fmt::format("latency of links: not in the file, taken as {:g} ns",
                             static_cast<double>(options_.latency.count_ps()) / 1e3));
    const Tier tier = e.link.find("nvl") != std::string::npos   ? Tier::scale_up
                      : e.link.find("pci") != std::string::npos ? Tier::pcie
                                                                : Tier::other;
    if (!e.every_pair) {
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] != b[i]) writer_.link(a[i], b[i], speed, tier);
      }
      return;
    }
    std::set<std::pair<std::string_view, std::string_view>> done;
    const bool same = a == b;
    for (const std::string& x : a) {
      for (const std::string& y : b) {
        if (x == y || (same && done.contains({y, x}))) continue;
        if (same) done.insert({x, y});
        writer_.link(x, y, speed, tier);
      }
    }
  }

  const ImportFile& file_;
  const ImportOptions& options_;
  CustomWriter writer_;
  Infrastructure infra_;
  std::uint32_t nodes_ = 0, gpus_ = 0, switches_ = 0;
};

}  // namespace

Imported read_infragraph(std::span<const ParsedFile> files, const ImportOptions& options) {
  return Expander{files, options}.write();
}

}  // namespace traingraph::topology::imports
