#include "workloads/groups.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace traingraph::workloads {

Grouping group_by(std::uint32_t ranks, const std::function<std::uint32_t(std::uint32_t rank)>& key) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  Grouping result;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const auto [at, added] = numbers.try_emplace(key(r), static_cast<std::uint32_t>(result.groups.size()));
    if (added) result.groups.emplace_back();
    auto& members = result.groups[at->second];
    result.group_of.push_back(at->second);
    result.member_of.push_back(static_cast<std::uint32_t>(members.size()));
    members.push_back(sim::RankId{r});
  }
  return result;
}

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
