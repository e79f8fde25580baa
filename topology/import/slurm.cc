// Slurm's topology.conf: lines of key=value, "SwitchName=leaf1 Nodes=n[1-16]", "SwitchName=top Switches=leaf[1-4]", or
// "BlockName=b1 Nodes=n[1-18]" and "BlockSizes=18,36"; keys in any case, # comments, \ continues a line. And topology.yaml:
// a list of topologies, each {topology: name, cluster_default: true, tree: {switches: [...]} or block: {blocks: [...]}}.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topology/import/formats.h"
#include "topology/import/hostlist.h"
#include "topology/import/slurm_tree.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

std::vector<std::string> hosts(const ImportFile& file, std::size_t line, std::size_t column, std::string_view text) {
  auto expanded = expand_hostlist(text);
  if (const auto* error = std::get_if<HostlistError>(&expanded)) fail(file, line, column + error->offset, error->text);
  return std::get<std::vector<std::string>>(std::move(expanded));
}

class ConfReader {
 public:
  explicit ConfReader(const ImportFile& file) : file_{file} {}

  std::vector<SlurmSwitch> read() {
    std::string joined;
    std::size_t first = 0;
    for (const Line& line : lines_of(file_.text)) {
      std::string_view text = line.text.substr(0, line.text.find('#'));
      const std::string_view end = trimmed(text);
      if (joined.empty()) first = line.number;
      if (end.ends_with('\\')) {
        joined += std::string{text.substr(0, text.rfind('\\'))} + " ";
        continue;
      }
      joined += text;
      read_line({joined, first});
      joined.clear();
    }
    if (!joined.empty()) read_line({joined, first});
    if (switches_.empty()) fail(file_, 1, 1, "there is neither SwitchName nor BlockName in this file");
    return std::move(switches_);
  }

  [[nodiscard]] bool blocks() const { return blocks_; }

 private:
  void read_line(const Line& line) {
    std::map<std::string, Word> values;
    std::string kind;
    for (const Word& word : line.words()) {
      const std::size_t equals = word.text.find('=');
      if (equals == std::string_view::npos) {
        fail(file_, line.number, word.column, fmt::format("found {}, allowed: key=value", shown(word.text)));
      }
      const std::string key = known_key(line, word, word.text.substr(0, equals));
      if (!values.emplace(key, Word{word.text.substr(equals + 1), word.column + equals + 1}).second) {
        fail(file_, line.number, word.column, fmt::format("{} twice in one line", key));
      }
    }
    if (values.empty() || values.contains("BlockSizes")) return;
    const bool block = values.contains("BlockName");
    if (block == values.contains("SwitchName")) {
      fail(file_, line.number, 1, "a line has either SwitchName or BlockName");
    }
    if (!switches_.empty() && block != blocks_) {
      fail(file_, line.number, 1, "switches and blocks in one file; a topology is a tree or of blocks");
    }
    blocks_ = block;
    const Word& name = values.at(block ? "BlockName" : "SwitchName");
    SlurmSwitch s{.name = std::string{name.text}, .nodes = {}, .children = {}, .line = line.number, .column = name.column};
    if (s.name.empty()) fail(file_, line.number, name.column, "the name is empty");
    if (const auto at = values.find("Nodes"); at != values.end()) {
      s.nodes = hosts(file_, line.number, at->second.column, at->second.text);
    }
    if (const auto at = values.find("Switches"); at != values.end()) {
      s.children = hosts(file_, line.number, at->second.column, at->second.text);
    }
    if (s.nodes.empty() && s.children.empty()) fail(file_, line.number, name.column, "neither Nodes nor Switches are given");
    switches_.push_back(std::move(s));
  }

  [[nodiscard]] std::string known_key(const Line& line, const Word& word, std::string_view key) const {
    for (const std::string_view known : {"SwitchName", "BlockName", "Nodes", "Switches", "LinkSpeed", "BlockSizes"}) {
      if (equal_ignoring_case(known, key)) return std::string{known};
    }
    fail(file_, line.number, word.column,
         fmt::format("unknown key {}; allowed: SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes", shown(key)));
  }

