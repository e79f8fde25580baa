#include "analysis/task_trace.h"

#include <algorithm>

#include "analysis/critical_path.h"

namespace traingraph::analysis {
namespace {

constexpr std::size_t kKindWidth = 10;  // "collective"

std::vector<bool> lowest_of_each_role(const sim::Program& program) {
  std::vector<bool> lowest(program.ranks.size(), false);
  std::vector<bool> seen(program.templates.size(), false);
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const std::uint32_t role = index(program.ranks[sim::RankId{r}].role);
    lowest[r] = !seen[role];
    seen[role] = true;
  }
  return lowest;
}

}  // namespace

std::size_t longest_label(const sim::Program& program) {
  std::size_t longest = 1;
  for (const sim::OpLabel& label : program.labels) longest = std::max(longest, label.name.size());
  return longest;
}

TaskTrace::TaskTrace(H5File& file, const workloads::Workload& workload, TraceTasks tasks, bool transfers)
    : workload_{workload}, tasks_{tasks} {
  const std::size_t label = longest_label(workload.program);
  if (tasks != TraceTasks::none) {
    task_table_ = file.table("/tasks", {{"id", ColumnType::uint64},
                                        {"rank", ColumnType::uint32},
                                        {"class", ColumnType::uint32},
                                        {"step", ColumnType::uint32},
                                        {"kind", ColumnType::text, kKindWidth},
                                        {"name", ColumnType::text, label},
                                        {"stage", ColumnType::uint32},
                                        {"microbatch", ColumnType::int32},
                                        {"layer", ColumnType::int32},
                                        {"stream", ColumnType::uint32},
                                        {"ready_ps", ColumnType::int64},
                                        {"start_ps", ColumnType::int64},
                                        {"end_ps", ColumnType::int64}});
    if (tasks == TraceTasks::representatives) representative_ = lowest_of_each_role(workload.program);
  }
  if (transfers) {
    transfer_table_ = file.table("/transfers", {{"task", ColumnType::text, label},
                                                {"class", ColumnType::uint32},
                                                {"source", ColumnType::uint32},
                                                {"target", ColumnType::uint32},
                                                {"bytes", ColumnType::float64},
                                                {"start_ps", ColumnType::int64},
                                                {"drained_ps", ColumnType::int64},
                                                {"end_ps", ColumnType::int64},
                                                {"hops", ColumnType::uint32}});
  }
}

bool TaskTrace::wanted(const sim::TaskSpan& span) const {
  if (tasks_ == TraceTasks::all) return true;
  return span.step + 1 == workload_.program.steps && representative_[index(span.rank)];
}

void TaskTrace::task(const sim::TaskSpan& span) {
  if (!wanted(span)) return;
  const sim::Program& program = workload_.program;
  const sim::Op& op = program.templates[program.ranks[span.rank].role].ops[span.op];
  H5Table& t = *task_table_;
  t.put(t.rows());
  t.put(index(span.rank));
  t.put(index(span.rank));
  t.put(span.step);
  t.put(std::string_view{to_string(op.kind)});
  t.put(std::string_view{program.labels[op.label].name});
  t.put(workload_.coordinates.empty() ? 0U : workload_.coordinates[span.rank].pp);
  t.put(op.microbatch);
  t.put(op.layer);
  t.put(std::uint32_t{op.stream});
  t.put(span.ready.count_ps());
  t.put(span.start.count_ps());
  t.put(span.end.count_ps());
  t.end_row();
}

void TaskTrace::transfer(const sim::TransferSpan& span) {
  H5Table& t = *transfer_table_;
  t.put(std::string_view{workload_.program.labels[span.label].name});
  t.put(index(span.source));
  t.put(index(span.source));
  t.put(index(span.destination));
  t.put(span.bytes.count());
  t.put(span.start.count_ps());
  t.put(span.drained.count_ps());
  t.put(span.arrived.count_ps());
  t.put(span.hops);
  t.end_row();
}

void TaskTrace::finish() {
  if (task_table_) task_table_->finish();
  if (transfer_table_) transfer_table_->finish();
}

}  // namespace traingraph::analysis
