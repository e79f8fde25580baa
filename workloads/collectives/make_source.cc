#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sim/error.h"
#include "workloads/collectives/collectives.h"
#include "workloads/collectives/sources.h"

namespace traingraph::workloads {
namespace {

class EmptySource final : public detail::Source {
 public:
  using Source::Source;
  [[nodiscard]] std::uint32_t lanes() const override { return 0; }
  [[nodiscard]] std::uint32_t inboxes() const override { return 0; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 0; }
  [[nodiscard]] sim::Send send(std::uint32_t, std::uint32_t) const override { return {}; }
  [[nodiscard]] sim::Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
};

/// An upper bound of the lanes and of the inboxes; both are numbered by 32 bits.
double most_counters(CollectiveKind kind, Algorithm algorithm, double n, const CollectiveOptions& options) {
  switch (algorithm) {
    case Algorithm::direct:
      return (kind == CollectiveKind::gather || kind == CollectiveKind::scatter || kind == CollectiveKind::send_recv ||
              kind == CollectiveKind::all_to_all_v)
                 ? n
                 : n * (n - 1.0);
    case Algorithm::halving_doubling:
    case Algorithm::dissemination:
      return n * 2.0 * std::ceil(std::log2(n));
    case Algorithm::hierarchical:
      return n * (2.0 * options.domain_size + 1.0);
    case Algorithm::ring:
    case Algorithm::bidirectional_ring:
    case Algorithm::pairwise:
    case Algorithm::chain:
    case Algorithm::tree:
    case Algorithm::in_switch:
      return 6.0 * n;
  }
  SIM_ASSERT(false, "an algorithm outside the enumeration");
  return 0;
}

void check_matrix(std::uint32_t members, const CollectiveOptions& options) {
  if (options.matrix == nullptr) throw sim::InputError{"all_to_all_v needs a matrix of bytes"};
  if (options.matrix->size() != members) {
    throw sim::InputError{
        fmt::format("all_to_all_v among {} members: the matrix of bytes has {} rows", members, options.matrix->size())};
  }
  std::size_t pairs = 0;
  std::vector<std::uint32_t> seen;
  for (std::size_t row = 0; row < members; ++row) {
    seen.clear();
    for (const BytesToMember& entry : (*options.matrix)[row]) {
      if (entry.destination >= members) {
        throw sim::InputError{
            fmt::format("all_to_all_v: row {} names member {}; members are 0 to {}", row, entry.destination, members - 1)};
      }
      if (!(entry.bytes.count() >= 0) || !std::isfinite(entry.bytes.count())) {
        throw sim::InputError{
            fmt::format("all_to_all_v: member {} sends {} bytes to member {}; must be finite and not negative", row,
                        entry.bytes.count(), entry.destination)};
      }
      seen.push_back(entry.destination);
    }
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    if (twice != seen.end()) {
      throw sim::InputError{fmt::format("all_to_all_v: row {} names member {} twice", row, *twice)};
    }
    pairs += seen.size();
  }
  if (pairs > std::numeric_limits<std::uint32_t>::max()) {
    throw sim::InputError{fmt::format("all_to_all_v: {} pairs are more than can be numbered (2^32 - 1)", pairs)};
  }
}

void check_hierarchical(std::uint32_t members, const CollectiveOptions& options) {
  if (options.domain_size == 0) throw sim::InputError{"algorithm hierarchical needs a domain size of at least 1"};
  if (members % options.domain_size != 0) {
    throw sim::InputError{fmt::format("algorithm hierarchical: the domain size {} does not divide the {} members",
                                      options.domain_size, members)};
  }
  if (options.inner != Algorithm::ring && options.inner != Algorithm::direct) {
    throw sim::InputError{
        fmt::format("algorithm hierarchical: inner algorithm '{}'; allowed: ring, direct", to_string(options.inner))};
  }
}

sim::Bytes half(sim::Bytes bytes) { return bytes / 2.0; }

}  // namespace

namespace detail {
SourcePointer make_empty(const SourceBasics& basics) { return std::make_shared<EmptySource>(basics); }
}  // namespace detail

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce || kind == CollectiveKind::gather ||
         kind == CollectiveKind::scatter;
}

std::uint32_t piece_count(sim::Bytes bytes, const CollectiveOptions& options) {
  if (options.pieces > 0) return options.pieces;
  if (!(options.piece_bytes.count() > 0)) {
    throw sim::InputError{fmt::format("piece size {} bytes; must be positive", options.piece_bytes.count())};
  }
  const double pieces = std::max(1.0, std::ceil(bytes / options.piece_bytes));
  if (pieces > 2147483648.0) {
    throw sim::InputError{fmt::format("{} bytes in pieces of {} bytes are {} pieces; at most 2^31 are allowed",
                                      bytes.count(), options.piece_bytes.count(), pieces)};
  }
  return static_cast<std::uint32_t>(pieces);
}

