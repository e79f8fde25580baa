#include "topology/import/custom_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "topology/import/text.h"

namespace traingraph::topology::imports {

void CustomWriter::device(CustomDevice device) {
  if (custom_.devices.size() >= kMostDevices) {
    throw ImportError{fmt::format("more than {} devices; that many are not simulated", kMostDevices)};
  }
  custom_.devices.push_back(std::move(device));
}

void CustomWriter::link(std::string a, std::string b, LinkSpec speed, Tier tier, std::uint32_t parallel) {
  if (custom_.links.size() >= kMostDevices) {
    throw ImportError{fmt::format("more than {} links; that many are not simulated", kMostDevices)};
  }
  custom_.links.push_back({.source = std::move(a),
                           .target = std::move(b),
                           .bandwidth = speed.bandwidth,
                           .latency = speed.latency,
                           .parallel = parallel,
                           .tier = tier});
}

void CustomWriter::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

void CustomWriter::gpus_of_node(const std::string& node, std::int32_t number, std::uint32_t gpus) {
  const bool joined = options_.scale_up > sim::Bandwidth{} && gpus > 1;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    device({.name = fmt::format("{}.gpu{}", node, g),
            .kind = DeviceKind::gpu,
            .domain = joined ? number : -1,
            .node = number,
            .rail = static_cast<std::int32_t>(g)});
  }
  if (gpus == 1) return;
  if (!joined) {
    return note(
        "the network inside a node is not in the file: its GPUs meet on the scale-out network; --set scale_up=400GB/s gives "
        "them a switch");
  }
  const std::string hub = node + ".nvswitch";
  device({.name = hub, .kind = DeviceKind::nvswitch, .domain = number, .node = number});
  for (std::uint32_t g = 0; g < gpus; ++g) {
    link(fmt::format("{}.gpu{}", node, g), hub, {options_.scale_up, options_.scale_up_latency}, Tier::scale_up);
  }
}

Imported CustomWriter::finish(std::string name, std::uint32_t nodes) && {
  Imported result;
  result.cluster.name = std::move(name);
  result.cluster.nodes = std::max(nodes, 1U);
  result.cluster.scale_up = NoScaleUp{};
  result.cluster.scale_out = std::move(custom_);
  result.notes = std::move(notes_);
  return result;
}

std::string gbit(sim::Bandwidth bandwidth) { return fmt::format("{:g} Gb/s", bandwidth.bytes_per_s() / 1.25e8); }

}  // namespace traingraph::topology::imports
