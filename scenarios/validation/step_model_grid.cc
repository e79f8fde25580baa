#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string>

#include "analysis/share_out.h"
#include "analysis/theory/scenario_step.h"
#include "scenarios/run_scenario.h"
#include "scenarios/validation/theory_checks.h"
#include "sim/error.h"
#include "sim/simulate.h"

namespace traingraph::scenarios {
namespace {

constexpr std::uint32_t kNodes = 8, kPerNode = 8, kGpus = kNodes * kPerNode;

/// Degrees inside a node and between nodes.
struct Split {
  std::uint32_t inner = 1, outer = 1;
  [[nodiscard]] std::uint32_t total() const { return inner * outer; }
};

struct GridLayout {
  Split tp_ff, tp_hidden, ep, pp, dp;
  std::uint32_t experts = 1, active = 1;
  std::uint32_t microbatches = 8;
  double hidden = 8192;
  double tokens = 8192;  ///< of a micro-batch
};

std::string list(const Split& s) { return fmt::format("[{}, {}]", s.inner, s.outer); }
std::string cross(const Split& s) { return fmt::format("{}x{}", s.inner, s.outer); }

/// Layouts that use all GPUs, stages that divide the blocks.
std::vector<GridLayout> layouts(bool small) {
  std::vector<GridLayout> all;
  for (const std::uint32_t tp : {1U, 4U, 8U}) {
    for (const std::uint32_t across : {1U, 2U}) {
      for (const std::uint32_t pp : {1U, 4U}) {
        for (const std::uint32_t experts : {1U, 8U}) {
          for (const std::uint32_t microbatches : {4U, 32U}) {
            for (const double hidden : {2048.0, 16384.0}) {
              GridLayout l;
              l.tp_ff = {tp, 1};
              l.tp_hidden = {1, across};
              l.pp = {1, pp};
              l.experts = experts;
              l.active = experts > 1 ? 2 : 1;
              std::uint32_t inner = kPerNode / tp, outer = kNodes / (across * pp);
              if (experts > 1) {
                l.ep = inner > 1 ? Split{std::min(inner, 8U), 1} : Split{1, std::min(outer, 2U)};
                inner /= l.ep.inner;
                outer /= l.ep.outer;
              }
              l.dp = {inner, outer};
              l.microbatches = microbatches;
              l.hidden = hidden;
              l.tokens = 8192.0 * l.ep.total();
              all.push_back(l);
            }
          }
        }
      }
    }
  }
  if (!small) return all;
  std::vector<GridLayout> some;
  for (std::size_t i = 0; i < all.size(); i += 13) some.push_back(all[i]);
  return some;
}

std::string regime(const GridLayout& l) {
  if (l.hidden < 4096) return l.pp.total() > 1 ? "narrow (d = 2048), pipelined" : "narrow (d = 2048)";
  const char* const batch = l.microbatches < 8 ? ", small batch" : ", large batch";
  if (l.tp_hidden.outer > 1) return std::string{"wide, TP between nodes"} + batch;
  if (l.ep.total() > 1) return std::string{"wide, experts"} + batch;
  return (l.pp.total() > 1 ? "wide, pipelined" : "wide") + std::string{batch};
}

Scenario scenario_of(const GridLayout& l) {
  const double dp = l.dp.total();
  return load_text(
      fmt::format("cluster:\n  nodes: {}\n  node: dgx_h100\n  scale_out: {{kind: single_switch}}\nhardware: h100_sxm\n"
                  "workload: {{kind: linear_blocks, hidden: {}, ff: {}, blocks: 16, batch_tokens: {}, microbatches: {}, "
                  "tp_ff: {}, tp_hidden: {}, ep: {}, pp: {}, dp: {}, experts: {}, active_experts: {}, steps: 1}}\n",
                  kNodes, l.hidden, 5 * l.hidden / l.experts, l.tokens * dp * l.microbatches, l.microbatches, list(l.tp_ff),
                  list(l.tp_hidden), list(l.ep), list(l.pp), list(l.dp), l.experts, l.active),
      "grid");
}

GridPoint play(const GridLayout& l, const std::atomic<bool>* cancel) {
  const Scenario s = scenario_of(l);
  const Prepared prepared = prepare(s);
  RunHooks hooks;
  hooks.cancel = cancel;
  const analysis::Result result = simulate_scenario(s, prepared, hooks).result;
  const auto model = analysis::theory::scenario_step(s.cluster, s.hardware, s.workload, kGpus);
  SIM_ASSERT(model.step.has_value(), "the grid is the model's own workload");
  const analysis::theory::StepTimes& t = model.step->hidden;
  GridPoint p;
  p.layout = fmt::format("TF {} TM {} EP {} of {} PP {} DP {} m {} d {}", cross(l.tp_ff), cross(l.tp_hidden), cross(l.ep),
                         l.experts, cross(l.pp), cross(l.dp), l.microbatches, l.hidden);
  p.regime = regime(l);
  p.simulated_s = result.step_time.in_seconds();
  p.hidden_s = t.step_s;
  p.exposed_s = model.step->exposed.step_s;
  const analysis::TimeSplit& busiest = result.busiest;
  const auto part = [&](const char* name) { return busiest.part(name).in_seconds(); };
  p.blocks_s = part("exposed_tp") + part("exposed_ep") - (t.steady_s - t.arithmetic_s);
  p.pipeline_s = part("bubble") + part("wait") - t.bubble_s;
  p.gradients_s = part("exposed_dp") - t.tail_s;
  return p;
}

}  // namespace

std::vector<GridPoint> compare_step_model(bool small, const CheckHooks& hooks) {
  const std::vector<GridLayout> grid = layouts(small);
  std::vector<GridPoint> points(grid.size());
  std::mutex reporting;
  std::size_t done = 0;
  analysis::share_out(grid.size(), hooks.threads, hooks.cancel, [&](std::size_t, std::size_t i) {
    points[i] = play(grid[i], hooks.cancel);
    const std::lock_guard lock{reporting};
    ++done;
    if (hooks.progress) hooks.progress(fmt::format("step model: {} of {} layouts", done, grid.size()));
  });
  return points;
}

}  // namespace traingraph::scenarios
