#include "sim/timeline.h"

#include "sim/clock_range.h"

namespace traingraph::sim {

Timeline::Timeline(const Template& role, const std::vector<Duration>& durations) : first_(role.streams + 1, 0) {
  for (const Op& op : role.ops) ++first_[op.stream + 1];
  for (std::uint32_t s = 0; s < role.streams; ++s) first_[s + 1] += first_[s];
  order_.resize(role.ops.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t i = 0; i < role.ops.size(); ++i) order_[next[role.ops[i].stream]++] = i;

  std::vector<bool> watched(order_.size(), false);
  for (const Op& op : role.ops)
    for (std::uint32_t d = 0; d < op.dependencies; ++d) {
      const Dependency& dep = role.dependencies[op.first_dependency + d];
      watched[first_[dep.stream] + dep.position] = true;
    }

  const auto is_compute = [&](std::uint32_t i) { return role.ops[order_[i]].kind == OpKind::compute; };
  run_end_.resize(order_.size());
  prefix_.resize(order_.size() + role.streams);
  for (std::uint32_t s = 0; s < role.streams; ++s) {
    const std::uint32_t begin = first_[s];
    const std::uint32_t end = first_[s + 1];
    Duration sum;
    for (std::uint32_t i = begin; i < end; ++i) {
      prefix_[i + s] = sum;
      if (is_compute(i)) sum = checked_sum(sum, durations[role.ops[order_[i]].argument]);
    }
    prefix_[end + s] = sum;
    for (std::uint32_t i = end; i-- > begin;) {
      const bool joined =
          i + 1 < end && is_compute(i) && is_compute(i + 1) && !watched[i] && role.ops[order_[i + 1]].dependencies == 0;
      run_end_[i] = joined ? run_end_[i + 1] : i + 1 - begin;
    }
  }
}

}  // namespace traingraph::sim
