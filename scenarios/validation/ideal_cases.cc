#include <fmt/format.h>

#include <variant>

#include "scenarios/run_scenario.h"
#include "scenarios/validation/theory_checks.h"
#include "sim/simulate.h"
#include "workloads/collectives/closed_form.h"
#include "workloads/matmul.h"

namespace traingraph::scenarios {
namespace {

using workloads::Algorithm;
using workloads::CollectiveKind;
using workloads::LinearBlocksSpec;

double simulated_seconds(const Scenario& scenario) {
  const Prepared prepared = prepare(scenario);
  sim::RunOptions options = scenario.run;
  options.critical_path = false;
  const sim::Record record = sim::simulate(prepared.fabric->links, *prepared.router, prepared.workload.program, options);
  return record.step_ends.front().since_start().in_seconds();
}

/// GPUs on one non-blocking switch.
std::string star(std::uint32_t gpus, const char* bandwidth, const char* latency) {
  return fmt::format(
      "cluster:\n  nodes: {}\n  node: {{gpus: 1, nic: {{bandwidth: {}, latency: {}}}}}\n  scale_out: {{kind: "
      "single_switch}}\n"
      "hardware: h100_sxm\n",
      gpus, bandwidth, latency);
}

struct Products {
  double forward = 0, backward = 0;  // s, of one block and micro-batch
};
Products products_of(const Scenario& s) {
  const auto& l = std::get<LinearBlocksSpec>(s.workload.job);
  const double tp = l.tp_ff.front();
  const double tokens = l.batch_tokens / (l.dp.front() * static_cast<double>(l.microbatches));
  const auto seconds = [&](double d1, double d2, bool gradient) {
    return sim::Duration::seconds(
               matmul_seconds(*s.hardware.matmul, {.d1 = d1, .d2 = d2, .b = tokens, .weight_gradient = gradient, .held = 1}))
        .in_seconds();
  };
  const double d1 = l.ff / tp, d2 = l.hidden;
  const double forward = seconds(d1, d2, false) + seconds(d2, d1, false);
  return {forward, forward + seconds(d1, d2, true) + seconds(d2, d1, true)};
}

IdealCase pipeline_case(const char* schedule, std::uint32_t stages, std::uint32_t microbatches, std::uint32_t chunks) {
  const Scenario s = load_text(
      star(stages, "1000000 TB/s", "0 s") +
          fmt::format(
              "workload: {{kind: linear_blocks, hidden: 128, ff: 524288, blocks: {}, batch_tokens: {}, microbatches: "
              "{}, pp: [{}], schedule: {}, virtual_stages: {}, defer_weight_gradients: false, steps: 1}}\n",
              4 * stages, 4096 * microbatches, microbatches, stages, schedule, chunks),
      "ideal");
  const Products p = products_of(s);
  const double stage = 4 * (p.forward + p.backward);
  const double bubble = (stages - 1.0) * stage / chunks;
  return {fmt::format("{}, {} stages{}, {} micro-batches, free communication", schedule, stages,
                      chunks > 1 ? fmt::format(" of {} chunks", chunks) : "", microbatches),
          chunks > 1 ? "M (F+B) + (P-1)(F+B)/v" : "(M+P-1)(F+B)", microbatches * stage + bubble, simulated_seconds(s)};
}

IdealCase collective_case(CollectiveKind kind, Algorithm algorithm, std::uint32_t members) {
  const Scenario s = load_text(star(members, "50 GB/s", "1 us") +
                                   fmt::format("workload: {{kind: collective, collective: {}, algorithm: {}, bytes: 64 MB, "
                                               "steps: 1}}\n",
                                               to_string(kind), to_string(algorithm)),
                               "ideal");
  const auto expected = workloads::closed_form(kind, algorithm, members, sim::Bytes{64e6},
                                               {sim::Bandwidth::bytes_per_s(50e9), sim::Duration::us(2), {}});
  return {fmt::format("{} by {} of {} members, free compute", to_string(kind), to_string(algorithm), members),
          workloads::closed_form_text(kind, algorithm), expected->in_seconds(), simulated_seconds(s)};
}

/// Tensor parallelism on one level, nothing overlaps: arithmetic and all-reduces one after the other.
IdealCase sum_case(std::uint32_t tp, std::uint32_t microbatches) {
  const Scenario s = load_text(
      star(tp, "400 GB/s", "0 s") +
          fmt::format("workload: {{kind: linear_blocks, hidden: 8192, ff: 32768, blocks: 4, batch_tokens: {}, microbatches: "
                      "{}, tp_ff: [{}], defer_weight_gradients: false, steps: 1}}\n",
                      4096 * microbatches, microbatches, tp),
      "ideal");
  const Products p = products_of(s);
  const double n = tp, bytes = 4096.0 * 8192 * s.hardware.matmul->word_bytes;
  const double reduce = 2 * (n - 1) / n * bytes / 400e9;
  return {fmt::format("TP {} on one level, {} micro-batches, no overlap", tp, microbatches), "m L (2 fwd + dw + 2 AR)",
          microbatches * 4 * (p.forward + p.backward + 2 * reduce), simulated_seconds(s)};
}

}  // namespace

std::vector<IdealCase> check_ideal_cases() {
  std::vector<IdealCase> cases;
  for (const std::uint32_t stages : {2U, 4U, 8U}) {
    cases.push_back(pipeline_case("1f1b", stages, 2 * stages, 1));
    cases.push_back(pipeline_case("gpipe", stages, 3 * stages, 1));
    cases.push_back(pipeline_case("1f1b", stages, 2 * stages, 4));
  }
  for (const std::uint32_t members : {2U, 8U, 16U}) {
    cases.push_back(collective_case(CollectiveKind::all_reduce, Algorithm::ring, members));
    cases.push_back(collective_case(CollectiveKind::all_reduce, Algorithm::direct, members));
    cases.push_back(collective_case(CollectiveKind::all_reduce, Algorithm::halving_doubling, members));
    cases.push_back(collective_case(CollectiveKind::all_gather, Algorithm::ring, members));
    cases.push_back(collective_case(CollectiveKind::reduce_scatter, Algorithm::direct, members));
    cases.push_back(collective_case(CollectiveKind::all_to_all, Algorithm::direct, members));
  }
  for (const std::uint32_t tp : {2U, 4U, 8U}) cases.push_back(sum_case(tp, 3));
  return cases;
}

}  // namespace traingraph::scenarios
