// explain(): who talks to whom. Every communicator with its members, and the collectives called on it with their algorithm,
// size and number per step; the channels summed by pair of roles.
//
// Members are printed as ranges: "0-7", "0-120 step 8 (16 ranks)", so that a group of a thousand stays one line.
// Communicators with the same calls stand under one heading. O(members of all communicators).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/ids.h"
#include "sim/program.h"

namespace traingraph::analysis {

struct ExplainedCall {
  std::string collective;  ///< "all_reduce"
  std::string algorithm;   ///< "ring"
  double bytes = 0;        ///< full buffer
  std::uint64_t calls_per_step = 0;
};

struct ExplainedCommunicator {
  std::string name;
  std::vector<sim::RankId> members;  ///< in ring order
};

/// Communicators of one size whose members issue the same calls.
struct ExplainedGroup {
  std::uint64_t size = 0;
  std::vector<ExplainedCall> calls;
  std::vector<ExplainedCommunicator> communicators;
};

/// Point-to-point messages from ranks of one role to ranks of another.
struct ExplainedMessages {
  std::string from;
  std::string to;
  std::uint64_t channels = 0;
  std::uint64_t messages_per_step = 0;
  double bytes_per_step = 0;
};

struct Explanation {
  std::vector<ExplainedGroup> groups;  ///< in order of their first communicator
  std::vector<ExplainedMessages> messages;
};

[[nodiscard]] Explanation explain(const sim::Program& program);

/// "0-3, 8, 16-64 step 16": runs of constant stride in the given order.
[[nodiscard]] std::string compact(std::span<const sim::RankId> ranks);

[[nodiscard]] std::string to_text(const Explanation& explanation);

}  // namespace traingraph::analysis
