// What the closed-form model assumes of a training run; the defaults are those of arXiv 2411.01137 (its published code for
// the scaling laws and the GPU, a construction in its terms for the network and the step: analysis/README.md says which).
#pragma once

#include <cstdint>

namespace traingraph::analysis::theory {

/// Traffic of an all-reduce over p members, in words per word held, where (p-1)/p of it crosses the level.
enum class AllReduceKind : std::uint8_t {
  factor,     ///< all_reduce_words: 2 in-network reduction, 3 reduce-scatter plus multicast, 4 ring
  in_switch,  ///< 2p/(p-1): each word goes up once and comes down once
};

/// Latency of a collective over several levels: of those that it crosses, ...
enum class LatencySum : std::uint8_t { sum, largest };

/// Latencies of a level that an all-reduce pays.
enum class LatencyKind : std::uint8_t {
  factor,  ///< latency_factor
  ring,    ///< 2(p-1): every step of a ring's reduce-scatter and all-gather
  direct,  ///< 2: one of each
};

struct Assumptions {
  double tokens_per_param = 20;      ///< kappa, D/N
  double reference_compute = 1e25;   ///< FLOP of the reference run, C0
  double reference_batch = 4194304;  ///< its tokens per optimizer step, B0
  double reference_layers = 120;     ///< its blocks of two linear layers, L0
  double batch_exponent = 1.0 / 6;   ///< beta, B ~ C^beta
  double depth_exponent = 1.0 / 6;   ///< lambda, L ~ C^lambda
  double hidden_ratio = 5;           ///< h, ff/d: 4 for the MLP, 1 standing in for attention
  double duration_s = 7.884e6;       ///< t_max, three months (91.25 days)
  double word_bits = 0;              ///< 0: the word size of the GPU's record
  AllReduceKind all_reduce = AllReduceKind::factor;
  double all_reduce_words = 3;  ///< with AllReduceKind::factor
  LatencySum latency_sum = LatencySum::sum;
  LatencyKind latency = LatencyKind::factor;
  double latency_factor = 1;           ///< with LatencyKind::factor
  bool overlap = true;                 ///< communication hides behind arithmetic
  bool defer_weight_gradients = true;  ///< a block's weight gradients fill the time of its communication
  bool two_dimensional_tp = true;      ///< tensor parallelism over d too, not over ff only
  bool pipeline_traffic = true;        ///< stage boundaries cost traffic
  double interleave = 0;               ///< virtual stages per pipeline stage; 0: one block each, 1: none
  double experts = 1;                  ///< E, per block
  double active_experts = 1;           ///< k, per token
  double batch_sparsity_exponent = 0;  ///< B ~ (E/k)^this
  bool all_weights_resident = false;   ///< a matmul's weights stay on chip only if all of the GPU's weights do
  bool memory_limit = false;           ///< layouts must fit in the GPU's memory
  double min_tokens = 1;               ///< of one microbatch per expert-parallel rank
};

}  // namespace traingraph::analysis::theory
