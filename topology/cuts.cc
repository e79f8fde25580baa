#include "topology/cuts.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace traingraph::topology {
namespace {

/// Adds GPU `e` (ascending calls) to runs of equal stride.
void extend(std::vector<EndpointRange>& ranges, std::uint32_t e) {
  if (!ranges.empty()) {
    EndpointRange& r = ranges.back();
    const std::uint32_t step = e - (r.first + (r.count - 1) * r.stride);
    if (r.count == 1 && step == 1) {
      r.count = 2;
      return;
    }
    if (r.count > 1 && step == r.stride) {
      ++r.count;
      return;
    }
  }
  ranges.push_back({.first = e, .count = 1, .stride = 1});
}

/// Equally long runs at equal distances: single GPUs become one strided range.
std::vector<EndpointRange> strided(std::vector<EndpointRange> ranges) {
  if (ranges.size() < 3) return ranges;
  const std::uint32_t stride = ranges[1].first - ranges[0].first;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].count != 1 || ranges[i].first != ranges[0].first + static_cast<std::uint32_t>(i) * stride) return ranges;
  return {{.first = ranges[0].first, .count = static_cast<std::uint32_t>(ranges.size()), .stride = stride}};
}

struct LabelKind {
  const char* name;
  std::int32_t Device::*label;
};
constexpr LabelKind kLabels[] = {{"node", &Device::node},
                                 {"domain", &Device::domain},
                                 {"rack", &Device::rack},
                                 {"unit", &Device::unit},
                                 {"pod", &Device::pod}};

std::vector<Cut> cuts_of(const Fabric& fabric, const LabelKind& kind) {
  std::int32_t most = -1;
  for (const Device& d : fabric.devices) most = std::max(most, d.*kind.label);
  std::vector<Cut> cuts(static_cast<std::size_t>(most + 1));
  const auto label = [&](DeviceId d) { return fabric.devices[d].*kind.label; };
  for (std::uint32_t i = 0; i < fabric.gpus(); ++i) {
    const std::int32_t at = label(fabric.endpoints[static_cast<sim::EndpointId>(i)]);
    if (at >= 0) extend(cuts[static_cast<std::size_t>(at)].inside, i);
  }
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    const std::int32_t from = label(info.source), to = label(info.target);
    if (from == to) continue;
    // a half-duplex link has one LinkId for both directions: it counts fully in both
    const bool both = fabric.link_info[id].half_duplex;
    const sim::Bandwidth capacity = fabric.links[id].capacity;
    for (const std::int32_t at : {from, to}) {
      if (at < 0) continue;
      Cut& cut = cuts[static_cast<std::size_t>(at)];
      if (both || at == from) cut.capacity_out += capacity;
      if (both || at == to) cut.capacity_in += capacity;
    }
  }
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    cuts[i].kind = kind.name;
    cuts[i].name = std::string{kind.name} + " " + std::to_string(i);
    cuts[i].inside = strided(std::move(cuts[i].inside));
  }
  std::erase_if(cuts, [&](const Cut& c) { return c.inside.empty() || c.size() == fabric.gpus(); });
  return cuts;
}

}  // namespace

std::vector<Cut> label_cuts(const Fabric& fabric) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, double, double>;
  std::map<Key, bool> seen;
  std::vector<Cut> all;
  for (const LabelKind& kind : kLabels)
    for (Cut& cut : cuts_of(fabric, kind)) {
      if (cut.inside.size() == 1) {
        const Key key{cut.inside[0].first, cut.inside[0].count, cut.capacity_out.bytes_per_s(),
                      cut.capacity_in.bytes_per_s()};
        if (!seen.emplace(key, true).second) continue;
      }
      all.push_back(std::move(cut));
    }
  return all;
}

Cut make_cut(const Fabric& fabric, std::string name, std::string kind, const std::function<bool(DeviceId)>& inside) {
  Cut cut{.name = std::move(name), .kind = std::move(kind), .inside = {}, .capacity_out = {}, .capacity_in = {}};
  for (std::uint32_t i = 0; i < fabric.gpus(); ++i)
    if (inside(fabric.endpoints[static_cast<sim::EndpointId>(i)])) extend(cut.inside, i);
  cut.inside = strided(std::move(cut.inside));
  for (std::uint32_t i = 0; i < fabric.links.size(); ++i) {
    const auto id = static_cast<sim::LinkId>(i);
    const LinkInfo& info = fabric.link_info[id];
    const bool from = inside(info.source), to = inside(info.target);
    if (from == to) continue;
    if (from || info.half_duplex) cut.capacity_out += fabric.links[id].capacity;
    if (to || info.half_duplex) cut.capacity_in += fabric.links[id].capacity;
  }
  return cut;
}

}  // namespace traingraph::topology
