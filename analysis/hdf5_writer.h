// ResultFile: a run as an HDF5 file (opens with h5py, HDFView, MATLAB, Julia). Made before the simulation, so that spans
// stream into it as the run goes; filled with the Result and committed at the end; gone without trace if the run fails
// (h5_file.h).
//
//   /                 attributes schema_version, traingraph_version, scenario (the YAML text), seed
//   /summary/...      the scalars of fields.h, dots become groups; attribute `units`; times also carry their integer `ps`
//   /topology/nodes   id kind name domain node rack unit pod rail
//   /topology/links   id source target tier capacity_Bps latency_s cables name
//   /ranks            rank gpu node tp cp ep dp pp class role
//   /classes          class representative members
//   /tasks            id rank class step kind name stage microbatch layer stream ready_ps start_ps end_ps
//   /transfers        task class source target bytes start_ps drained_ps end_ps hops (only with trace.transfers)
//   /links/load       float32 [link, bin], mean utilization; attributes bin_s, bin_ps (only when bins were recorded)
//   /links/most_loaded  order id name tier capacity_Bps bytes busy_fraction mean_utilization peak_utilization
//   /time_splits      rank, and a column per category: compute_ps ...; over the reported step
//   /bounds           number name subject holds_for window value_ps value_s simulated_ps binds
//   /critical_path    order rank step kind task microbatch layer start_ps end_ps slack_ps
//   /collectives      name algorithm bytes calls step bulk_exact bulk_forced reason
//   /links/use        id bytes busy_fraction mean_utilization peak_utilization: every link over the reported step
//   /explain/communicators  group name size ranks; members as text ranges, in ring order
//   /explain/calls    group collective algorithm bytes calls_per_step; groups have the same calls
//   /explain/messages from to channels messages_per_step bytes_per_step; point to point, by pair of roles
//
// /tasks and /transfers are in the order in which the engine reports spans (sim::TraceSink): the tasks of one stream of a
// rank in order of time, neither table as a whole; sort by end_ps where that matters.
//
// `class` is the player of the simulation: a rank for itself, or for all members that symmetry makes equal. `source`,
// `target` of a transfer are ranks; of a topology link, ids of /topology/nodes.
//
// Which tasks: none; of one rank per role (the lowest) in the last step (default, small); or all. No time of day, host name
// or path: two runs give the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "analysis/result.h"
#include "sim/record.h"
#include "topology/fabric.h"
#include "workloads/workload.h"

namespace traingraph::analysis {

inline constexpr const char* kSchemaVersion = "1.0";

enum class TraceTasks : std::uint8_t { none, representatives, all };

struct ResultFileOptions {
  std::string version{};   ///< of the program
  std::string scenario{};  ///< the effective scenario's YAML text
  std::int64_t seed = 0;
  TraceTasks tasks = TraceTasks::representatives;
  bool transfers = false;
  bool keep_partial = false;
};

class ResultFile {
 public:
  /// Creates PATH.part. `workload` must outlive the object.
  ResultFile(std::filesystem::path path, const workloads::Workload& workload, const ResultFileOptions& options);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();

  /// To be handed to sim::simulate; null when nothing is traced.
  [[nodiscard]] sim::TraceSink* trace();

  /// Writes everything else and gives the file its name. Called once, after the simulation.
  void finish(const Result& result, const topology::Fabric& fabric, const sim::Record& record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traingraph::analysis
