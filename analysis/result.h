// Result: everything that a run says, as one value. The table on stdout, JSON, CSV, HDF5 and the page are printed from it
// and from nothing else, so they cannot disagree. Names are those of the result schema; a double carries its unit in its
// name.
//
// Times are integer picoseconds (sim::Duration) up to the printers, so that sums stay exact. Nothing here depends on the
// machine, the wall clock or the number of threads but `Effort`, which the printers leave out unless asked.
//
// Invariants (SIM_ASSERTed by analyze()):
// 1. the parts of every TimeSplit add up to step_time, to the picosecond;
// 2. no link's mean or peak utilization is above 1 (+1e-9);
// 3. lower_bound is the largest of the bounds that speak of the reported step, and names the one that binds.
//
// The reported step is the last one: the window (E_{n-1}, E_n], E_k the end of the last operation of step k and E_0 = 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/ids.h"
#include "sim/units.h"

namespace traingraph::analysis {

/// One named part of a time.
struct TimePart {
  std::string name;  ///< "compute", "exposed_dp", ...
  sim::Duration time;
};

/// Where one GPU's time went over the reported step; `parts` add up to the step time.
struct TimeSplit {
  sim::RankId rank{};
  std::string gpu;              ///< the GPU's name in the fabric
  std::vector<TimePart> parts;  ///< in the order of workloads::TimeCategory, every category present
  sim::Duration busy;           ///< kernels: compute + memory_bound + optimizer
  sim::Duration exposed_pp;     ///< bubble + wait (both are in `parts`)

  [[nodiscard]] sim::Duration part(const std::string& name) const;  ///< InternalError when there is no such part
};

/// The links of one tier over the reported step.
struct TierUse {
  std::string tier;
  std::uint64_t links = 0;          ///< directed links of the tier
  std::uint64_t links_used = 0;     ///< of those, links that carried anything
  double capacity_bytes_per_s = 0;  ///< summed over the links, mean over the step
  double bytes = 0;                 ///< carried in the step, summed over the links
  double busy_fraction = 0;         ///< mean over the links of time with any load / step time
  double mean_utilization = 0;      ///< bytes / (capacity x step time)
  double peak_utilization = 0;      ///< largest instantaneous load/capacity of any link
};

/// One link over the reported step.
struct LinkUse {
  sim::LinkId link{};
  std::string name;
  std::string tier;
  double capacity_bytes_per_s = 0;
  double bytes = 0;
  double busy_fraction = 0;
  double mean_utilization = 0;
  double peak_utilization = 0;
};

struct MemoryPart {
  std::string name;
  double bytes = 0;
};

/// Memory of the GPU role that needs most.
struct MemoryUse {
  std::string role;              ///< name of the template
  double peak_memory_bytes = 0;  ///< sum of the terms
  double capacity_bytes = 0;     ///< of one GPU; 0: unknown
  std::vector<MemoryPart> terms;
};

/// How much of the critical path one kind of thing takes.
struct PathShare {
  std::string name;
  std::uint64_t elements = 0;
  sim::Duration time;
  double fraction = 0;  ///< of the path's length
};

struct PathElement {
  sim::RankId rank{};
  std::uint32_t step = 0;
  std::uint32_t op = 0;  ///< index into the template's operations
  std::string kind;      ///< compute, collective, send, receive, marker
  std::string task;      ///< the label: "qkv_gemm", ...
  std::int32_t microbatch = -1;
  std::int32_t layer = -1;
  sim::Time start;
  sim::Time end;
  sim::Duration slack;  ///< how much earlier the next element could have started without this one
};

struct CriticalPath {
  std::vector<PathElement> elements;  ///< oldest first; empty when the run did not record it
  sim::Duration length;               ///< sum over the elements
  std::vector<PathShare> by_kind;     ///< largest first
  std::vector<PathShare> by_task;     ///< largest first
};

/// The simulated time that a bound is compared with.
enum class BoundWindow : std::uint8_t {
  every_step,   ///< holds for each step's work: compared with the mean step E_n/n (the reported step when n = 1)
  first_step,   ///< one whole cold step: compared with E_1
  steady_step,  ///< the period of a run that repeats itself: compared with the reported step
};

/// One rigorous lower bound.
struct Bound {
  int number = 0;         ///< 1..5, as in the network model
  std::string name;       ///< "arithmetic", "memory", "link", "switch", "cut", "chain", "pipeline"
  std::string subject;    ///< which GPU, link, switch or subtree gives it
  std::string holds_for;  ///< "any algorithm", "any routing", "this program", ...
  BoundWindow window = BoundWindow::every_step;
  sim::Duration value;
  sim::Duration simulated;        ///< of that window
  bool of_reported_step = false;  ///< takes part in Result::lower_bound
  bool binds = false;             ///< the one that sets Result::lower_bound

