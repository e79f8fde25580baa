#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/error.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {
namespace {

using enum Algorithm;

constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                            CollectiveKind::all_to_all, CollectiveKind::all_to_all_v,   CollectiveKind::broadcast,
                            CollectiveKind::reduce,     CollectiveKind::gather,         CollectiveKind::scatter,
                            CollectiveKind::barrier,    CollectiveKind::send_recv};
constexpr std::array<std::string_view, kKinds.size()> kKindNames{
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "all_to_all_v", "broadcast",
    "reduce",     "gather",         "scatter",    "barrier",    "send_recv"};

constexpr std::array kAlgorithms{ring, bidirectional_ring, direct,       pairwise,     halving_doubling, chain,
                                 tree, in_switch,          hierarchical, dissemination};
constexpr std::array<std::string_view, kAlgorithms.size()> kAlgorithmNames{
    "ring", "bidirectional_ring", "direct",       "pairwise",     "halving_doubling", "chain",
    "tree", "in_switch",          "hierarchical", "dissemination"};

constexpr std::array kAllReduce{ring, bidirectional_ring, direct, halving_doubling, tree, in_switch, hierarchical};
constexpr std::array kOneWay{ring, bidirectional_ring, direct, halving_doubling};
constexpr std::array kAllToAll{direct, pairwise};
constexpr std::array kDirect{direct};
constexpr std::array kChain{chain};
constexpr std::array kBarrier{dissemination};

template <class Values, class Names>
auto parse(std::string_view what, std::string_view name, const Values& values, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw sim::InputError{fmt::format("unknown {} '{}'; allowed: {}", what, name, fmt::join(names, ", "))};
  }
  return values[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

std::string to_string(CollectiveKind kind) { return std::string{kKindNames[static_cast<std::size_t>(kind)]}; }
std::string to_string(Algorithm algorithm) { return std::string{kAlgorithmNames[static_cast<std::size_t>(algorithm)]}; }

CollectiveKind parse_collective_kind(std::string_view name) { return parse("collective", name, kKinds, kKindNames); }
Algorithm parse_algorithm(std::string_view name) {
  return parse("collective algorithm", name, kAlgorithms, kAlgorithmNames);
}

std::span<const CollectiveKind> all_collective_kinds() { return kKinds; }
std::span<const Algorithm> all_algorithms() { return kAlgorithms; }

std::span<const Algorithm> algorithms_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return kAllReduce;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
      return kOneWay;
    case CollectiveKind::all_to_all:
      return kAllToAll;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return kChain;
    case CollectiveKind::barrier:
      return kBarrier;
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::send_recv:
      return kDirect;
  }
  SIM_ASSERT(false, "a collective kind outside the enumeration");
  return {};
}

Algorithm default_algorithm(CollectiveKind kind) { return algorithms_of(kind).front(); }

bool exists(CollectiveKind kind, Algorithm algorithm) {
  const auto allowed = algorithms_of(kind);
  return std::find(allowed.begin(), allowed.end(), algorithm) != allowed.end();
}

double bus_bandwidth_factor(CollectiveKind kind, std::uint32_t members) {
  const double n = members;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * (n - 1.0) / n;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return (n - 1.0) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_recv:
      return 1.0;
    case CollectiveKind::barrier:
      return 0.0;
  }
  SIM_ASSERT(false, "a collective kind outside the enumeration");
  return 0.0;
}

}  // namespace traingraph::workloads
