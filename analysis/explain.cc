#include "analysis/explain.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "analysis/format.h"
#include "analysis/traffic.h"

namespace traingraph::analysis {
namespace {

std::vector<ExplainedCall> named_calls(const sim::Program& program, const std::vector<CallCount>& calls) {
  std::vector<ExplainedCall> named;
  for (const CallCount& c : calls) {
    const sim::CollectiveSpec& spec = program.collectives[c.argument];
    named.push_back({spec.name, spec.algorithm, spec.bytes.count(), c.calls});
  }
  return named;
}

std::vector<ExplainedGroup> groups_of(const sim::Program& program, const StepCalls& calls) {
  std::vector<ExplainedGroup> groups;
  std::map<std::pair<std::size_t, std::vector<CallCount>>, std::size_t> known;  // size and calls -> group
  for (std::uint32_t c = 0; c < program.communicators.size(); ++c) {
    const sim::CommunicatorId id{c};
    const sim::Communicator& communicator = program.communicators[id];
    const auto [at, fresh] = known.try_emplace({communicator.members.size(), calls.collectives[id]}, groups.size());
    if (fresh) {
      groups.push_back({communicator.members.size(), named_calls(program, calls.collectives[id]), {}});
    }
    groups[at->second].communicators.push_back({communicator.name, communicator.members});
  }
  return groups;
}

std::vector<ExplainedMessages> messages_of(const sim::Program& program, const StepCalls& calls) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, ExplainedMessages> by_roles;
  for (std::uint32_t c = 0; c < program.channels.size(); ++c) {
    const sim::ChannelId id{c};
    const sim::TemplateId from = program.ranks[program.channels[id].source].role;
    const sim::TemplateId to = program.ranks[program.channels[id].destination].role;
    ExplainedMessages& m = by_roles[{index(from), index(to)}];
    m.from = program.templates[from].name;
    m.to = program.templates[to].name;
    ++m.channels;
    for (const CallCount& call : calls.messages[id]) {
      m.messages_per_step += call.calls;
      m.bytes_per_step += program.message_bytes[call.argument].count() * static_cast<double>(call.calls);
    }
  }
  std::vector<ExplainedMessages> messages;
  for (auto& [roles, m] : by_roles) messages.push_back(std::move(m));
  return messages;
}

}  // namespace

Explanation explain(const sim::Program& program) {
  const StepCalls calls = count_calls(program);
  return {groups_of(program, calls), messages_of(program, calls)};
}

std::string compact(std::span<const sim::RankId> ranks) {
  const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(index(ranks[i])); };
  std::string text;
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;  // of the run that starts at begin
    const std::int64_t stride = end < ranks.size() ? at(end) - at(begin) : 0;
    while (end < ranks.size() && at(end) - at(end - 1) == stride) ++end;
    if (end - begin == 2 && stride != 1) end = begin + 1;  // two numbers are no pattern
    if (!text.empty()) text += ", ";
    if (end - begin == 1) {
      text += fmt::format("{}", at(begin));
    } else {
      text += fmt::format("{}-{}", at(begin), at(end - 1));
      if (stride != 1) text += fmt::format(" step {}", stride);
    }
    begin = end;
  }
  return text;
}

std::string to_text(const Explanation& explanation) {
  std::string text;
  for (const ExplainedGroup& g : explanation.groups) {
    text += fmt::format("{} of {}\n", counted(g.communicators.size(), "communicator"), counted(g.size, "rank"));
    for (const ExplainedCall& c : g.calls) {
      text += fmt::format("  calls per step: {} x {} ({}) of {}\n", with_thousands(c.calls_per_step), c.collective,
                          c.algorithm, human_bytes(c.bytes));
    }
    if (g.calls.empty()) text += "  never called\n";
    for (const ExplainedCommunicator& c : g.communicators) text += fmt::format("  {}: {}\n", c.name, compact(c.members));
  }
  for (const ExplainedMessages& m : explanation.messages) {
    text += fmt::format("{} -> {}: {}, {} and {} per step\n", m.from, m.to, counted(m.channels, "channel"),
                        counted(m.messages_per_step, "message"), human_bytes(m.bytes_per_step));
  }
  return text;
}

}  // namespace traingraph::analysis
