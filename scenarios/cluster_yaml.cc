#include "scenarios/cluster_yaml.h"

#include <fmt/format.h>

#include <iterator>
#include <variant>

#include "scenarios/leaf.h"
#include "scenarios/quantity.h"
#include "sim/error.h"

namespace traingraph::scenarios {

namespace {

using Out = std::back_insert_iterator<std::string>;

void write_device(Out out, const topology::CustomDevice& d) {
  fmt::format_to(out, "      - {{name: {}, kind: {}", detail::quoted_text(d.name), to_string(d.kind));
  const auto label = [&](const char* key, std::int32_t value) {
    if (value >= 0) fmt::format_to(out, ", {}: {}", key, value);
  };
  label("domain", d.domain);
  label("node", d.node);
  label("rack", d.rack);
  label("pod", d.pod);
  label("rail", d.rail);
  fmt::format_to(out, "}}\n");
}

void write_link(Out out, const topology::CustomLink& l) {
  fmt::format_to(out, "      - {{source: {}, target: {}, bandwidth: {}, latency: {}, tier: {}",
                 detail::quoted_text(l.source), detail::quoted_text(l.target), format(l.bandwidth), format(l.latency),
                 to_string(l.tier));
  if (l.parallel != 1) fmt::format_to(out, ", parallel: {}", l.parallel);
  if (l.half_duplex) fmt::format_to(out, ", half_duplex: true");
  if (l.one_way) fmt::format_to(out, ", one_way: true");
  fmt::format_to(out, "}}\n");
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

}  // namespace

std::string cluster_yaml(const topology::ClusterSpec& cluster, const std::vector<std::string>& notes) {
  const auto* const custom = std::get_if<topology::Custom>(&cluster.scale_out);
  SIM_ASSERT(custom != nullptr, "a cluster that is not listed device by device");
  std::string text;
  const Out out = std::back_inserter(text);
  for (const std::string& note : notes) fmt::format_to(out, "# {}\n", one_line(note));
  fmt::format_to(out, "cluster:\n  name: {}\n  nodes: {}\n  node: {{scale_up: {{kind: none}}}}\n",
                 detail::quoted_text(cluster.name), cluster.nodes);
  fmt::format_to(out, "  scale_out:\n    kind: custom\n    gpus_forward: {}\n    overhead: {}\n    devices:\n",
                 custom->gpus_forward, format(custom->overhead));
  for (const topology::CustomDevice& d : custom->devices) write_device(out, d);
  fmt::format_to(out, "    links:{}\n", custom->links.empty() ? " []" : "");
  for (const topology::CustomLink& l : custom->links) write_link(out, l);
  return text;
}

}  // namespace traingraph::scenarios
