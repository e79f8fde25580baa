#include "topology/import/node_template.h"

#include <fmt/format.h>

#include <utility>

#include "topology/import/text.h"

namespace traingraph::topology::imports {

Imported write_nodes(const ImportFile& file, const NodeTemplate& node, CustomWriter writer, const ImportOptions& options) {
  for (std::uint32_t n = 0; n < options.nodes; ++n) {
    const std::string name = fmt::format("node{}.", n);
    for (CustomDevice d : node.devices) {
      d.name = name + d.name;
      d.node = static_cast<std::int32_t>(n);
      if (node.scale_up && (d.kind == DeviceKind::gpu || d.kind == DeviceKind::nvswitch)) d.domain = d.node;
      writer.device(std::move(d));
    }
    for (const NodeLink& l : node.links) writer.link(name + l.a, name + l.b, l.speed, l.tier, l.parallel);
  }
  if (options.nodes > 1) {
    if (node.nics.empty()) {
      fail(file, 1, 1, fmt::format("there is no NIC in this topology; {} nodes cannot be joined", options.nodes));
    }
    writer.device({.name = "switch", .kind = DeviceKind::switch_});
    for (std::uint32_t n = 0; n < options.nodes; ++n) {
      for (std::size_t i = 0; i < node.nics.size(); ++i) {
        writer.link(fmt::format("node{}.nic{}", n, i), "switch", {node.nics[i], options.latency}, Tier::nic);
      }
    }
    writer.note(
        fmt::format("the file describes one node; {} of them are joined by one switch that never blocks", options.nodes));
  }
  writer.custom().gpus_forward = node.gpus_forward;
  return std::move(writer).finish(file.name, options.nodes);
}

}  // namespace traingraph::topology::imports
