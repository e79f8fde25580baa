// The step of a run for the page and the report, as one JSON document (schema "traingraph/step/1") made from a result file
// (hdf5_writer.h): the page draws it and computes nothing.
//
//   summary              the scalars of the file's /summary, nested as there
//   bounds, most_loaded_links, collectives   as rows of objects
//   categories, stages   time by category, mean over the GPUs of a pipeline stage, seconds
//   window_ps            length of the reported step; times below count from its begin
//   names, kinds         of tasks, by index
//   tracks               one per stream of a representative GPU of each role: {rank, stage, stream, role, spans}; `spans` is
//                        flat, five numbers each: gap to the end of the one before, duration, name, microbatch, layer
//   merged_below_ps      0, or: neighbours shorter than this together stand as one span, so that the document stays small
//   critical_path        flat, five numbers each: start, duration, rank, name, microbatch
//   heat                 {bin_ps, bins, rows: [{name, tier, kind, load}]}: mean utilization in thousandths by time bin from
//   the
//                        begin of the run; for each tier its mean and its busiest link at each time, then the links with the
//                        largest mean load; absent when no bins were recorded
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "analysis/h5_input.h"

namespace traingraph::analysis {

/// Spans that a document has at most, about: 20 bytes each.
inline constexpr std::size_t kMostSpans = 60'000;
/// Single links of the heat map.
inline constexpr std::size_t kHeatLinks = 48;

/// Throws sim::InputError for a file that is no result of a run.
[[nodiscard]] nlohmann::ordered_json step_document(const H5Input& file);

}  // namespace traingraph::analysis
