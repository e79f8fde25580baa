// InfraGraph: devices made of components with links between them, instances of devices, and links between instances'
// components. Two forms are in use: `connections` ("server.0.nic.0.eth1.leafsw.0.port.0": instance, number, component,
// number, link, and the other end) and `edges` ({scheme: one2one or many2many, link, ep1: {instance: "host[0:4]", component:
// "nic"}, ep2}, with Python's slices). Devices and instances may stand in several files. A count that is not given is what
// the connections use.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "topology/import/custom_writer.h"
#include "topology/import/formats.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

struct Place {
  const ImportFile* file = nullptr;
  std::uint32_t line = 0, column = 0;
};

struct Component {
  std::string name;
  std::string type;  ///< cpu, xpu, npu, nic, switch, port, custom, ...
  std::uint32_t count = 1;
};

/// Numbered things of one name: [first, last) in steps.
struct Slice {
  std::string name;
  std::optional<std::int64_t> first, last;
  std::int64_t step = 1;
};

struct Endpoint {
  Slice instance;  ///< empty name: inside a device
  Slice component;
};

struct Edge {
  Endpoint a, b;
  std::string link;
  bool every_pair = false;
  Place place;
};

using Links = std::map<std::string, sim::Bandwidth>;  // 0: the file has no speed

struct Device {
  std::vector<Component> components;
  Links links;
  std::vector<Edge> edges;
};

struct Instance {
  std::string device;
  std::uint32_t count = 1;
};

class Reader {
 public:
  Reader(std::span<const ParsedFile> files, const ImportOptions& options)
      : files_{files}, options_{options}, writer_{options} {}

  Imported read() {
    for (const ParsedFile& f : files_) read_file(f);
    complete();
    expand();
    if (gpus_ == 0)
      fail(*files_.front().file, 1, 1, "there is no GPU (a component of type xpu, npu or gpu) in this infrastructure");
    writer_.custom().gpus_forward = switches_ == 0;
    return std::move(writer_).finish(name_, nodes_);
  }

 private:
  [[noreturn]] static void fail_at(const Place& p, std::string_view text) { fail(*p.file, p.line, p.column, text); }
  static Place place(const ParsedFile& f, const TreeNode& n) { return {f.file, n.line, n.column}; }

  void read_file(const ParsedFile& f) {
    const TreeNode* root = &f.tree;
    if (const TreeNode* inner = root->find("infrastructure")) root = inner;
    if (root->kind != TreeNode::Kind::map) fail_at(place(f, *root), "expected a map of devices, instances and links");
    if (root->find("components") != nullptr && root->find("instances") == nullptr) {
      read_device(f, *root);  // a file of one device
      return;
    }
    if (const TreeNode* n = root->find("name")) name_ = n->text;
    for (const TreeNode& d : list(f, *root, "devices")) read_device(f, d);
    for (const TreeNode& i : list(f, *root, "instances")) {
      Instance instance{.device = text(f, i, "device")};
      const TreeNode* count = i.find("count");
      instance.count = count == nullptr ? 0 : whole(f, *count);
      const std::string name = text(f, i, "name");
      if (!instances_.emplace(name, instance).second)
        fail_at(place(f, i), fmt::format("instance {} is given twice", shown(name)));
    }
    read_links(f, *root, links_);
    read_edges(f, *root, edges_, true);
  }

  void read_device(const ParsedFile& f, const TreeNode& node) {
    Device device;
    for (const TreeNode& c : list(f, node, "components")) {
      Component component{.name = text(f, c, "name"), .type = "custom", .count = 0};
      for (const char* key : {"type", "choice"}) {
        if (const TreeNode* t = c.find(key)) component.type = t->text;
      }
      if (const TreeNode* n = c.find("count")) component.count = whole(f, *n);
      device.components.push_back(std::move(component));
    }
    read_links(f, node, device.links);
    read_edges(f, node, device.edges, false);
    const std::string name = text(f, node, "name");
    if (!devices_.emplace(name, std::move(device)).second)
      fail_at(place(f, node), fmt::format("device {} is given twice", shown(name)));
  }

  static const std::vector<TreeNode>& list(const ParsedFile& f, const TreeNode& node, std::string_view key) {
    static const std::vector<TreeNode> kNone;
    const TreeNode* value = node.find(key);
    if (value == nullptr || value->kind == TreeNode::Kind::null) return kNone;
    if (value->kind != TreeNode::Kind::list) fail_at(place(f, *value), fmt::format("'{}': expected a list", key));
    return value->items;
  }

