#include "workloads/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

constexpr std::array<std::string_view, kDimensions> kNames{"tp", "cp", "ep", "dp", "pp", "tp_hidden"};
constexpr std::size_t kOrdered = 5;  // of those, the ones that an order may name

[[noreturn]] void bad_order(std::string_view order, const std::string& why) {
  throw sim::InputError{
      fmt::format("rank order '{}': {}; allowed: the names tp, cp, ep, dp, pp, each once, joined by '-'", order, why)};
}

std::vector<Layout::Digit> digits_of(const std::array<std::uint32_t, kDimensions>& degrees, std::string_view order) {
  std::array<bool, kDimensions> seen{};
  std::vector<Layout::Digit> digits;
  for (std::size_t begin = 0; begin <= order.size();) {
    const std::size_t end = std::min(order.find('-', begin), order.size());
    const std::string_view name = order.substr(begin, end - begin);
    std::size_t d = 0;
    while (d < kOrdered && kNames[d] != name) ++d;
    if (d == kOrdered) bad_order(order, fmt::format("'{}' is no dimension", name));
    if (seen[d]) bad_order(order, fmt::format("'{}' is named twice", name));
    seen[d] = true;
    digits.push_back({static_cast<Dimension>(d), degrees[d]});
    begin = end + 1;
  }
  for (std::size_t d = 0; d < kOrdered; ++d) {
    if (!seen[d] && degrees[d] != 1) bad_order(order, fmt::format("'{}' of degree {} is missing", kNames[d], degrees[d]));
  }
  return digits;
}

}  // namespace

Layout::Layout(const std::vector<Digit>& digits) {
  degrees_.fill(1);
  std::uint64_t stride = 1;
  for (const Digit& digit : digits) {
    auto& degree = degrees_[static_cast<std::size_t>(digit.dimension)];
    if (digit.degree == 0) {
      throw sim::InputError{
          fmt::format("{}: the degree must be at least 1", kNames[static_cast<std::size_t>(digit.dimension)])};
    }
    places_.push_back({digit.dimension, digit.degree, static_cast<std::uint32_t>(stride), degree});
    stride *= digit.degree;
    if (stride > std::numeric_limits<std::uint32_t>::max()) throw sim::InputError{"the layout has more than 2^32-1 ranks"};
    degree *= digit.degree;
  }
  ranks_ = static_cast<std::uint32_t>(stride);
}

Layout::Layout(const std::array<std::uint32_t, kDimensions>& degrees, std::string_view order)
    : Layout{digits_of(degrees, order)} {}

std::uint32_t Layout::coordinate(sim::RankId rank, Dimension d) const {
  std::uint32_t result = 0;
  for (const Place& p : places_) {
    if (p.dimension == d) result += index(rank) / p.stride % p.degree * p.weight;
  }
  return result;
}

Coordinates Layout::coordinates(sim::RankId rank) const {
  return {.tp = coordinate(rank, Dimension::tp) + degree(Dimension::tp) * coordinate(rank, Dimension::tp_hidden),
          .cp = coordinate(rank, Dimension::cp),
          .ep = coordinate(rank, Dimension::ep),
          .dp = coordinate(rank, Dimension::dp),
          .pp = coordinate(rank, Dimension::pp)};
}

std::uint32_t Layout::without(std::uint32_t rank, Dimension d) const {
  std::uint32_t result = rank;
  for (const Place& p : places_) {
    if (p.dimension == d) result -= rank / p.stride % p.degree * p.stride;
  }
  return result;
}

sim::RankId Layout::moved(sim::RankId rank, Dimension d, std::uint32_t coordinate) const {
  std::uint32_t result = without(index(rank), d);
  for (const Place& p : places_) {
    if (p.dimension == d) result += coordinate / p.weight % p.degree * p.stride;
  }
  return sim::RankId{result};
}

Grouping Layout::group(const std::vector<Dimension>& varying) const {
  std::uint32_t size = 1;
  for (const Dimension d : varying) size *= degree(d);
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(ranks_, kNone);  // by the group's first member
  Grouping result;
  result.group_of.resize(ranks_);
  result.member_of.resize(ranks_);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    std::uint32_t first = r;
    for (const Dimension d : varying) first = without(first, d);
    if (number[first] == kNone) {
      number[first] = static_cast<std::uint32_t>(result.groups.size());
      result.groups.emplace_back().reserve(size);
    }
    auto& members = result.groups[number[first]];
    result.group_of[r] = number[first];
    result.member_of[r] = static_cast<std::uint32_t>(members.size());
    members.push_back(sim::RankId{r});
  }
  return result;
}

}  // namespace traingraph::workloads
