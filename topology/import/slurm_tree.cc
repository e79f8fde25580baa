#include "topology/import/slurm_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "topology/import/custom_writer.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

class Writer {
 public:
  Writer(const ImportFile& file, std::vector<SlurmSwitch> switches, const ImportOptions& options)
      : file_{file}, switches_{std::move(switches)}, options_{options}, writer_{options} {}

  Imported write(bool blocks) {
    constexpr std::uint32_t kUsualGpus = 8;
    gpus_ = options_.gpus_per_node == 0 ? kUsualGpus : options_.gpus_per_node;
    if (options_.gpus_per_node == 0) {
      writer_.note(fmt::format("GPUs of a node: not in the file, taken as {}; --set gpus_per_node=4 gives another number",
                               kUsualGpus));
    }
    writer_.note(fmt::format(
        "a NIC of {} for each GPU, switches with as much capacity up as down over {:g}, latency {:g} ns: "
        "not in the file; --set bandwidth=, oversubscription=, latency= give others",
        gbit(options_.bandwidth), options_.oversubscription, static_cast<double>(options_.latency.count_ps()) / 1e3));
    index();
    for (const SlurmSwitch& s : switches_) add_nodes(s);
    if (number_ == 0) fail(file_, 1, 1, "there is no node in this topology");
    if (blocks) add_block_root();
    add_switches();
    writer_.custom().gpus_forward = false;
    return std::move(writer_).finish(file_.name, static_cast<std::uint32_t>(number_));
  }

 private:
  void index() {
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const SlurmSwitch& s = switches_[i];
      if (!by_name_.emplace(s.name, i).second) fail_at(s, fmt::format("{} is described twice", shown(s.name)));
    }
    for (const SlurmSwitch& s : switches_) {
      for (const std::string& child : s.children) {
        if (!by_name_.contains(child)) fail_at(s, fmt::format("no switch {} below {}", shown(child), shown(s.name)));
        const auto [at, added] = above_.emplace(child, s.name);
        if (!added) fail_at(s, fmt::format("{} is below {} and {}", shown(child), shown(at->second), shown(s.name)));
      }
    }
    for (const SlurmSwitch& s : switches_) {  // up the tree from everywhere: a circle never ends
      std::size_t steps = 0;
      for (auto at = above_.find(s.name); at != above_.end(); at = above_.find(at->second)) {
        if (++steps > switches_.size()) fail_at(s, fmt::format("{} is below itself", shown(s.name)));
      }
    }
  }

  [[noreturn]] void fail_at(const SlurmSwitch& s, std::string_view text) const { fail(file_, s.line, s.column, text); }

  void add_nodes(const SlurmSwitch& s) {
    for (const std::string& node : s.nodes) {
      if (by_name_.contains(node)) fail_at(s, fmt::format("{} is the name of a node and of a switch", shown(node)));
      const auto [at, added] = node_of_.emplace(node, s.name);
      if (!added) {
        if (at->second == s.name) fail_at(s, fmt::format("node {} is named twice", shown(node)));
        fail_at(s, fmt::format("node {} is below {} and {}", shown(node), shown(at->second), shown(s.name)));
      }
      writer_.gpus_of_node(node, number_++, gpus_);
      for (std::uint32_t g = 0; g < gpus_; ++g) {
        nics_.push_back({fmt::format("{}.gpu{}", node, g), s.name});
      }
      down_[s.name] += gpus_;
    }
  }

  void add_block_root() {
    std::string root = "core";
    while (by_name_.contains(root) || node_of_.contains(root)) root += "_";
    SlurmSwitch top{.name = root, .nodes = {}, .children = {}};
    for (const SlurmSwitch& s : switches_) {
      top.children.push_back(s.name);
      above_[s.name] = root;
    }
    by_name_[root] = switches_.size();
    switches_.push_back(std::move(top));
    writer_.note("blocks: each is taken as one switch, all of them joined by one switch above");
  }

  /// NIC-widths of capacity below a switch.
  double down(const std::string& name) {
    const auto known = total_.find(name);
    if (known != total_.end()) return known->second;
    // children are visited before their parents: no recursion, however deep the tree is
    std::vector<std::pair<std::string, bool>> stack{{name, false}};
    while (!stack.empty()) {
      auto [at, done] = stack.back();
      stack.pop_back();
      const SlurmSwitch& s = switches_[by_name_.at(at)];
      if (!done) {
        stack.emplace_back(at, true);
        for (const std::string& child : s.children) {
          if (!total_.contains(child)) stack.emplace_back(child, false);
        }
        continue;
      }
      double sum = down_[at];
      int below = 0;
      for (const std::string& child : s.children) {
        sum += total_[child] / options_.oversubscription;
        below = std::max(below, height_[child]);
      }
      total_[at] = sum;
      height_[at] = below + 1;
    }
    return total_.at(name);
  }

  void add_switches() {
    std::uint32_t roots = 0;
    for (const SlurmSwitch& s : switches_) {
      const double below = down(s.name);
      if (below == 0) {
        writer_.note("switches without nodes below are left out");
        continue;
      }
      if (!above_.contains(s.name)) ++roots;
      const int height = height_.at(s.name);
      writer_.device({.name = s.name,
                      .kind = height == 1   ? DeviceKind::leaf
                              : height == 2 ? DeviceKind::spine
                                            : DeviceKind::core});
    }
    if (roots > 1) writer_.note(fmt::format("{} separate networks: nodes of different ones do not reach each other", roots));
    for (const auto& [gpu, leaf] : nics_) writer_.link(gpu, leaf, {options_.bandwidth, options_.latency}, Tier::nic);
    for (const SlurmSwitch& s : switches_) {
      const auto above = above_.find(s.name);
      if (above == above_.end() || down(s.name) == 0) continue;
      writer_.link(s.name, above->second,
                   {options_.bandwidth * (down(s.name) / options_.oversubscription), options_.latency},
                   height_.at(s.name) == 1 ? Tier::leaf_spine : Tier::spine_core);
    }
  }

  const ImportFile& file_;
  std::vector<SlurmSwitch> switches_;
  const ImportOptions& options_;
  CustomWriter writer_;
  std::uint32_t gpus_ = 0;
  std::int32_t number_ = 0;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::string> above_;
  std::map<std::string, std::string> node_of_;
  std::vector<std::pair<std::string, std::string>> nics_;  // GPU and its leaf
  std::map<std::string, double> down_;                     // NICs directly below
  std::map<std::string, double> total_;
  std::map<std::string, int> height_;
};

}  // namespace

Imported write_slurm_tree(const ImportFile& file, std::vector<SlurmSwitch> switches, bool blocks,
                          const ImportOptions& options) {
  return Writer{file, std::move(switches), options}.write(blocks);
}

}  // namespace traingraph::topology::imports
