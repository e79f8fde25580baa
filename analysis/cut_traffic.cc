#include "analysis/cut_traffic.h"

#include <algorithm>
#include <string>

namespace traingraph::analysis {
namespace {

/// What any algorithm moves over a cut for one call; m of n members are inside.
CutBytes needed(const std::string& collective, double bytes, double m, double n) {
  if (collective == "all_reduce") return {bytes, bytes};
  if (collective == "reduce_scatter") return {(n - m) / n * bytes, m / n * bytes};
  if (collective == "all_gather") return {m / n * bytes, (n - m) / n * bytes};
  if (collective == "all_to_all") return {m * (n - m) / n * bytes, m * (n - m) / n * bytes};
  return {};
}

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

CutTraffic::CutTraffic(const topology::Fabric& fabric)
    : cuts_of_(fabric.endpoints.size()),
      chosen_(fabric.cuts.size()),
      any_(fabric.cuts.size()),
      members_inside_(fabric.cuts.size(), 0) {
  for (std::uint32_t c = 0; c < fabric.cuts.size(); ++c) {
    for (const topology::EndpointRange& range : fabric.cuts[c].inside) {
      for (std::uint32_t i = 0; i < range.count; ++i) cuts_of_[sim::EndpointId{range.first + i * range.stride}].push_back(c);
    }
  }
}

bool CutTraffic::inside(std::uint32_t cut, sim::EndpointId e) const {
  const std::vector<std::uint32_t>& cuts = cuts_of_[e];  // few: a node, a rack, a pod, a bisection
  return std::find(cuts.begin(), cuts.end(), cut) != cuts.end();
}

void CutTraffic::add_point_to_point(std::vector<CutBytes>& sums, sim::EndpointId source, sim::EndpointId destination,
                                    double bytes) const {
  for (const std::uint32_t c : cuts_of_[source]) {
    if (!inside(c, destination)) sums[c].out += bytes;
  }
  for (const std::uint32_t c : cuts_of_[destination]) {
    if (!inside(c, source)) sums[c].in += bytes;
  }
}

void CutTraffic::count_members(std::span<const sim::EndpointId> members) {
  for (const std::uint32_t c : touched_) members_inside_[c] = 0;
  touched_.clear();
  for (const sim::EndpointId e : members) {
    for (const std::uint32_t c : cuts_of_[e]) {
      if (members_inside_[c]++ == 0) touched_.push_back(c);
    }
  }
}

void CutTraffic::add(const Flow& flow) {
  if (flow.in_switch.empty()) {
    add_point_to_point(chosen_, flow.source, flow.destination, flow.bytes);
    return;
  }
  count_members(flow.in_switch);
  for (const std::uint32_t c : touched_) {
    if (members_inside_[c] == flow.in_switch.size()) continue;
    chosen_[c].out += flow.bytes;
    chosen_[c].in += flow.bytes;
  }
}

void CutTraffic::add_communicator(const sim::Program& program, const sim::Communicator& communicator,
                                  const std::vector<CallCount>& calls) {
  if (calls.empty()) return;
  std::vector<sim::EndpointId> endpoints;
  endpoints.reserve(communicator.members.size());
  for (const sim::RankId r : communicator.members) endpoints.push_back(program.ranks[r].endpoint);
  count_members(endpoints);
  const double n = static_cast<double>(endpoints.size());
  for (const CallCount& call : calls) {
    const sim::CollectiveSpec& spec = program.collectives[call.argument];
    const std::string name = with_underscores(spec.name);
    for (const std::uint32_t c : touched_) {
      const double m = static_cast<double>(members_inside_[c]);
      if (m == n) continue;
      const CutBytes bytes = needed(name, spec.bytes.count() * static_cast<double>(call.calls), m, n);
      any_[c].out += bytes.out;
      any_[c].in += bytes.in;
    }
  }
}

void CutTraffic::add_any_algorithm(const sim::Program& program, const StepCalls& calls) {
  for (std::uint32_t c = 0; c < program.communicators.size(); ++c) {
    const sim::CommunicatorId id{c};
    add_communicator(program, program.communicators[id], calls.collectives[id]);
  }
  for (std::uint32_t c = 0; c < program.channels.size(); ++c) {
    const sim::ChannelId id{c};
    double bytes = 0;
    for (const CallCount& m : calls.messages[id]) {
      bytes += program.message_bytes[m.argument].count() * static_cast<double>(m.calls);
    }
    const sim::Channel& channel = program.channels[id];
    add_point_to_point(any_, program.ranks[channel.source].endpoint, program.ranks[channel.destination].endpoint, bytes);
  }
}

}  // namespace traingraph::analysis