  static std::string text(const ParsedFile& f, const TreeNode& node, std::string_view key) {
    const TreeNode* value = node.find(key);
    if (value == nullptr || value->text.empty()) fail_at(place(f, node), fmt::format("'{}' is missing", key));
    return value->text;
  }

  static std::uint32_t whole(const ParsedFile& f, const TreeNode& node) {
    const auto value = whole_number(node.text);
    if (!value || *value > kMostDevices) {
      fail_at(place(f, node), fmt::format("found {}, allowed: a whole number up to {}", shown(node.text), kMostDevices));
    }
    return *value;
  }

  void read_links(const ParsedFile& f, const TreeNode& node, Links& links) {
    for (const TreeNode& l : list(f, node, "links")) {
      const TreeNode* physical = l.find("physical");
      const TreeNode* bandwidth = (physical == nullptr ? l : *physical).find("bandwidth");
      sim::Bandwidth speed{};
      for (const auto& [key, value] : bandwidth == nullptr ? TreeNode{}.entries : bandwidth->entries) {
        if (key == "choice") continue;
        const auto giga = number(value.text);
        if (!giga || *giga <= 0 || *giga > 1e9) {
          fail_at(place(f, value), fmt::format("found {}, allowed: a number above 0", shown(value.text)));
        }
        if (key.find("bits") != std::string::npos) {
          speed = sim::Bandwidth::gbit_per_s(*giga);
        } else if (key.find("bytes") != std::string::npos) {
          speed = sim::Bandwidth::bytes_per_s(*giga * 1e9);
        } else if (key.find("transfers") != std::string::npos) {
          constexpr double kLanes = 16, kCode = 128.0 / 130.0;
          speed = sim::Bandwidth::bytes_per_s(*giga * 1e9 * kLanes * kCode / 8);
          writer_.note("links given in transfers per second are taken as PCIe with 16 lanes");
        } else {
          fail_at(place(f, value), fmt::format("unknown key {} of a bandwidth; allowed: gigabits_per_second, "
                                               "gigabytes_per_second, gigatransfers_per_second",
                                               shown(key)));
        }
      }
      fastest_ = std::max(fastest_, speed);
      links[text(f, l, "name")] = speed;
    }
  }

  void read_edges(const ParsedFile& f, const TreeNode& node, std::vector<Edge>& edges, bool instances) {
    for (const TreeNode& c : list(f, node, "connections")) edges.push_back(connection(place(f, c), c.text, instances));
    for (const TreeNode& e : list(f, node, "edges")) {
      Edge edge{.a = endpoint(f, e, "ep1", instances),
                .b = endpoint(f, e, "ep2", instances),
                .link = text(f, e, "link"),
                .place = place(f, e)};
      if (const TreeNode* scheme = e.find("scheme")) {
        if (scheme->text != "one2one" && scheme->text != "many2many") {
          fail_at(place(f, *scheme), fmt::format("found {}, allowed: one2one, many2many", shown(scheme->text)));
        }
        edge.every_pair = scheme->text == "many2many";
      } else if (const TreeNode* many = e.find("many2many")) {
        edge.every_pair = many->text == "true";
      }
      edges.push_back(std::move(edge));
    }
  }

  Endpoint endpoint(const ParsedFile& f, const TreeNode& edge, std::string_view key, bool instances) const {
    const TreeNode* node = edge.find(key);
    if (node == nullptr || node->kind != TreeNode::Kind::map) fail_at(place(f, edge), fmt::format("'{}' is missing", key));
    Endpoint e;
    if (instances) e.instance = slice(place(f, *node), text(f, *node, "instance"));
    e.component = slice(place(f, *node), text(f, *node, "component"));
    return e;
  }

