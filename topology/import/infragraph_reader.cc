#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "topology/import/infragraph.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

class Reader {
 public:
  explicit Reader(CustomWriter& writer) : writer_{writer} {}

  Infrastructure read(std::span<const ParsedFile> files) {
    for (const ParsedFile& f : files) read_file(f);
    return std::move(infra_);
  }

 private:
  [[noreturn]] static void fail_at(const InfraPlace& p, std::string_view text) { fail(*p.file, p.line, p.column, text); }
  static InfraPlace place(const ParsedFile& f, const TreeNode& n) { return {f.file, n.line, n.column}; }

  void read_file(const ParsedFile& f) {
    const TreeNode* root = &f.tree;
    if (const TreeNode* inner = root->find("infrastructure")) root = inner;
    if (root->kind != TreeNode::Kind::map) fail_at(place(f, *root), "expected a map of devices, instances and links");
    if (root->find("components") != nullptr && root->find("instances") == nullptr) {
      read_device(f, *root);  // a file of one device
      return;
    }
    for (const TreeNode& d : list(f, *root, "devices")) read_device(f, d);
    for (const TreeNode& i : list(f, *root, "instances")) {
      InfraInstance instance{.device = text(f, i, "device")};
      const TreeNode* count = i.find("count");
      instance.count = count == nullptr ? 0 : whole(f, *count);
      const std::string name = text(f, i, "name");
      if (!infra_.instances.emplace(name, instance).second)
        fail_at(place(f, i), fmt::format("instance {} is given twice", shown(name)));
    }
    read_links(f, *root, infra_.links);
    read_edges(f, *root, infra_.edges, true);
  }

  void read_device(const ParsedFile& f, const TreeNode& node) {
    InfraDevice device;
    for (const TreeNode& c : list(f, node, "components")) {
      InfraComponent component{.name = text(f, c, "name"), .type = "custom", .count = 0};
      for (const char* key : {"type", "choice"}) {
        if (const TreeNode* t = c.find(key)) component.type = t->text;
      }
      if (const TreeNode* n = c.find("count")) component.count = whole(f, *n);
      device.components.push_back(std::move(component));
    }
    read_links(f, node, device.links);
    read_edges(f, node, device.edges, false);
    const std::string name = text(f, node, "name");
    if (!infra_.devices.emplace(name, std::move(device)).second)
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

  void read_links(const ParsedFile& f, const TreeNode& node, InfraLinks& links) {
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
      infra_.fastest = std::max(infra_.fastest, speed);
      links[text(f, l, "name")] = speed;
    }
  }

  void read_edges(const ParsedFile& f, const TreeNode& node, std::vector<InfraEdge>& edges, bool instances) {
    for (const TreeNode& c : list(f, node, "connections")) edges.push_back(connection(place(f, c), c.text, instances));
    for (const TreeNode& e : list(f, node, "edges")) {
      InfraEdge edge{.a = endpoint(f, e, "ep1", instances),
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

  InfraEndpoint endpoint(const ParsedFile& f, const TreeNode& edge, std::string_view key, bool instances) const {
    const TreeNode* node = edge.find(key);
    if (node == nullptr || node->kind != TreeNode::Kind::map) fail_at(place(f, edge), fmt::format("'{}' is missing", key));
    InfraEndpoint e;
    if (instances) e.instance = slice(place(f, *node), text(f, *node, "instance"));
    e.component = slice(place(f, *node), text(f, *node, "component"));
    return e;
  }

  /// "nic", "nic[3]", "nic[0:4]", "nic[:4:2]"
  static InfraSlice slice(const InfraPlace& p, std::string_view text) {
    const std::size_t open = text.find('[');
    InfraSlice s{.name = std::string{trimmed(text.substr(0, open))}, .first = {}, .last = {}};
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

  static InfraEdge connection(const InfraPlace& p, std::string_view text, bool instances) {
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
      return InfraSlice{std::string{parts[i]}, *n, std::int64_t{*n} + 1, 1};
    };
    InfraEdge e{.a = {}, .b = {}, .link = std::string{parts[end]}, .place = p};
    if (instances) {
      e.a = {numbered(0), numbered(2)};
      e.b = {numbered(5), numbered(7)};
    } else {
      e.a = {{}, numbered(0)};
      e.b = {{}, numbered(3)};
    }
    return e;
  }

  CustomWriter& writer_;
  Infrastructure infra_;
};

}  // namespace

Infrastructure read_infrastructure(std::span<const ParsedFile> files, CustomWriter& writer) {
  return Reader{writer}.read(files);
}

}  // namespace traingraph::topology::imports
