// TaskTrace: the TraceSink that streams spans into the /tasks and /transfers tables of an HDF5 file, in the order in which
// they come (sim/record.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/h5_file.h"
#include "analysis/hdf5_writer.h"
#include "sim/record.h"
#include "workloads/workload.h"

namespace traingraph::analysis {

class TaskTrace final : public sim::TraceSink {
 public:
  TaskTrace(H5File& file, const workloads::Workload& workload, TraceTasks tasks, bool transfers);

  [[nodiscard]] bool wants_tasks() const override { return tasks_ != TraceTasks::none; }
  [[nodiscard]] bool wants_transfers() const override { return transfer_table_.has_value(); }
  void task(const sim::TaskSpan& span) override;
  void transfer(const sim::TransferSpan& span) override;

  /// Writes what is buffered and closes the tables.
  void finish();

 private:
  [[nodiscard]] bool wanted(const sim::TaskSpan& span) const;

  const workloads::Workload& workload_;
  TraceTasks tasks_;
  std::optional<H5Table> task_table_;
  std::optional<H5Table> transfer_table_;
  std::vector<bool> representative_;  // by rank: the lowest of its role
};

/// Bytes of the longest label.
[[nodiscard]] std::size_t longest_label(const sim::Program& program);

}  // namespace traingraph::analysis
