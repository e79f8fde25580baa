#include "workloads/groups.h"

#include <fmt/format.h>

#include <utility>

namespace traingraph::workloads {

Groups write_groups(ProgramWriter& writer, const std::string& kind, Grouping grouping) {
  Groups result;
  result.ids.reserve(grouping.groups.size());
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    result.ids.push_back(writer.communicator(fmt::format("{}[{}]", kind, g), std::move(grouping.groups[g])));
  }
  grouping.groups.clear();  // the program has them now
  result.grouping = std::move(grouping);
  return result;
}

Groups write_groups(ProgramWriter& writer, const std::string& kind, const Layout& layout,
                    const std::vector<Dimension>& varying) {
  std::uint32_t members = 1;
  for (const Dimension d : varying) members *= layout.degree(d);
  return members == 1 ? Groups{} : write_groups(writer, kind, layout.group(varying));
}

}  // namespace traingraph::workloads
