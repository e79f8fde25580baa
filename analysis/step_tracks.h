// The spans of a result file's representative GPUs, stream by stream, merged until they are few enough to draw from a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/h5_input.h"

namespace traingraph::analysis {

struct StepSpan {
  std::int64_t start_ps = 0;
  std::int64_t end_ps = 0;
  std::uint32_t name = 0;  ///< index into StepTracks::names
  std::int64_t microbatch = -1;
  std::int64_t layer = -1;
};

struct StepTrack {
  std::int64_t rank = 0;
  std::int64_t stage = 0;
  std::int64_t stream = 0;
  std::vector<StepSpan> spans;  ///< in order of time
};

struct StepTracks {
  std::vector<std::string> names;
  std::vector<std::string> kinds;  ///< of names: compute, collective, send, ...
  std::vector<StepTrack> tracks;   ///< by rank and stream
  std::int64_t merged_below_ps = 0;
};

/// The last step's spans of the lowest rank of every role. When they are more than `most`, neighbours of a stream
/// are merged while they last less than a time together, gaps included; the time is doubled until they are few enough.
[[nodiscard]] StepTracks step_tracks(const H5Input& file, std::size_t most);

}  // namespace traingraph::analysis
