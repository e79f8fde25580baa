// From the options of `collective` and `compare` to a request.
#pragma once

#include "scenarios/cli/options.h"
#include "scenarios/collective_table.h"

namespace traingraph::scenarios::cli {

/// Cluster and NCCL's facts of its nodes: those of --nccl, else of the node preset that the cluster preset names.
[[nodiscard]] CollectiveRequest nccl_request(const Options& options, std::string_view verb);

/// A time as nccl-tests prints it: seven characters, in us.
[[nodiscard]] std::string nccl_time(double seconds);

}  // namespace traingraph::scenarios::cli
