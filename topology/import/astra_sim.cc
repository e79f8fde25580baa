// ASTRA-sim's analytical network: {topology: [Ring, FullyConnected, Switch], npus_count: [2, 8, 4], bandwidth: [...] in
// units of 2^30 bytes/s, latency: [...] in ns}, one entry a dimension, the first fastest. NPUs that differ in one coordinate
// only form that dimension's ring, mesh, or switch; a path takes the dimensions one after the other. Its system JSON gives
// `endpoint-delay` in ns, the overhead of a send.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "topology/import/custom_writer.h"
#include "topology/import/formats.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

enum class Shape { ring, fully_connected, switch_ };

class Reader {
 public:
  Reader(const ParsedFile& network, const ImportFile* system, const ImportOptions& options)
      : file_{*network.file}, tree_{network.tree}, system_{system}, writer_{options} {}

  Imported read() {
    read_dimensions();
    for (std::uint32_t n = 0; n < npus_; ++n) {
      writer_.device({.name = fmt::format("npu{}", n), .kind = DeviceKind::gpu, .node = static_cast<std::int32_t>(n)});
    }
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < shapes_.size(); ++d) {
      for (std::uint32_t n = 0; n < npus_; ++n) {
        if (n / stride % counts_[d] == 0) group(d, n, stride);
      }
      stride *= counts_[d];
    }
    Custom& custom = writer_.custom();
    custom.gpus_forward = true;
    if (system_ != nullptr) custom.overhead = endpoint_delay();
    writer_.note("bandwidths are in units of 2^30 bytes/s, as ASTRA-sim reads them");
    return std::move(writer_).finish(file_.name, npus_);
  }

 private:
  const TreeNode& list(std::string_view key) const {
    const TreeNode* value = tree_.find(key);
    if (value == nullptr) fail(file_, 1, 1, fmt::format("'{}' is missing", key));
    if (value->kind != TreeNode::Kind::list || value->items.empty()) {
      fail(file_, value->line, value->column, fmt::format("'{}': expected a list with an entry for each dimension", key));
    }
    return *value;
  }

  void read_dimensions() {
    constexpr std::size_t kMostDimensions = 8;
    for (const auto& [key, value] : tree_.entries) {
      if (key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency") {
        fail(file_, value.line, value.column,
             fmt::format("unknown key {}; allowed: topology, npus_count, bandwidth, latency", shown(key)));
      }
    }
    const TreeNode& shapes = list("topology");
    if (shapes.items.size() > kMostDimensions)
      fail(file_, shapes.line, shapes.column, fmt::format("more than {} dimensions", kMostDimensions));
    for (const TreeNode& s : shapes.items) shapes_.push_back(shape(s));
    std::uint64_t product = 1;
    for (const TreeNode& n : entries("npus_count")) {
      const auto count = whole_number(n.text);
      if (!count || *count < 2)
        fail(file_, n.line, n.column, fmt::format("found {}, allowed: a whole number from 2", shown(n.text)));
      product *= *count;
      if (product > kMostDevices) fail(file_, n.line, n.column, fmt::format("more than {} NPUs", kMostDevices));
      counts_.push_back(*count);
    }
    npus_ = static_cast<std::uint32_t>(product);
    constexpr double kGibi = 1073741824.0;
    for (const TreeNode& b : entries("bandwidth")) bandwidths_.push_back(sim::Bandwidth::bytes_per_s(real(b, 1e9) * kGibi));
    for (const TreeNode& l : entries("latency")) latencies_.push_back(sim::Duration::ns(real(l, 1e12)));
  }

  const std::vector<TreeNode>& entries(std::string_view key) const {
    const TreeNode& value = list(key);
    if (value.items.size() != shapes_.size()) {
      fail(file_, value.line, value.column,
           fmt::format("'{}' has {} entries for {} dimensions", key, value.items.size(), shapes_.size()));
    }
    return value.items;
  }

  Shape shape(const TreeNode& node) const {
    constexpr std::array kNames{std::pair{"Ring", Shape::ring}, std::pair{"FullyConnected", Shape::fully_connected},
                                std::pair{"Switch", Shape::switch_}};
    for (const auto& [name, value] : kNames) {
      if (node.text == name) return value;
    }
    fail(file_, node.line, node.column, fmt::format("found {}, allowed: Ring, FullyConnected, Switch", shown(node.text)));
  }

  double real(const TreeNode& node, double most) const {
    const auto value = number(node.text);
    if (!value || *value < 0 || *value > most) {
      fail(file_, node.line, node.column, fmt::format("found {}, allowed: a number from 0 to {:g}", shown(node.text), most));
    }
    return *value;
  }

  /// The NPUs first, first + stride, ... of dimension d.
  void group(std::size_t d, std::uint32_t first, std::uint32_t stride) {
    const std::uint32_t n = counts_[d];
    const LinkSpec speed{bandwidths_[d], latencies_[d]};
    const auto npu = [&](std::uint32_t i) { return fmt::format("npu{}", first + i * stride); };
    switch (shapes_[d]) {
      case Shape::ring:
        for (std::uint32_t i = 0; i + 1 < n; ++i) writer_.link(npu(i), npu(i + 1), speed, Tier::torus);
        if (n > 2) writer_.link(npu(n - 1), npu(0), speed, Tier::torus);
        break;
      case Shape::fully_connected:
        for (std::uint32_t i = 0; i < n; ++i) {
          for (std::uint32_t j = i + 1; j < n; ++j) writer_.link(npu(i), npu(j), speed, Tier::torus);
        }
        break;
      case Shape::switch_:
        const std::string hub = fmt::format("dim{}.switch{}", d, switches_++);
        writer_.device({.name = hub, .kind = DeviceKind::switch_});
        for (std::uint32_t i = 0; i < n; ++i) writer_.link(npu(i), hub, speed, Tier::other);
        break;
    }
  }

  sim::Duration endpoint_delay() const {
    nlohmann::json json;
    try {
      json = nlohmann::json::parse(system_->text);
    } catch (const nlohmann::json::parse_error& e) {
      const std::string_view before = std::string_view{system_->text}.substr(0, e.byte);
      const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
      const std::size_t start = before.rfind('\n');
      fail(*system_, line + 1, before.size() - (start == std::string_view::npos ? 0 : start), "this is no JSON");
    }
    if (!json.is_object()) fail(*system_, 1, 1, "expected an object, ASTRA-sim's system configuration");
    const auto at = json.find("endpoint-delay");
    if (at == json.end()) return {};
    if (!at->is_number() || at->get<double>() < 0 || at->get<double>() > 1e12) {
      fail(*system_, 1, 1, "'endpoint-delay': allowed: a number of ns from 0");
    }
    return sim::Duration::ns(at->get<double>());
  }

  const ImportFile& file_;
  const TreeNode& tree_;
  const ImportFile* system_;
  CustomWriter writer_;
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> counts_;
  std::vector<sim::Bandwidth> bandwidths_;
  std::vector<sim::Duration> latencies_;
  std::uint32_t npus_ = 0, switches_ = 0;
};

}  // namespace

Imported read_astra_sim(const ParsedFile& network, const ImportFile* system, const ImportOptions& options) {
  return Reader{network, system, options}.read();
}

}  // namespace traingraph::topology::imports