  /// "nic", "nic[3]", "nic[0:4]", "nic[:4:2]"
  static Slice slice(const Place& p, std::string_view text) {
    const std::size_t open = text.find('[');
    Slice s{.name = std::string{trimmed(text.substr(0, open))}, .first = {}, .last = {}};
    if (open == std::string_view::npos) return s;
    const auto wrong = [&] { fail_at(p, fmt::format("found {}, allowed: a name, name[3] or name[0:4]", shown(text))); };
    if (!text.ends_with(']')) wrong();
    std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    std::array<std::optional<std::int64_t>, 3> parts;
    std::size_t n = 0;
    for (bool more = true; more; ++n) {
      if (n == parts.size()) wrong();
      const std::size_t colon = inside.find(':');
      const std::string_view part = trimmed(inside.substr(0, colon));
      if (!part.empty()) {
        const auto value = whole_number(part);
        if (!value) wrong();
        parts[n] = *value;
      }
      more = colon != std::string_view::npos;
      if (more) inside = inside.substr(colon + 1);
    }
    if (n == 1) {
      if (!parts[0]) wrong();
      return {s.name, parts[0], *parts[0] + 1, 1};
    }
    if (parts[2] && *parts[2] == 0) wrong();
    return {s.name, parts[0], parts[1], parts[2].value_or(1)};
  }

  static Edge connection(const Place& p, std::string_view text, bool instances) {
    std::vector<std::string_view> parts;
    for (std::string_view rest = text;;) {
      const std::size_t dot = rest.find('.');
      parts.push_back(rest.substr(0, dot));
      if (dot == std::string_view::npos) break;
      rest = rest.substr(dot + 1);
    }
    const std::size_t end = instances ? 4 : 2;
    if (parts.size() != 2 * end + 1) {
      fail_at(
          p, fmt::format("found {}, allowed: {}", shown(text),
                         instances ? "instance.0.component.0.link.instance.0.component.0" : "component.0.link.component.0"));
    }
    const auto numbered = [&](std::size_t i) {
      const auto n = whole_number(parts[i + 1]);
      if (!n || *n >= kMostDevices)
        fail_at(p, fmt::format("found {} in {}, allowed: a number", shown(parts[i + 1]), shown(text)));
      return Slice{std::string{parts[i]}, *n, std::int64_t{*n} + 1, 1};
    };
    Edge e{.a = {}, .b = {}, .link = std::string{parts[end]}, .place = p};
    if (instances) {
      e.a = {numbered(0), numbered(2)};
      e.b = {numbered(5), numbered(7)};
    } else {
      e.a = {{}, numbered(0)};
      e.b = {{}, numbered(3)};
    }
    return e;
  }

  /// Counts that are not given, devices and instances that are only used.
  void complete() {
    for (auto& [name, device] : devices_) {
      for (const Edge& e : device.edges) {
        for (const Endpoint* end : {&e.a, &e.b}) use(device, end->component, e.place);
      }
    }
    for (const Edge& e : edges_) {
      for (const Endpoint* end : {&e.a, &e.b}) {
        Instance& instance = instance_of(end->instance.name);
        if (end->instance.last) instance.count = grown(instance.count, *end->instance.last);
        Device& device = devices_[instance.device];
        if (device.components.empty()) {
          writer_.note(
              fmt::format("device {} is not described: taken as what the connections name", shown(instance.device)));
        }
        use(device, end->component, {});
      }
    }
    for (const auto& [name, instance] : instances_) devices_.try_emplace(instance.device);
    for (auto& [name, device] : devices_) {
      for (Component& c : device.components) c.count = std::max(c.count, 1U);
    }
    if (instances_.empty()) {  // a device alone
      for (const auto& [name, device] : devices_) instances_[name] = {name, 1};
    }
    for (auto& [name, instance] : instances_) instance.count = std::max(instance.count, 1U);
  }

  static std::uint32_t grown(std::uint32_t count, std::int64_t last) {
    return std::max(count, static_cast<std::uint32_t>(std::clamp<std::int64_t>(last, 0, kMostDevices)));
  }

  void use(Device& device, const Slice& component, const Place& p) const {
    const auto at = std::find_if(device.components.begin(), device.components.end(),
                                 [&](const Component& c) { return c.name == component.name; });
    if (at != device.components.end()) {
      if (component.last) at->count = grown(at->count, *component.last);
      return;
    }
    if (p.file != nullptr) fail_at(p, fmt::format("no component {} in this device", shown(component.name)));
    const bool nic = component.name.find("nic") != std::string::npos;
    device.components.push_back({component.name, nic ? "nic" : "custom", grown(1, component.last.value_or(1))});
  }

  Instance& instance_of(const std::string& name) {
    const auto at = instances_.find(name);
    if (at != instances_.end()) return at->second;
    std::set<std::string> used;
    for (const auto& [other, instance] : instances_) used.insert(instance.device);
    std::string device = name;
    for (const auto& [candidate, description] : devices_) {
      if (!used.contains(candidate) && !description.components.empty()) device = candidate;
    }
    writer_.note(fmt::format("instance {} is not declared: taken as of device {}", shown(name), shown(device)));
    return instances_[name] = {device, 0};
  }

