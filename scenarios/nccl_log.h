// Logs of nccl-tests and rccl-tests as they are found: with other lines before, between and after the table (NCCL_DEBUG,
// MPI, shell), in the column layouts of all versions ("error" or "#wrong", with and without root), rows of size 0 included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/collectives/collectives.h"

namespace traingraph::scenarios {

struct NcclLogRow {
  double bytes = 0;
  double time_s = 0;
  double algbw = 0, busbw = 0;  ///< bytes/s, as printed (two decimals of GB/s)
};

struct NcclLog {
  std::string name;
  std::uint32_t ranks = 0;                        ///< of the device list; 0: there is none
  std::uint32_t hosts = 0;                        ///< of the device list
  std::string gpu;                                ///< of the first rank
  std::optional<workloads::CollectiveKind> kind;  ///< by the name of the test, else by busbw / algbw where only one fits
  std::vector<NcclLogRow> rows;                   ///< out of place, larger than 0, in the order printed
};

/// Throws ScenarioError ("file:1:1: ...") when there is no row of a table.
[[nodiscard]] NcclLog read_nccl_log(std::string name, std::string_view text);

}  // namespace traingraph::scenarios
