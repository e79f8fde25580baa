// A LimitsReport as an HDF5 file:
//
//   /                 attributes: schema "traingraph/limits/1", traingraph_version
//   /limits           one row per GPU or assumption set: name, limits and closed forms (log10 FLOP; inf: unlimited, nan:
// none)
//   /<n>              n = 0, 1, ...: the row of /limits; attributes name, question (YAML)
//   /<n>/curve        compute_flop, utilization, mfu, gpus, dp, pp, ep, tf, tm ("8x2"), microbatches, step_time_s,
//                     training_time_s, memory_bytes, binds, and the shares of the step
//   /<n>/sensitivity  input, factor, slope and the two limits of both; nan where there is no limit
#pragma once

#include "analysis/h5_file.h"
#include "analysis/theory/limits_report.h"

namespace traingraph::analysis::theory {

/// Fills `file`; the caller commits it.
void write_hdf5(H5File& file, const LimitsReport& report, const std::string& version);

}  // namespace traingraph::analysis::theory