void check_collective(CollectiveKind kind, Algorithm algorithm, std::uint32_t members, sim::Bytes bytes,
                      const CollectiveOptions& options) {
  if (!exists(kind, algorithm)) {
    std::vector<std::string> allowed;
    for (const Algorithm a : algorithms_of(kind)) allowed.push_back(to_string(a));
    throw sim::InputError{fmt::format("collective {} has no algorithm '{}'; allowed: {}", to_string(kind),
                                      to_string(algorithm), fmt::join(allowed, ", "))};
  }
  if (members == 0) throw sim::InputError{fmt::format("collective {} without members", to_string(kind))};
  if (!(bytes.count() >= 0) || !std::isfinite(bytes.count())) {
    throw sim::InputError{
        fmt::format("collective {} of {} bytes; must be finite and not negative", to_string(kind), bytes.count())};
  }
  if (has_root(kind) && options.root >= members) {
    throw sim::InputError{
        fmt::format("collective {}: root {}; members are 0 to {}", to_string(kind), options.root, members - 1)};
  }
  if (algorithm == Algorithm::halving_doubling && !std::has_single_bit(members)) {
    throw sim::InputError{fmt::format("algorithm halving_doubling needs a power of two of members, not {}; others: {}",
                                      members, kind == CollectiveKind::all_reduce ? "ring, direct, tree" : "ring, direct")};
  }
  if (algorithm == Algorithm::hierarchical) check_hierarchical(members, options);
  if (algorithm == Algorithm::chain) static_cast<void>(piece_count(bytes, options));
  if (algorithm == Algorithm::tree) static_cast<void>(piece_count(half(bytes), options));
  if (kind == CollectiveKind::all_to_all_v) check_matrix(members, options);
  if (most_counters(kind, algorithm, members, options) > 4294967295.0) {
    throw sim::InputError{fmt::format("collective {} by {} among {} members has more than 2^32 - 1 connections; use {}",
                                      to_string(kind), to_string(algorithm), members,
                                      kind == CollectiveKind::all_to_all ? "pairwise" : "ring")};
  }
}

std::shared_ptr<const sim::TransferSource> make_source(CollectiveKind kind, Algorithm algorithm, std::uint32_t members,
                                                       sim::Bytes bytes, const CollectiveOptions& options) {
  check_collective(kind, algorithm, members, bytes, options);
  const detail::SourceBasics basics{algorithm, members, options.stop_and_wait};
  if (members == 1) return detail::make_empty(basics);
  switch (algorithm) {
    case Algorithm::ring:
    case Algorithm::bidirectional_ring:
      return detail::make_ring(basics, kind, bytes);
    case Algorithm::direct:
      switch (kind) {
        case CollectiveKind::all_to_all_v:
          return detail::make_all_to_all_v(basics, *options.matrix);
        case CollectiveKind::gather:
          return detail::make_gather(basics, bytes, options.root);
        case CollectiveKind::scatter:
          return detail::make_scatter(basics, bytes, options.root);
        case CollectiveKind::send_recv:
          return detail::make_neighbour_exchange(basics, bytes);
        default:
          return detail::make_all_pairs(basics, kind, bytes);
      }
    case Algorithm::pairwise:
      return detail::make_pairwise(basics, bytes);
    case Algorithm::halving_doubling:
      return detail::make_halving_doubling(basics, kind, bytes);
    case Algorithm::chain: {
      const bool from_root = kind == CollectiveKind::broadcast;
      const std::uint32_t first = from_root ? options.root : (options.root + 1) % members;
      return detail::make_chain(basics, bytes, first, piece_count(bytes, options));
    }
    case Algorithm::tree:
      return detail::make_tree(basics, bytes, piece_count(half(bytes), options));
    case Algorithm::in_switch:
      return detail::make_in_switch(basics, bytes);
    case Algorithm::hierarchical:
      return detail::make_hierarchical(basics, bytes, options.domain_size, options.inner);
    case Algorithm::dissemination:
      return detail::make_dissemination(basics);
  }
  SIM_ASSERT(false, "an algorithm outside the enumeration");
  return nullptr;
}

double count_transfers(CollectiveKind kind, Algorithm algorithm, std::uint32_t members, sim::Bytes bytes,
                       const CollectiveOptions& options) {
  check_collective(kind, algorithm, members, bytes, options);
  if (members == 1) return 0;
  const double n = members;
  const double phases = kind == CollectiveKind::all_reduce ? 2 : 1;
  switch (algorithm) {
    case Algorithm::ring:
      return phases * n * (n - 1);
    case Algorithm::bidirectional_ring:
      return 2 * phases * n * (n - 1);
    case Algorithm::direct: {
      if (kind == CollectiveKind::gather || kind == CollectiveKind::scatter) return n - 1;
      if (kind == CollectiveKind::send_recv) return n;
      if (kind != CollectiveKind::all_to_all_v) return phases * n * (n - 1);
      double pairs = 0;
      for (std::size_t row = 0; row < members; ++row) {
        for (const BytesToMember& entry : (*options.matrix)[row])
          pairs += entry.destination != row && entry.bytes.count() > 0;
      }
      return pairs;
    }
    case Algorithm::pairwise:
      return n * (n - 1);
    case Algorithm::halving_doubling:
      return phases * n * detail::ceil_log2(members);
    case Algorithm::chain:
      return (n - 1) * piece_count(bytes, options);
    case Algorithm::tree:
      return 4 * (n - 1) * piece_count(half(bytes), options);
    case Algorithm::in_switch:
      return 1;
    case Algorithm::hierarchical: {
      const double g = options.domain_size;
      return n * (2 * (g - 1) + 2 * (n / g - 1));
    }
    case Algorithm::dissemination:
      return n * detail::ceil_log2(members);
  }
  SIM_ASSERT(false, "an algorithm outside the enumeration");
  return 0;
}

}  // namespace traingraph::workloads