  const ImportFile& file_;
  std::vector<SlurmSwitch> switches_;
  bool blocks_ = false;
};

class YamlReader {
 public:
  YamlReader(const ImportFile& file, const ImportOptions& options) : file_{file}, options_{options} {}

  Imported read(const TreeNode& root) {
    if (root.kind != TreeNode::Kind::list) fail_at(root, "expected a list of topologies");
    const TreeNode& chosen = choose(root);
    if (const TreeNode* tree = chosen.find("tree")) return read_part(*tree, "switches", "switch", false);
    if (const TreeNode* block = chosen.find("block")) return read_part(*block, "blocks", "block", true);
    fail_at(chosen, "this topology is neither a tree nor of blocks; flat, ring and torus3d say nothing of switches");
  }

 private:
  [[noreturn]] void fail_at(const TreeNode& node, std::string_view text) const { fail(file_, node.line, node.column, text); }

  const TreeNode& choose(const TreeNode& root) const {
    const TreeNode* first = nullptr;
    const TreeNode* chosen = nullptr;
    std::string names;
    for (const TreeNode& t : root.items) {
      const TreeNode* name = t.find("topology");
      if (name == nullptr) fail_at(t, "a topology without the key 'topology', its name");
      names += (names.empty() ? "" : ", ") + name->text;
      const bool usable = t.find("tree") != nullptr || t.find("block") != nullptr;
      if (!options_.topology.empty() && name->text == options_.topology) return t;
      const TreeNode* is_default = t.find("cluster_default");
      if (chosen == nullptr && usable && is_default != nullptr && is_default->text == "true") chosen = &t;
      if (first == nullptr && usable) first = &t;
    }
    if (!options_.topology.empty()) {
      fail_at(root, fmt::format("no topology {}; there are: {}", shown(options_.topology), names));
    }
    if (chosen == nullptr) chosen = first;
    if (chosen == nullptr) fail_at(root, "there is no topology of kind tree or block");
    return *chosen;
  }

  Imported read_part(const TreeNode& part, std::string_view list_key, std::string_view name_key, bool blocks) {
    const TreeNode* list = part.find(list_key);
    if (list == nullptr || list->kind != TreeNode::Kind::list)
      fail_at(part, fmt::format("'{}' is missing or no list", list_key));
    std::vector<SlurmSwitch> switches;
    for (const TreeNode& item : list->items) {
      const TreeNode* name = item.find(name_key);
      if (name == nullptr || name->text.empty()) fail_at(item, fmt::format("the key '{}', its name, is missing", name_key));
      SlurmSwitch s{.name = name->text, .nodes = {}, .children = {}, .line = name->line, .column = name->column};
      if (const TreeNode* nodes = item.find("nodes")) s.nodes = hosts(file_, nodes->line, nodes->column, nodes->text);
      if (const TreeNode* c = item.find("children")) s.children = hosts(file_, c->line, c->column, c->text);
      if (s.nodes.empty() && s.children.empty()) fail_at(*name, "neither nodes nor children are given");
      switches.push_back(std::move(s));
    }
    if (switches.empty()) fail_at(*list, fmt::format("'{}' is empty", list_key));
    return write_slurm_tree(file_, std::move(switches), blocks, options_);
  }

  const ImportFile& file_;
  const ImportOptions& options_;
};

}  // namespace

Imported read_slurm_conf(const ImportFile& file, const ImportOptions& options) {
  ConfReader reader{file};
  std::vector<SlurmSwitch> switches = reader.read();
  return write_slurm_tree(file, std::move(switches), reader.blocks(), options);
}

Imported read_slurm_yaml(const ImportFile& file, const TreeNode& tree, const ImportOptions& options) {
  return YamlReader{file, options}.read(tree);
}

}  // namespace traingraph::topology::imports
