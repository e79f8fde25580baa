// Record: what the engine measured. Times are integer picoseconds; nothing here depends on the machine or the wall clock.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/ids.h"
#include "sim/program.h"
#include "sim/units.h"

namespace traingraph::sim {

/// One rank's stream 0 over the reported window, by category; the entries add up to the window exactly.
struct TimeSplit {
  std::array<Duration, kMaxCategories> by_category{};
};

/// One operation as it happened.
struct TaskSpan {
  RankId rank{};
  std::uint32_t step = 0;  ///< 0-based
  std::uint32_t op = 0;    ///< index into the template's ops
  Time ready;              ///< its dependencies and its stream's previous operation had ended
  Time start;              ///< equals ready, but for compute operations played back to back inside one event
  Time end;
};

/// One transfer as it happened.
struct TransferSpan {
  RankId source{};
  RankId destination{};
  std::uint32_t label = 0;  ///< index into Program::labels
  Bytes bytes;
  Time start;    ///< posted; drains after the path's overhead
  Time drained;  ///< the last byte left the wire
  Time arrived;
  std::uint32_t hops = 0;
};

/// Receives spans as the run goes, one call per span; must not call back into the engine.
///
/// A span comes at its end, with two exceptions: compute operations that a stream plays back to back come together when the
/// last of them ends, and the transfers of a collective in exact bulk, or of a ring whose members entered apart, come
/// together when the collective ends. So the
/// operations of one stream come in order of time, and so do the transfers of one channel; spans at large do not.
class TraceSink {
 public:
  TraceSink() = default;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;
  virtual ~TraceSink() = default;
  [[nodiscard]] virtual bool wants_tasks() const = 0;
  [[nodiscard]] virtual bool wants_transfers() const = 0;
  virtual void task(const TaskSpan& span) = 0;
  virtual void transfer(const TransferSpan& span) = 0;
};

/// One element of the critical path: an operation of a rank. Consecutive elements touch: each starts when the one before it
/// has ended. `slack` is how much later than every other thing the next element waited for (time zero, if there was none)
/// this one ended, at least; zero for the last.
struct CriticalElement {
  RankId rank{};
  std::uint32_t step = 0;
  std::uint32_t op = 0;
  Time start;  ///< of the part that matters: never before the end of the element before it
  Time end;
  Duration slack;
};

struct LinkRecord {
  double bytes = 0;             ///< carried in the reported window
  Duration busy;                ///< time in the window with any load
  double peak_utilization = 0;  ///< largest instantaneous load/capacity in the window
};

struct Counters {
  std::uint64_t events = 0;
  std::uint64_t operations = 0;
  std::uint64_t transfers = 0;          ///< completed
  std::uint64_t collectives = 0;        ///< completed instances
  std::uint64_t solves = 0;             ///< instants at which rates were computed
  std::uint64_t transfers_touched = 0;  ///< sum over solves of transfers whose rate was recomputed
  std::uint64_t transfers_changed = 0;  ///< of those, rate really different
};

/// How the collectives of one kind were played, and why.
struct CollectiveModes {
  std::uint32_t collective = 0;   ///< index into Program::collectives
  std::uint64_t step = 0;         ///< instances played step by step
  std::uint64_t bulk_exact = 0;   ///< in bulk, exact by construction
  std::uint64_t bulk_forced = 0;  ///< in bulk because asked for, or because the program exceeds step_limit
};

struct Record {
  std::vector<Time> step_ends;         ///< E_1..E_steps; the reported window is (E_{n-1}, E_n], E_0 = 0
  IdVector<RankId, TimeSplit> splits;  ///< of the reported window
  IdVector<LinkId, LinkRecord> links;  ///< of the reported window (empty for `ideal`)
  Duration bin_width;                  ///< of `load`; zero when no bins were asked for
  std::uint32_t bins = 0;
  std::vector<float> load;                     ///< [link * bins + bin]: mean utilization of the whole run, from time zero
  std::vector<CriticalElement> critical_path;  ///< oldest first, of the reported window
  std::vector<CollectiveModes> modes;
  double program_transfers = 0;  ///< transfers of the whole program if every collective is played in steps
  double inexact_transfers = 0;  ///< those of collectives whose bulk play is not exact, and messages
  Counters counters;

  [[nodiscard]] Time window_begin() const { return step_ends.size() < 2 ? Time::zero() : step_ends[step_ends.size() - 2]; }
  [[nodiscard]] Time window_end() const { return step_ends.empty() ? Time::zero() : step_ends.back(); }
  [[nodiscard]] Duration step_time() const { return window_end() - window_begin(); }
};

}  // namespace traingraph::sim
