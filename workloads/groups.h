// Groups: the communicators of one use (tp, dp, ...), one per group of the layout, written into a program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/program.h"
#include "workloads/layout.h"
#include "workloads/program_writer.h"

namespace traingraph::workloads {

struct Groups {
  Grouping grouping;
  std::vector<sim::CommunicatorId> ids;  ///< by group; empty when the groups would have one member each

  [[nodiscard]] bool empty() const { return ids.empty(); }
  /// The slot of a rank that belongs to one of the groups.
  [[nodiscard]] sim::Slot slot(std::uint32_t rank) const {
    return {index(ids[grouping.group_of[rank]]), grouping.member_of[rank]};
  }
};

/// The ranks with the same key are a group, numbered by their first member, members ascending. O(ranks log ranks).
[[nodiscard]] Grouping group_by(std::uint32_t ranks, const std::function<std::uint32_t(std::uint32_t rank)>& key);

/// Named "kind[0]", "kind[1]", ...
[[nodiscard]] Groups write_groups(ProgramWriter& writer, const std::string& kind, Grouping grouping);
/// The groups in which only `varying` differ; none when they would have one member.
[[nodiscard]] Groups write_groups(ProgramWriter& writer, const std::string& kind, const Layout& layout,
                                  const std::vector<Dimension>& varying);

}  // namespace traingraph::workloads
