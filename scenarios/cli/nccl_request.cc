#include "scenarios/cli/nccl_request.h"

#include <fmt/format.h>

#include "scenarios/cli/load.h"
#include "scenarios/nccl_facts.h"

namespace traingraph::scenarios::cli {

CollectiveRequest nccl_request(const Options& options, std::string_view verb) {
  CollectiveRequest request;
  request.cluster = load_cluster(options, options.cluster, verb);
  request.algorithm = options.nccl.algorithm;
  request.protocol = options.nccl.protocol;
  const std::string node = options.nccl.node.empty() ? nccl_node_for(node_of_cluster(options.cluster)) : options.nccl.node;
  if (!node.empty()) request.node = load_nccl_node(node);
  return request;
}

std::string nccl_time(double seconds) {
  const double us = seconds * 1e6;
  return fmt::format("{:.{}f}", us, us >= 10000 ? 0 : us >= 100 ? 1 : 2);
}

}  // namespace traingraph::scenarios::cli