  DeviceKind kind_of(const Component& c, bool has_gpus) const {
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
    for (const auto& [name, instance] : instances_) {
      const Device& device = devices_.at(instance.device);
      const bool has_gpus = std::any_of(device.components.begin(), device.components.end(), [](const Component& c) {
        return c.type == "xpu" || c.type == "npu" || c.type == "gpu";
      });
      const bool joined = std::any_of(device.components.begin(), device.components.end(),
                                      [](const Component& c) { return c.name.find("nvl") != std::string::npos; });
      for (std::uint32_t i = 0; i < instance.count; ++i) {
        const std::int32_t node = has_gpus ? static_cast<std::int32_t>(nodes_++) : -1;
        for (const Component& c : device.components) {
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
        for (const Edge& e : device.edges) {
          join(e, points(device, name, i, e.a, e.place), points(device, name, i, e.b, e.place), device.links);
        }
      }
    }
    for (const Edge& e : edges_) join(e, points(e.a, e.place), points(e.b, e.place), links_);
  }

  static std::vector<std::uint32_t> numbers(const Slice& s, std::uint32_t count, const Place& p) {
    std::vector<std::uint32_t> out;
    const std::int64_t last = s.last.value_or(count);
    if (last > count) fail_at(p, fmt::format("{}[{}], but there are {}", s.name, last - 1, count));
    for (std::int64_t i = s.first.value_or(0); i < last; i += s.step) out.push_back(static_cast<std::uint32_t>(i));
    return out;
  }

  static std::vector<std::string> points(const Device& device, const std::string& instance, std::uint32_t i,
                                         const Endpoint& e, const Place& p) {
    const auto at = std::find_if(device.components.begin(), device.components.end(),
                                 [&](const Component& c) { return c.name == e.component.name; });
    if (at == device.components.end()) fail_at(p, fmt::format("no component {} there", shown(e.component.name)));
    std::vector<std::string> out;
    for (const std::uint32_t j : numbers(e.component, at->count, p)) out.push_back(full(instance, i, at->name, j));
    return out;
  }

  std::vector<std::string> points(const Endpoint& e, const Place& p) const {
    const Instance& instance = instances_.at(e.instance.name);
    const Device& device = devices_.at(instance.device);
    std::vector<std::string> out;
    for (const std::uint32_t i : numbers(e.instance, instance.count, p)) {
      for (std::string& point : points(device, e.instance.name, i, e, p)) out.push_back(std::move(point));
    }
    return out;
  }

  sim::Bandwidth speed_of(const Edge& e, const Links& links) {
    const auto at = links.find(e.link);
    for (auto d = devices_.begin(); at == links.end() && d != devices_.end(); ++d) {  // a device's link used between devices
      const auto inner = d->second.links.find(e.link);
      if (inner != d->second.links.end()) return speed_of(e, d->second.links);
    }
    if (at == links.end()) fail_at(e.place, fmt::format("no link {} is described", shown(e.link)));
    if (at->second > sim::Bandwidth{}) return at->second;
    sim::Bandwidth speed = std::max(fastest_, options_.bandwidth);
    if (e.link.find("nvl") != std::string::npos)
      speed = options_.scale_up > sim::Bandwidth{} ? options_.scale_up : options_.nvlink_sm70;
    if (e.link.find("pci") != std::string::npos) speed = options_.pcie;
    writer_.note(
        fmt::format("link {} has no bandwidth in the file: taken as {:g} GB/s", shown(e.link), speed.bytes_per_s() / 1e9));
    return speed;
  }

  void join(const Edge& e, const std::vector<std::string>& a, const std::vector<std::string>& b, const Links& links) {
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

  std::span<const ParsedFile> files_;
  const ImportOptions& options_;
  CustomWriter writer_;
  std::string name_ = "infragraph";
  std::map<std::string, Device> devices_;
  std::map<std::string, Instance> instances_;
  Links links_;
  std::vector<Edge> edges_;
  sim::Bandwidth fastest_{};
  std::uint32_t nodes_ = 0, gpus_ = 0, switches_ = 0;
};

}  // namespace

Imported read_infragraph(std::span<const ParsedFile> files, const ImportOptions& options) {
  return Reader{files, options}.read();
}

}  // namespace traingraph::topology::imports
