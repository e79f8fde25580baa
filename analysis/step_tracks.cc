#include "analysis/step_tracks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace traingraph::analysis {
namespace {

/// The lowest rank of every role.
std::set<std::int64_t> representatives(const H5Input& file) {
  const std::vector<std::int64_t> ranks = file.integers("/ranks", "rank");
  const std::vector<std::string> roles = file.texts("/ranks", "role");
  std::map<std::string, std::int64_t> lowest;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto [at, added] = lowest.emplace(roles[i], ranks[i]);
    if (!added) at->second = std::min(at->second, ranks[i]);
  }
  std::set<std::int64_t> chosen;
  for (const auto& [role, rank] : lowest) chosen.insert(rank);
  return chosen;
}

std::size_t span_count(const std::vector<StepTrack>& tracks) {
  std::size_t count = 0;
  for (const StepTrack& track : tracks) count += track.spans.size();
  return count;
}

/// Neighbours that last less than `below` together, gaps included, become one, with the name of the longest and the
/// microbatch that they share.
std::vector<StepSpan> merged(const std::vector<StepSpan>& spans, std::int64_t below) {
  std::vector<StepSpan> out;
  std::int64_t longest = 0;
  for (const StepSpan& span : spans) {
    const std::int64_t length = span.end_ps - span.start_ps;
    const bool joins = !out.empty() && span.end_ps - out.back().start_ps < below;
    if (!joins) {
      out.push_back(span);
      longest = length;
      continue;
    }
    StepSpan& last = out.back();
    if (length > longest) last.name = span.name;
    longest = std::max(longest, length);
    last.end_ps = std::max(last.end_ps, span.end_ps);
    if (last.microbatch != span.microbatch) last.microbatch = -1;
    if (last.layer != span.layer) last.layer = -1;
  }
  return out;
}

std::int64_t length_of(const std::vector<StepTrack>& tracks) {
  std::int64_t first = tracks.front().spans.front().start_ps;
  std::int64_t last = first;
  for (const StepTrack& track : tracks) {
    first = std::min(first, track.spans.front().start_ps);
    last = std::max(last, track.spans.back().end_ps);
  }
  return last - first;
}

}  // namespace

StepTracks step_tracks(const H5Input& file, std::size_t most) {
  StepTracks result;
  if (!file.has("/tasks")) return result;
  const auto column = [&file](const char* name) { return file.integers("/tasks", name); };
  const std::vector<std::int64_t> rank = column("rank"), step = column("step"), stage = column("stage"),
                                  stream = column("stream"), microbatch = column("microbatch"), layer = column("layer"),
                                  start = column("start_ps"), end = column("end_ps");
  const std::vector<std::string> name = file.texts("/tasks", "name"), kind = file.texts("/tasks", "kind");
  const std::set<std::int64_t> chosen = representatives(file);
  const std::int64_t last_step = step.empty() ? 0 : *std::max_element(step.begin(), step.end());

  std::map<std::pair<std::int64_t, std::int64_t>, StepTrack> tracks;
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    if (step[i] != last_step || !chosen.contains(rank[i])) continue;
    const auto [number, added] =
        numbers.emplace(std::pair{name[i], kind[i]}, static_cast<std::uint32_t>(result.names.size()));
    if (added) {
      result.names.push_back(name[i]);
      result.kinds.push_back(kind[i]);
    }
    StepTrack& track = tracks[{rank[i], stream[i]}];
    track.rank = rank[i];
    track.stage = stage[i];
    track.stream = stream[i];
    track.spans.push_back({start[i], end[i], number->second, microbatch[i], layer[i]});
  }
  for (auto& [key, track] : tracks) {
    std::stable_sort(track.spans.begin(), track.spans.end(),
                     [](const StepSpan& a, const StepSpan& b) { return a.start_ps < b.start_ps; });
    result.tracks.push_back(std::move(track));
  }
  if (span_count(result.tracks) <= most) return result;

  constexpr std::int64_t kFinest = 65536;  // of the whole: where merging begins
  const std::vector<StepTrack> all = result.tracks;
  result.merged_below_ps = std::max<std::int64_t>(1, length_of(all) / kFinest);
  for (;; result.merged_below_ps *= 2) {
    for (std::size_t t = 0; t < all.size(); ++t) result.tracks[t].spans = merged(all[t].spans, result.merged_below_ps);
    if (span_count(result.tracks) <= most || result.merged_below_ps > length_of(all)) return result;
  }
}

}  // namespace traingraph::analysis