  /// False only when a promise is broken; one part in 10^9 and 1 ns are allowed for rounding to picoseconds.
  [[nodiscard]] bool holds() const;
};

/// How the calls of one kind of collective were played.
struct CollectiveUse {
  std::string name;         ///< all-reduce, ...
  std::string algorithm;    ///< ring, ...
  double bytes = 0;         ///< the full buffer
  std::uint64_t calls = 0;  ///< instances over the whole run
  std::uint64_t step = 0;
  std::uint64_t bulk_exact = 0;
  std::uint64_t bulk_forced = 0;
  std::string mode;                  ///< step, bulk, mixed
  std::vector<std::string> reasons;  ///< why, one for each way that was met: "step: bulk would not be exact"

  /// The reasons in one line.
  [[nodiscard]] std::string reason() const;
};

struct Sensitivity {
  std::string resource;            ///< "bandwidth nic", "latency scale_up", "flop_rate", "hbm_bandwidth", ...
  double percent_per_percent = 0;  ///< d(log step time)/d(log resource); -1: twice the resource, half the time
};

struct EngineCounters {
  std::uint64_t events = 0;
  std::uint64_t operations = 0;
  std::uint64_t transfers = 0;
  std::uint64_t collectives = 0;
  std::uint64_t rate_solves = 0;
  std::uint64_t transfers_touched = 0;
  std::uint64_t transfers_changed = 0;
  std::uint64_t classes = 0;  ///< ranks that were played
  std::uint64_t members = 0;  ///< GPUs that they stand for
};

/// What the run cost us; the only machine-dependent numbers.
struct Effort {
  double wall_s = 0;
  double peak_rss_bytes = 0;
};

struct Result {
  std::string description;  ///< one line: model and layout
  std::string fabric;
  std::string network;  ///< flow, chunk, ideal
  std::uint64_t gpus = 0;
  std::uint32_t steps = 1;

  sim::Duration step_time;
  std::optional<double> tokens_per_s;  ///< empty: the workload has no tokens
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<double> algorithm_bandwidth;  ///< bytes/s, nccl-tests' algbw; empty: the workload is no collective run
  std::optional<double> bus_bandwidth;        ///< bytes/s, nccl-tests' busbw
  std::optional<double> model_flop_per_step;  ///< empty: the workload does not count a model's arithmetic
  std::optional<double> mfu;                  ///< empty as well when the peak rate is not known
  std::optional<double> hfu;
  std::optional<double> tflops_per_gpu;  ///< model FLOP, 10^12 FLOP/s
  std::string flop_convention;
  std::uint64_t parameters = 0;         ///< with the vocabulary as published
  std::uint64_t padded_vocabulary = 0;  ///< as trained; 0: the workload has none

  TimeSplit busiest, median, least_busy;  ///< by kernel time; ties: lowest rank

  sim::Duration lower_bound;
  std::string binding_bound;  ///< name and subject of the bound that binds
  double gap = 0;             ///< step_time / lower_bound; 0 when there is no bound above zero
  std::vector<Bound> bounds;

  MemoryUse memory;
  std::vector<TierUse> tiers;      ///< tiers that the fabric has, in order of topology::Tier
  std::vector<LinkUse> top_links;  ///< at most ten, by mean utilization; ties: lowest link id
  CriticalPath critical_path;
  std::vector<sim::Time> step_ends;  ///< E_1..E_n: the transient
  std::vector<CollectiveUse> collectives;
  double program_transfers = 0;          ///< if every collective is played in steps
  std::vector<Sensitivity> sensitivity;  ///< empty when not asked for
  EngineCounters engine;
  std::optional<Effort> effort;
};

[[nodiscard]] std::string to_string(BoundWindow window);

}  // namespace traingraph::analysis
