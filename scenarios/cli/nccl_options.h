// The options of `collective` and `compare`: sizes, GPUs, NCCL's algorithm and protocol.
#pragma once

#include "scenarios/cli/command_line.h"
#include "scenarios/cli/options.h"

namespace traingraph::scenarios::cli {

/// Throws UsageError: what was found, what is allowed.
[[nodiscard]] NcclOptions understand_nccl(const RawOptions& raw);

}  // namespace traingraph::scenarios::cli
