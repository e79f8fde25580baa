#include "sim/stuck.h"

#include <fmt/format.h>

#include <algorithm>

namespace traingraph::sim {

namespace {
constexpr std::size_t kListed = 8;
}

std::string list_ranks(const std::vector<RankId>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t shown = std::min(ranks.size(), kListed);
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", index(ranks[i]));
  if (ranks.size() > shown) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

std::string describe_op(const Program& program, RankId rank, std::uint32_t op, std::uint32_t step) {
  const Template& role = program.templates[program.ranks[rank].role];
  const Op& o = role.ops[op];
  std::string where = fmt::format("step {}", step + 1);
  if (o.microbatch >= 0) where += fmt::format(", micro-batch {}", o.microbatch);
  if (o.layer >= 0) where += fmt::format(", layer {}", o.layer);
  return fmt::format("rank {} ({}): '{}' ({})", index(rank), role.name, program.labels[o.label].name, where);
}

std::string describe_deadlock(const Program& program, const std::vector<Blocked>& blocked, Time now,
                              const std::function<std::string(const Blocked&)>& waits_for) {
  std::string text =
      fmt::format("deadlock at {:.9g} s: {} operation{} can never start or end; the first:", now.since_start().in_seconds(),
                  blocked.size(), blocked.size() == 1 ? "" : "s");
  const std::size_t shown = std::min(blocked.size(), kListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const Blocked& b = blocked[i];
    text += fmt::format("\n  {} waits for {}", describe_op(program, b.rank, b.op, b.step), waits_for(b));
  }
  if (blocked.size() > shown) text += fmt::format("\n  and {} more", blocked.size() - shown);
  return text;
}

std::string describe_mismatch(const Program& program, CommunicatorId communicator, std::uint32_t sequence,
                              std::uint32_t expected, std::uint32_t found, RankId who) {
  return fmt::format(
      "collective mismatch on communicator '{}': in its call number {} rank {} calls {} of {:.9g} B, while others call "
      "{} of {:.9g} B; members of a communicator must call the same collectives in the same order",
      program.communicators[communicator].name, sequence + 1, index(who), program.collectives[found].name,
      program.collectives[found].bytes.count(), program.collectives[expected].name,
      program.collectives[expected].bytes.count());
}

}  // namespace traingraph::sim
