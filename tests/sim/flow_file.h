// The inputs of tests/data/flows: links, changes of capacity, flows. Both formats of the generators (their headers) become
// one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/link.h"

namespace traingraph::sim::tests {

struct FlowFile {
  struct Change {
    double at_s = 0;
    std::uint32_t link = 0;
    double bytes_per_s = 0;
  };
  struct Flow {
    double bytes = 0;
    double start_s = 0;
    double cap = 0;  ///< bytes/s; 0: none
    std::vector<PathLink> hops;
  };
  std::vector<double> capacities;
  std::vector<Change> changes;
  std::vector<Flow> flows;
};

/// Throws std::runtime_error on anything that the formats don't allow.
[[nodiscard]] FlowFile read_flow_file(const std::filesystem::path& path);

/// Runs a generator of tests/data/flows, which leaves `<input>.txt` for each of `inputs` in `directory`.
void generate_flow_files(const std::string& generator, const std::vector<std::string>& inputs,
                         const std::filesystem::path& directory);

}  // namespace traingraph::sim::tests
