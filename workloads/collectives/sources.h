// Internal to this folder: what the algorithms share, and one constructor function for each of them. Sizes are checked by
// make_source before they come here: at least two members, lanes and inboxes that fit 32 bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/transfer_source.h"
#include "sim/units.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads::detail {

/// What every source has; `members` >= 2 but in make_empty.
struct SourceBasics {
  Algorithm algorithm{};
  std::uint32_t members = 0;
  bool stop_and_wait = false;
};

class Source : public sim::TransferSource {
 public:
  explicit Source(const SourceBasics& basics) : basics_{basics} {}
  [[nodiscard]] std::string algorithm() const final { return to_string(basics_.algorithm); }
  [[nodiscard]] std::uint32_t members() const final { return basics_.members; }
  [[nodiscard]] bool stop_and_wait() const final { return basics_.stop_and_wait; }

 private:
  SourceBasics basics_;
};

using SourcePointer = std::shared_ptr<const sim::TransferSource>;  // see make_source for who shares it

[[nodiscard]] SourcePointer make_empty(const SourceBasics& basics);
[[nodiscard]] SourcePointer make_ring(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes);
/// One phase of all pairs (reduce_scatter, all_gather, all_to_all), or two (all_reduce).
[[nodiscard]] SourcePointer make_all_pairs(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes);
[[nodiscard]] SourcePointer make_pairwise(const SourceBasics& basics, sim::Bytes bytes);
[[nodiscard]] SourcePointer make_all_to_all_v(const SourceBasics& basics, const BytesMatrix& matrix);
[[nodiscard]] SourcePointer make_gather(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t root);
[[nodiscard]] SourcePointer make_scatter(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t root);
[[nodiscard]] SourcePointer make_neighbour_exchange(const SourceBasics& basics, sim::Bytes bytes);
[[nodiscard]] SourcePointer make_halving_doubling(const SourceBasics& basics, CollectiveKind kind, sim::Bytes bytes);
/// `first` is the member where the chain starts; it runs first, first+1, ..., first-1 (mod members).
[[nodiscard]] SourcePointer make_chain(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t first,
                                       std::uint32_t pieces);
[[nodiscard]] SourcePointer make_tree(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t pieces);
[[nodiscard]] SourcePointer make_in_switch(const SourceBasics& basics, sim::Bytes bytes);
[[nodiscard]] SourcePointer make_hierarchical(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t domain_size,
                                              Algorithm inner);
[[nodiscard]] SourcePointer make_dissemination(const SourceBasics& basics);

/// The least k with 2^k >= n.
[[nodiscard]] constexpr std::uint32_t ceil_log2(std::uint32_t n) {
  std::uint32_t k = 0;
  while ((std::uint64_t{1} << k) < n) ++k;
  return k;
}

}  // namespace traingraph::workloads::detail
