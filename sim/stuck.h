// Words for programs that cannot finish: which operations are blocked, and what each waits for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/program.h"

namespace traingraph::sim {

/// One blocked stream of one rank.
struct Blocked {
  RankId rank{};
  std::uint32_t step = 0;
  std::uint32_t op = 0;      ///< index into the template's ops
  std::uint32_t stream = 0;  ///< the engine's number of the stream
};

/// "rank 3 (stage 1): 'recv_forward' (microbatch 2, step 0)"
[[nodiscard]] std::string describe_op(const Program& program, RankId rank, std::uint32_t op, std::uint32_t step);

/// The error text of a deadlock: the first few blocked operations, and how many more there are. `waits_for` says what one
/// waits for: "its own 'tp_all_reduce' on stream 1", "a message from rank 3", ...
[[nodiscard]] std::string describe_deadlock(const Program& program, const std::vector<Blocked>& blocked, Time now,
                                            const std::function<std::string(const Blocked&)>& waits_for);

/// The error text of members that call different collectives where they should call the same.
[[nodiscard]] std::string describe_mismatch(const Program& program, CommunicatorId communicator, std::uint32_t sequence,
                                            std::uint32_t expected, std::uint32_t found, RankId who);

/// "ranks 1, 5, 9 and 13 more": for lists that may be long.
[[nodiscard]] std::string list_ranks(const std::vector<RankId>& ranks);

}  // namespace traingraph::sim
