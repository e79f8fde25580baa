// Pipeline schedules in many shapes, and a player of schedules that knows neither the engine nor the writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/pipeline_map.h"
#include "workloads/schedule.h"

namespace traingraph::workloads::test {

struct ScheduleCase {
  ScheduleKind kind{};
  PipelineShape shape;
  [[nodiscard]] std::string name() const {
    return name_of(kind) + " P" + std::to_string(shape.stages) + " M" + std::to_string(shape.microbatches) + " v" +
           std::to_string(shape.chunks);
  }
};

/// Every schedule with every small shape that it takes.
inline std::vector<ScheduleCase> schedule_cases() {
  std::vector<ScheduleCase> cases;
  for (std::uint32_t P = 1; P <= 7; ++P) {
    for (std::uint32_t M = 1; M <= 17; ++M) {
      for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe}) {
        cases.push_back({kind, {P, M, 1}});
        for (const std::uint32_t v : {2U, 3U, 4U}) {
          if (P > 1 && M % P == 0) cases.push_back({kind, {P, M, v}});
        }
      }
      if (P > 1) cases.insert(cases.end(), {{ScheduleKind::zb_h1, {P, M, 1}}, {ScheduleKind::zb_v, {P, M, 1}}});
      if (P % 2 == 0 && M % 2 == 0 && M >= 2 * P) cases.push_back({ScheduleKind::dualpipe, {P, M, 1}});
    }
  }
  return cases;
}

/// Time of each kind of pass of one chunk.
struct PassTimes {
  std::int64_t forward = 1;
  std::int64_t input = 1;
  std::int64_t weight = 1;
};

struct Played {
  std::int64_t end = 0;      ///< of the last pass
  std::int64_t longest = 0;  ///< of a stage, from the begin of its first pass to the end of its last
};

/// Plays a schedule with equal chunks and free hand-offs; nothing when it gets stuck. A stage runs its passes in order, each
/// when its input is there; a pair as one pass of the summed time.
inline std::optional<Played> play(const ScheduleCase& c, const PassTimes& times) {
  const PipelineMap map{c.kind, c.shape.stages, c.shape.chunks};
  using Key = std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t>;  // forward, micro-batch, copy, position
  std::map<Key, std::int64_t> ends;
  const auto key = [&](bool forward, const Pass& p, std::uint32_t position) {
    return Key{forward, p.microbatch, map.copies() == 2 ? p.chunk : 0, position};
  };
  std::vector<std::vector<Pass>> passes;
  for (std::uint32_t s = 0; s < c.shape.stages; ++s) passes.push_back(passes_of_stage(c.kind, c.shape, s));
  std::vector<std::size_t> next(passes.size(), 0);
  std::vector<std::int64_t> free(passes.size(), 0), begin(passes.size(), -1);
  // When all inputs of a pass are there; nothing when they never were.
  const auto ready = [&](const Pass& p, std::uint32_t stage) -> std::optional<std::int64_t> {
    const std::uint32_t at = map.position(stage, p.chunk);
    std::vector<Key> needs;
    if (p.kind == PassKind::forward && at > 0) needs.push_back(key(true, p, at - 1));
    if (p.kind == PassKind::backward || p.kind == PassKind::input_gradient) {
      needs.push_back(key(true, p, at));
      if (at + 1 < map.positions()) needs.push_back(key(false, p, at + 1));
    }
    std::int64_t time = 0;
    for (const Key& need : needs) {
      const auto found = ends.find(need);
      if (found == ends.end()) return std::nullopt;
      time = std::max(time, found->second);
    }
    return time;
  };
  const auto length = [&](const Pass& p) {
    return p.kind == PassKind::forward           ? times.forward
           : p.kind == PassKind::input_gradient  ? times.input
           : p.kind == PassKind::weight_gradient ? times.weight
                                                 : times.input + times.weight;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t s = 0; s < c.shape.stages; ++s) {
      while (next[s] < passes[s].size()) {
        const std::size_t count = passes[s][next[s]].paired ? 2 : 1;
        std::int64_t start = free[s], time = 0;
        bool possible = true;
        for (std::size_t i = 0; i < count; ++i) {
          const Pass& p = passes[s][next[s] + i];
          const auto at = ready(p, s);
          possible = possible && at.has_value();
          start = std::max(start, at.value_or(0));
          time += length(p);
        }
        if (!possible) break;
        if (begin[s] < 0) begin[s] = start;
        free[s] = start + time;
        for (std::size_t i = 0; i < count; ++i) {
          const Pass& p = passes[s][next[s] + i];
          if (p.kind != PassKind::weight_gradient)
            ends[key(p.kind == PassKind::forward, p, map.position(s, p.chunk))] = free[s];
        }
        next[s] += count;
        moved = true;
      }
    }
  }
  Played result;
  for (std::size_t s = 0; s < passes.size(); ++s) {
    if (next[s] != passes[s].size()) return std::nullopt;
    result.end = std::max(result.end, free[s]);
    result.longest = std::max(result.longest, free[s] - begin[s]);
  }
  return result;
}

}  // namespace traingraph::workloads::test
