#include "analysis/theory/step_model.h"

#include <algorithm>

#include "analysis/theory/word_cost.h"
#include "sim/error.h"

namespace traingraph::analysis::theory {
namespace {

/// What a layout means for one GPU.
struct Shares {
  double data, pipeline, expert, hidden, model;  // degrees DP, PP, EP, TF, TM
  double microbatches;
  double blocks;             // per stage
  double microbatch_tokens;  // b_mb, of the expert-parallel group
  double expert_tokens;      // bx
  double local_experts;      // nx
  double d1, d2;             // of one weight matrix on this GPU
  double local_parameters;   // n_loc
};

Shares shares_of(const ScaledRun& run, const Degrees& degrees) {
  Shares s{};
  s.data = degrees.total(kData);
  s.pipeline = degrees.total(kPipeline);
  s.expert = degrees.total(kExpert);
  s.hidden = degrees.total(kTensorHidden);
  s.model = degrees.total(kTensorModel);
  s.microbatches = degrees.microbatches;
  s.blocks = run.layers / s.pipeline;
  s.microbatch_tokens = run.batch / (s.data * s.microbatches);
  s.expert_tokens = s.microbatch_tokens * run.active / run.experts;
  s.local_experts = run.experts / s.expert;
  s.d1 = run.hidden / s.hidden;
  s.d2 = run.residual / s.model;
  s.local_parameters =
      2 * run.hidden * run.residual * run.experts * run.layers / (s.pipeline * s.expert * s.hidden * s.model);
  return s;
}

void add_kernels(StepTimes& t, const workloads::MatmulTimes& k, double count) {
  t.kernels.arithmetic_s += count * k.arithmetic_s;
  t.kernels.memory_s += count * k.memory_s;
  t.kernels.l2_s += count * k.l2_s;
  t.kernels.sm_network_s += count * k.sm_network_s;
}

void time_kernels(StepTimes& t, const Gpu& gpu, const Shares& s, double held) {
  const workloads::TiledMatmul up{gpu.matmul, s.d1, s.d2};
  const workloads::TiledMatmul down{gpu.matmul, s.d2, s.d1};
  const double b = s.expert_tokens;
  const double nx = s.local_experts;
  t.forward_s = nx * (up.seconds(b, false, held) + down.seconds(b, false, held));
  t.weight_gradient_s = nx * (up.seconds(b, true, held) + down.seconds(b, true, held));
  for (const workloads::TiledMatmul* matmul : {&up, &down}) {
    add_kernels(t, matmul->times(b, false, held), 2 * nx);
    add_kernels(t, matmul->times(b, true, held), nx);
  }
  constexpr double kProducts = 6;
  t.kernel_latency_s = kProducts * nx * gpu.matmul.matmul_latency_s;
}

double sum(const PerLevel& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

double largest(const PerLevel& values) { return *std::max_element(values.begin(), values.end()); }

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::pipeline:
      return "more pipeline stages than blocks";
    case Fault::microbatches:
      return "fewer microbatches than pipeline stages";
    case Fault::hidden:
      return "more tensor-parallel ranks than the hidden width";
    case Fault::model:
      return "more tensor-parallel ranks than the residual width";
    case Fault::experts:
      return "more expert-parallel ranks than experts";
    case Fault::tokens:
      return "too few tokens per microbatch";
    case Fault::memory:
      return "more memory than the GPU has";
    case Fault::none:
      break;
  }
  return "";
}

StepModel::StepModel(const Gpu& gpu, const Assumptions& assumptions)
    : gpu_{with_word_bits(gpu, assumptions.word_bits)}, assumptions_{assumptions} {
  SIM_ASSERT(!gpu_.levels.empty() && gpu_.levels.size() <= kMaxLevels, "a network has 1 to 4 levels");
}

double StepModel::chunk(double blocks) const {
  return assumptions_.interleave == 0 ? 1 : std::max(1.0, blocks / assumptions_.interleave);
}

double StepModel::memory_bytes(const ScaledRun& run, const Degrees& degrees) const {
  constexpr double kOptimizerBytes = 12;
  const Shares s = shares_of(run, degrees);
  const double activations = std::min(s.microbatches, s.pipeline) * (s.microbatch_tokens / s.expert) * s.blocks *
                             (run.residual + run.active * run.hidden) / (s.hidden * s.model);
  return gpu_.matmul.word_bytes * (2 * s.local_parameters + activations) + kOptimizerBytes * s.local_parameters / s.data;
}

Fault StepModel::fault(const ScaledRun& run, const Degrees& degrees) const {
  const Shares s = shares_of(run, degrees);
  if (s.pipeline > run.layers) return Fault::pipeline;
  if (s.microbatches < s.pipeline) return Fault::microbatches;
  if (s.hidden > run.hidden) return Fault::hidden;
  if (s.model > run.residual || (s.model > 1 && !assumptions_.two_dimensional_tp)) return Fault::model;
  if (s.expert > run.experts) return Fault::experts;
  if (s.microbatch_tokens / s.expert < assumptions_.min_tokens) return Fault::tokens;
  if (assumptions_.memory_limit && memory_bytes(run, degrees) > gpu_.matmul.memory_size.count()) return Fault::memory;
  return Fault::none;
}

StepTimes StepModel::times(const ScaledRun& run, const Degrees& degrees) const {
  const Assumptions& a = assumptions_;
  const Shares s = shares_of(run, degrees);
  StepTimes t;
  time_kernels(t, gpu_, s, a.all_weights_resident ? 2 * s.local_experts * s.blocks : 1);
  const double computing = 2 * t.forward_s + t.weight_gradient_s;

  const WordCost over_model = all_reduce_cost(gpu_, a, degrees.levels[kTensorModel]);
  const WordCost over_hidden = all_reduce_cost(gpu_, a, degrees.levels[kTensorHidden]);
  const WordCost over_experts = all_to_all_cost(gpu_, a, degrees.levels[kExpert]);
  const WordCost boundary = stage_boundary_cost(gpu_, a, degrees.levels[kPipeline]);
  const WordCost gradients = all_reduce_cost(gpu_, a, degrees.levels[kData]);

  const double chunk_blocks = chunk(s.blocks);
  const double model_words = s.local_experts * s.expert_tokens * s.d1;
  const double hidden_words = s.local_experts * s.expert_tokens * s.d2;
  const double expert_words = run.experts > 1 ? s.microbatch_tokens * run.active / s.expert * s.d2 / s.hidden : 0;
  const double boundary_words = s.microbatch_tokens / s.expert * s.d2 / s.hidden;

  double one_way = model_words * over_model.busy_sum_s + over_model.latency_s + hidden_words * over_hidden.busy_sum_s +
                   over_hidden.latency_s;
  if (run.experts > 1) one_way += 2 * (expert_words * over_experts.busy_sum_s + over_experts.latency_s);
  one_way += (boundary_words * boundary.busy_sum_s + boundary.latency_s) / chunk_blocks;
  t.block_serial_s = a.defer_weight_gradients ? 2 * t.forward_s + one_way + std::max(one_way, t.weight_gradient_s)
                                              : 2 * t.forward_s + 2 * one_way + t.weight_gradient_s;

  for (std::size_t l = 0; l < levels(); ++l) {
    const double tensor = 2 * (model_words * over_model.busy_s[l] + hidden_words * over_hidden.busy_s[l]) +
                          4 * expert_words * over_experts.busy_s[l];
    const double stages = 2 * boundary_words * boundary.busy_s[l] / chunk_blocks;
    t.block_network_s[l] = s.microbatches * s.blocks * (tensor + stages);
    t.network_s[l] = t.block_network_s[l] + s.local_parameters * gradients.busy_s[l];
  }
  t.gradient_s = s.local_parameters * gradients.busy_sum_s;
  t.arithmetic_s = s.microbatches * s.blocks * computing;
  t.serial_s = run.layers * t.block_serial_s;
  const double exposed = sum(t.block_network_s);
  t.steady_s = a.overlap ? std::max({t.arithmetic_s, largest(t.network_s), t.serial_s})
                         : std::max({t.arithmetic_s + exposed, exposed + t.gradient_s, t.serial_s});
  t.bubble_s = (s.pipeline - 1) * chunk_blocks * t.block_serial_s;
  t.tail_s = t.gradient_s / (2 * s.blocks) + gradients.latency_s;
  t.step_s = t.steady_s + t.bubble_s + t.tail_s;

  const double gpus = degrees.gpus();
  t.train_s = t.step_s * run.steps();
  t.mfu = run.compute / (gpus * t.train_s * gpu_.peak_flop_per_s());
  t.relative = t.mfu / gpu_.matmul.sustained_clock_fraction;
  t.ideal_s = t.relative * t.step_s;
  t.memory_bytes = memory_bytes(run, degrees);
  return t;
}

}  // namespace traingraph::analysis::theory
