// A 64-bit digest (FNV-1a) of everything in a Record, to the last bit: equal records have equal digests.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/record.h"

namespace traingraph::sim::tests {

class Digest {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ ^= (value >> (8 * byte)) & 0xff;
      hash_ *= 0x100000001b3U;
    }
  }
  void add(Duration d) { add(static_cast<std::uint64_t>(d.count_ps())); }
  void add(Time t) { add(t.since_start()); }
  void add(double v) { add(std::bit_cast<std::uint64_t>(v)); }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

[[nodiscard]] inline std::uint64_t digest(const Record& r) {
  Digest d;
  for (const Time t : r.step_ends) d.add(t);
  for (const TimeSplit& s : r.splits)
    for (const Duration c : s.by_category) d.add(c);
  for (const LinkRecord& l : r.links) {
    d.add(l.bytes);
    d.add(l.busy);
    d.add(l.peak_utilization);
  }
  d.add(r.bin_width);
  for (const float load : r.load) d.add(static_cast<double>(load));
  for (const CriticalElement& e : r.critical_path) {
    for (const std::uint32_t i : {index(e.rank), e.step, e.op}) d.add(std::uint64_t{i});
    d.add(e.start);
    d.add(e.end);
    d.add(e.slack);
  }
  for (const CollectiveModes& m : r.modes)
    for (const std::uint64_t n : {std::uint64_t{m.collective}, m.step, m.bulk_exact, m.bulk_forced}) d.add(n);
  d.add(r.program_transfers);
  const Counters& c = r.counters;
  for (const std::uint64_t n :
       {c.events, c.operations, c.transfers, c.collectives, c.solves, c.transfers_touched, c.transfers_changed})
    d.add(n);
  return d.value();
}

}  // namespace traingraph::sim::tests
