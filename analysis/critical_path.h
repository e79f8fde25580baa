// The critical path: the chain of operations that sets the reported step's time, and how much of it each kind and task
// takes. The engine records the chain (sim::CriticalElement); here it gets names and sums. Elements touch, so the shares add
// up to the path's length, which is the step time when the chain reaches back to the window's begin.
#pragma once

#include "analysis/result.h"
#include "sim/program.h"
#include "sim/record.h"

namespace traingraph::analysis {

[[nodiscard]] CriticalPath critical_path(const sim::Program& program, const sim::Record& record);

[[nodiscard]] std::string to_string(sim::OpKind kind);

}  // namespace traingraph::analysis
