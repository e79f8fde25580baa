// SVG of a fabric: a row per level of devices, GPUs at the bottom.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "topology/describe.h"

namespace traingraph::topology {
namespace {

struct Box {
  double x = 0, y = 0;  // centre
  double w = 0, h = 0;
};

constexpr double kRow = 120, kMargin = 30;

/// Rows from the top.
constexpr std::array kRows{DeviceKind::core,    DeviceKind::spine,       DeviceKind::leaf,
                           DeviceKind::switch_, DeviceKind::nic,         DeviceKind::host,
                           DeviceKind::gpu,     DeviceKind::pcie_switch, DeviceKind::nvswitch};

const char* colour(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "#9fd3a8";
    case DeviceKind::nvswitch:
      return "#d9c48f";
    case DeviceKind::nic:
      return "#c9c9c9";
    case DeviceKind::pcie_switch:
    case DeviceKind::host:
      return "#dddddd";
    case DeviceKind::leaf:
    case DeviceKind::switch_:
      return "#a9c6ea";
    case DeviceKind::spine:
      return "#8fa8dd";
    case DeviceKind::core:
      return "#b39ddb";
  }
  return "#ffffff";
}

std::string escaped(const std::string& s) {
  std::string out;
  for (const char c : s) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string line(const Box& a, const Box& b, const std::string& title, double width) {
  return fmt::format(
             R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#888" stroke-width="{:.2f}"><title>{}</title></line>)",
             a.x, a.y, b.x, b.y, width, escaped(title)) +
         "\n";
}

std::string box(const Box& b, DeviceKind kind, const std::string& text, double font) {
  std::string s =
      fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="3" fill="{}" stroke="#444"><title>{}</title></rect>)",
          b.x - b.w / 2, b.y - b.h / 2, b.w, b.h, colour(kind), escaped(text)) +
      "\n";
  if (font >= 4)
    s += fmt::format(
             R"(<text x="{:.1f}" y="{:.1f}" font-size="{:.1f}" text-anchor="middle" dominant-baseline="central">{}</text>)",
             b.x, b.y, font, escaped(text)) +
         "\n";
  return s;
}

std::string page(double width, double height, const std::string& title, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\">\n"
      "<title>{}</title>\n{}</svg>\n",
      width, height, escaped(title), body);
}

std::string aggregated(const Description& d) {
  std::map<DeviceKind, Box> boxes;
  double y = kMargin + 30;
  for (const DeviceKind kind : kRows)
    for (const DeviceCount& c : d.devices)
      if (c.kind == kind) {
        boxes[kind] = {350, y, 200, 40};
        y += kRow;
      }
  std::string lines, text;
  std::map<std::pair<DeviceKind, DeviceKind>, int> seen;
  for (const LinkGroup& g : d.links) {
    const Box a = boxes[g.a], b = boxes[g.b];
    const std::string label =
        fmt::format("{}: {} x {:.4g} GB/s", to_string(g.tier), g.cables, g.bandwidth.bytes_per_s() / 1e9);
    lines += line(a, b, label, 3);
    const int nth = seen[{g.a, g.b}]++;
    text += fmt::format(R"(<text x="460" y="{:.1f}" font-size="13">{}</text>)",
                        (a.y + b.y) / 2 + 16 * nth + (g.a == g.b ? 4 : 0), escaped(label)) +
            "\n";
  }
  for (const DeviceCount& c : d.devices)
    text += box(boxes[c.kind], c.kind, fmt::format("{} x {}", c.count, to_string(c.kind)), 15);
  return page(760, y, d.name, lines + text);
}

}  // namespace

std::string to_svg(const Fabric& fabric, const Description& d, std::size_t most_devices) {
  if (fabric.devices.size() > most_devices) return aggregated(d);
  std::size_t widest = 1;
  for (const DeviceCount& c : d.devices) widest = std::max<std::size_t>(widest, c.count);
  const double width = std::max(600.0, static_cast<double>(widest) * 60) + 2 * kMargin;
  sim::IdVector<DeviceId, Box> boxes(fabric.devices.size());
  double y = kMargin + 20;
  for (const DeviceKind kind : kRows) {
    std::vector<DeviceId> row;
    for (std::uint32_t i = 0; i < fabric.devices.size(); ++i)
      if (fabric.devices[static_cast<DeviceId>(i)].kind == kind) row.push_back(static_cast<DeviceId>(i));
    if (row.empty()) continue;
    const double step = (width - 2 * kMargin) / static_cast<double>(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      boxes[row[i]] = {kMargin + (static_cast<double>(i) + 0.5) * step, y + (row.size() > 40 && i % 2 == 1 ? 24 : 0),
                       std::min(step * 0.9, 110.0), 20};
    y += kRow;
  }
  double fastest = 1;
  for (const sim::Link& l : fabric.links) fastest = std::max(fastest, l.capacity.bytes_per_s());
  std::string body;
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    const double share = fabric.links[id].capacity.bytes_per_s() / fastest;
    body += line(boxes[info.source], boxes[info.target],
                 fmt::format("{}: {:.4g} GB/s", info.name, fabric.links[id].capacity.bytes_per_s() / 1e9), 0.4 + 2 * share);
  }
  for (std::uint32_t i = 0; i < fabric.devices.size(); ++i) {
    const auto id = static_cast<DeviceId>(i);
    const std::string& name = fabric.devices[id].name;
    body += box(boxes[id], fabric.devices[id].kind, name,
                std::min(11.0, 1.6 * boxes[id].w / static_cast<double>(name.size() + 1)));
  }
  return page(width, y, d.name, body);
}

}  // namespace traingraph::topology
