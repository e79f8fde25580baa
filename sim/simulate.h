// The one entry point of the simulator: links, a router and a program in, a Record out.
//
// Deterministic: the same inputs give the same Record bit for bit. No state outlives the call, and nothing is shared but the
// const inputs, so several simulations may run in several threads.
//
// Throws InputError for programs that cannot finish (deadlock: names the blocked operations and what each waits for; a
// collective whose members do not all arrive: names them), Cancelled, InternalError.
#pragma once

#include "sim/link.h"
#include "sim/options.h"
#include "sim/program.h"
#include "sim/record.h"
#include "sim/router.h"

namespace traingraph::sim {

[[nodiscard]] Record simulate(const LinkTable& links, const Router& router, const Program& program,
                              const RunOptions& options, TraceSink* trace = nullptr);

}  // namespace traingraph::sim
