// A measured nccl-tests table beside what the simulator predicts, with what is off and why that may be.
//
// A row is flagged when it is slower or faster than predicted by more than the usual spread: a factor of kUsualSpread (point
// to point: kUsualSpreadPointToPoint) in bus bandwidth from kLarge on, of kUsualSmall in time below kSmall. A log is flagged
// when its bandwidth at the largest sizes (median of the rows from kLarge on, else the last row) is below the prediction by
// more than kUsualSpread.
#pragma once

#include <string>
#include <vector>

#include "scenarios/collective_table.h"
#include "scenarios/nccl_log.h"

namespace traingraph::scenarios {

inline constexpr double kUsualSpread = 1.6;
inline constexpr double kUsualSpreadPointToPoint = 2.0;  ///< all-to-all and the like, which meet every uplink
inline constexpr double kUsualSmall = 3.0;
inline constexpr double kLarge = 134217728;  ///< bytes: 128 MiB
inline constexpr double kSmall = 65536;      ///< bytes: 64 KiB

struct ComparedRow {
  NcclLogRow measured;
  CollectiveRow predicted;
  bool off = false;
};

struct LogComparison {
  std::vector<ComparedRow> rows;
  double large_ratio = 0;  ///< measured over predicted bus bandwidth, median of the large rows
  double small_ratio = 0;  ///< measured over predicted time, median of the small rows; 0: there is none
  bool flagged = false;
  std::string cause;  ///< the likeliest of the known classes; empty when not flagged
};

/// `table` has a row for every row of the log, of the same sizes.
[[nodiscard]] LogComparison compare_log(const NcclLog& log, const CollectiveTable& table);

}  // namespace traingraph::scenarios
