// DOT and JSON of a fabric.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "topology/describe.h"

namespace traingraph::topology {
namespace {

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string speed(sim::Bandwidth b) { return fmt::format("{:.4g} GB/s", b.bytes_per_s() / 1e9); }

}  // namespace

std::string to_json(const Fabric& fabric, const Description& d) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["schema"] = "traingraph/topology/1";
  out["name"] = d.name;
  out["gpus"] = d.gpus;
  out["nodes"] = d.nodes;
  out["domains"] = d.domains;
  out["nics"] = d.nics;
  for (const DeviceCount& c : d.devices) out["device_counts"][to_string(c.kind)] = c.count;
  out["cables"] = Json::array();
  for (const LinkGroup& g : d.links)
    out["cables"].push_back({{"tier", to_string(g.tier)},
                             {"between", {to_string(g.a), to_string(g.b)}},
                             {"count", g.cables},
                             {"bandwidth_bytes_per_s", g.bandwidth.bytes_per_s()},
                             {"latency_ps", g.latency.count_ps()}});
  out["bisection_bytes_per_s"] = d.bisection ? Json(d.bisection->bytes_per_s()) : Json();
  out["oversubscription"] = Json::object();
  for (const Oversubscription& o : d.oversubscription) out["oversubscription"][to_string(o.kind)] = o.ratio;
  out["diameter_links"] = d.diameter ? Json(*d.diameter) : Json();
  out["devices"] = Json::array();
  for (std::uint32_t i = 0; i < fabric.devices.size(); ++i) {
    const Device& v = fabric.devices[static_cast<DeviceId>(i)];
    Json one{{"id", i}, {"kind", to_string(v.kind)}, {"name", v.name}};
    for (const auto& [key, label] : {std::pair{"domain", v.domain},
                                     {"node", v.node},
                                     {"rack", v.rack},
                                     {"unit", v.unit},
                                     {"pod", v.pod},
                                     {"rail", v.rail}})
      if (label >= 0) one[key] = label;
    out["devices"].push_back(std::move(one));
  }
  out["links"] = Json::array();
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    out["links"].push_back({{"id", i},
                            {"name", info.name},
                            {"source", sim::index(info.source)},
                            {"target", sim::index(info.target)},
                            {"tier", to_string(info.tier)},
                            {"capacity_bytes_per_s", fabric.links[id].capacity.bytes_per_s()},
                            {"latency_ps", fabric.links[id].latency.count_ps()},
                            {"cables", info.cables},
                            {"half_duplex", info.half_duplex}});
  }
  return out.dump(1) + "\n";
}

std::string to_dot(const Fabric& fabric, const Description& d, std::size_t most_devices) {
  std::string s =
      fmt::format("digraph {} {{\n  rankdir=BT;\n  node [shape=box];\n", quoted(d.name.empty() ? "cluster" : d.name));
  if (fabric.devices.size() > most_devices) {
    for (const DeviceCount& c : d.devices)
      s += fmt::format("  {} [label={}];\n", quoted(to_string(c.kind)),
                       quoted(fmt::format("{} x {}", c.count, to_string(c.kind))));
    for (const LinkGroup& g : d.links)
      s += fmt::format("  {} -> {} [dir=both, label={}];\n", quoted(to_string(g.a)), quoted(to_string(g.b)),
                       quoted(fmt::format("{} x {}", g.cables, speed(g.bandwidth))));
    return s + "}\n";
  }
  for (const Device& v : fabric.devices) s += fmt::format("  {};\n", quoted(v.name));
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    // the second direction of a cable is the next link, from target to source: one edge for both
    const auto back = static_cast<sim::LinkId>(i + 1);
    const bool pair = fabric.links.contains(back) && fabric.link_info[back].source == info.target &&
                      fabric.link_info[back].target == info.source && !info.half_duplex;
    const char* direction = pair || info.half_duplex ? "both" : "forward";
    const std::string count = info.cables > 1 ? fmt::format("{} x ", info.cables) : "";
    s += fmt::format("  {} -> {} [dir={}, label={}];\n", quoted(fabric.devices[info.source].name),
                     quoted(fabric.devices[info.target].name), direction,
                     quoted(count + speed(fabric.links[id].capacity / static_cast<double>(info.cables))));
    if (pair) ++i;
  }
  return s + "}\n";
}

}  // namespace traingraph::topology
