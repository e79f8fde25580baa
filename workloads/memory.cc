#include "workloads/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"
#include "workloads/layer_kernels.h"
#include "workloads/schedule.h"
#include "workloads/sharding.h"

namespace traingraph::workloads {
namespace {

// Widths of what a layer keeps, per token and word, as one tensor-parallel rank sees it.
struct Widths {
  double hidden = 0;   // between tensor-parallel regions
  double heads = 0;    // queries, attention output
  double kv = 0;       // keys and values together
  double ffn = 0;      // inner width of the MLP
  double experts = 0;  // inner widths of the K experts of a token
  double shared = 0;   // of the shared experts
  double up = 1;       // outputs of an up product per inner element: 2 when gated
};

Widths widths_of(const TransformerSpec& spec) {
  const ModelSpec& m = spec.model;
  const double t = spec.parallel.tp;
  const double d = m.head_dimension();
  return {.hidden = m.hidden / (spec.parallel.sequence_parallel ? t : 1),
          .heads = m.heads * d / t,
          .kv = 2 * m.kv_head_count() * d / t,
          .ffn = m.ffn / t,
          .experts = double(m.moe.experts_per_token) * m.moe.ffn * spec.routing.capacity_factor.value_or(1) / t,
          .shared = m.moe.shared_ffn / t,
          .up = m.gated ? 2.0 : 1.0};
}

double tokens_of(const TransformerSpec& spec) {
  return static_cast<double>(spec.micro_batch) * spec.model.sequence / spec.parallel.cp;
}

// Hidden states of the K experts of a token: `whole` where tensor-parallel ranks have gathered them.
double routed(const TransformerSpec& spec, double width) {
  return spec.model.moe.experts_per_token * spec.routing.capacity_factor.value_or(1) * width;
}

sim::Bytes activations(const TransformerSpec& spec, Recompute recompute, bool moe) {
  const ModelSpec& m = spec.model;
  const double w = element_bytes(spec.precision);
  const double tokens = tokens_of(spec);
  const Widths x = widths_of(spec);
  if (recompute == Recompute::full) return sim::Bytes{w * tokens * x.hidden};
  const double outside = (4 * w + (m.dropout ? 2 : 0)) * x.hidden;
  double inside = w * (2 * x.heads + x.kv);
  if (moe) {
    inside += w * ((1 + x.up) * (x.experts + x.shared) + routed(spec, m.hidden) + routed(spec, x.hidden));
  } else {
    inside += w * (1 + x.up) * x.ffn;
  }
  double bytes = tokens * (outside + inside);
  if (spec.attention == Attention::unfused && recompute == Recompute::none) {
    const double per_score = w + (m.dropout ? 1 + w : 0);
    bytes += per_score * tokens * m.sequence * m.heads / spec.parallel.tp;
  }
  return sim::Bytes{bytes};
}

}  // namespace

sim::Bytes stored_activations(const TransformerSpec& spec, bool moe) { return activations(spec, spec.recompute, moe); }

namespace {

// Parameters of the units of a stage, in the order of its chunks.
std::vector<double> unit_parameters(const LayerKernels& kernels, const StageShape& shape) {
  std::vector<double> units;
  for (const ChunkShape& chunk : shape.chunks) {
    if (chunk.embedding) units.push_back(kernels.embedding_parameters());
    units.insert(units.end(), chunk.layers, kernels.layer_parameters());
    if (chunk.head) units.push_back(kernels.norm_parameters() + kernels.table_parameters());
  }
  return units;
}

// The largest sum of `count` neighbours.
double largest_run(const std::vector<double>& units, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    double sum = 0;
    for (std::size_t k = i; k < std::min(units.size(), i + count); ++k) sum += units[k];
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

sim::Bytes weight_gradient_activations(const TransformerSpec& spec, bool moe) {
  const double h = spec.model.hidden;
  const Widths x = widths_of(spec);
  double inputs = x.hidden + x.heads;
  double output_gradients = x.heads + x.kv + h;
  if (moe) {
    inputs += routed(spec, h) + x.experts + (x.shared > 0 ? x.hidden + x.shared : 0);
    output_gradients += routed(spec, h) + x.up * x.experts + (x.shared > 0 ? x.up * x.shared + h : 0);
  } else {
    inputs += x.hidden + x.ffn;
    output_gradients += x.up * x.ffn + h;
  }
  return sim::Bytes{element_bytes(spec.precision) * tokens_of(spec) * (inputs + output_gradients)};
}

namespace {

// Along the passes of a stage, the most that its chunks hold.
double most_activations(const TransformerSpec& spec, const StageShape& shape) {
  const ParallelSpec& p = spec.parallel;
  std::vector<double> stored, pending;  // of one pass of each chunk
  for (const ChunkShape& chunk : shape.chunks) {
    double kept = 0, waiting = 0;
    for (std::uint32_t l = 0; l < chunk.layers; ++l) {
      const bool moe = spec.model.is_moe_layer(chunk.first_layer + l);
      kept += activations(spec, is_recomputed(spec, l) ? spec.recompute : Recompute::none, moe).count();
      waiting += weight_gradient_activations(spec, moe).count();
    }
    stored.push_back(kept);
    pending.push_back(waiting);
  }
  const std::vector<Pass> passes =
      passes_of_stage(p.schedule, {p.pp, microbatches_of_replica(spec), p.virtual_stages}, shape.stage);
  const std::vector<InFlight> in_flight = most_in_flight(passes, stored, pending);
  double sum = 0;
  for (std::size_t c = 0; c < in_flight.size(); ++c)
    sum += in_flight[c].forward * stored[c] + in_flight[c].weight_gradient * pending[c];
  return sum;
}

}  // namespace

std::vector<MemoryTerm> memory_terms(const TransformerSpec& spec, const LayerKernels& kernels, const StageShape& shape) {
  const StageParameters parameters = stage_parameters(kernels, shape);
  const Sharding sharding{spec.parallel};
  const ParallelSpec& p = spec.parallel;
  const double w = element_bytes(spec.precision);
  const double gradient = spec.gradient_type == GradientType::fp32 ? 4 : w;
  const double optimizer = w < 4 ? 12.0 : 8.0;
  const std::vector<double> units = unit_parameters(kernels, shape);
  std::vector<MemoryTerm> terms;
  sim::Bytes sum;
  const auto add = [&](const char* name, sim::Bytes bytes) {
    if (bytes.count() <= 0) return;
    terms.push_back({name, bytes});
    sum += bytes;
  };
  add("parameters", sim::Bytes{w * (parameters.dense / sharding.parameter_shards() + parameters.experts)});
  add("gradients", sim::Bytes{gradient * (parameters.dense / sharding.gradient_shards() +
                                          parameters.experts / sharding.expert_gradient_shards())});
  add("optimizer states", sim::Bytes{optimizer * (parameters.dense / sharding.optimizer_shards() +
                                                  parameters.experts / sharding.expert_optimizer_shards())});
  if (sharding.parameter_shards() > 1) {
    const double whole = p.reshard_after_forward ? largest_run(units, p.prefetch_layers + 1) : parameters.total();
    add("gathered parameters", sim::Bytes{w * whole});
  }
  if (sharding.gradient_shards() > 1) {
    const double unit = largest_run(units, 1);
    add("gradient buckets", sharding.stage == 3 ? sim::Bytes{gradient * unit} : *p.bucket_size);
  }
  add("activations", sim::Bytes{most_activations(spec, shape)});
  if (spec.recompute == Recompute::full && is_recomputed(spec, 0))
    add("recomputation", activations(spec, Recompute::none, shape.moe_layers() > 0));
  if (shape.has_head()) {
    const double tokens = tokens_of(spec);
    const double between = p.sequence_parallel ? p.tp : 1;
    const double logits = 4 * static_cast<double>(padded_vocabulary(spec)) / p.tp;
    add("logits", sim::Bytes{tokens * (logits + 2 * w * spec.model.hidden / between)});
  }
  add("fragmentation", sum * spec.memory_fragmentation);
  return terms;
}

sim::Bytes total(const std::vector<MemoryTerm>& terms) {
  sim::Bytes sum;
  for (const MemoryTerm& term : terms) sum += term.bytes;
  return sum;
}

void check_fits(const std::vector<MemoryTerm>& terms, sim::Bytes capacity, const std::string& where) {
  const sim::Bytes needed = total(terms);
  if (needed <= capacity) return;
  std::vector<MemoryTerm> sorted = terms;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string list;
  for (const MemoryTerm& term : sorted) {
    list += fmt::format("{}{} {:.2f} GB", list.empty() ? "" : ", ", term.name, term.bytes.count() * 1e-9);
  }
  throw sim::InputError{fmt::format("out of memory on {}: {:.2f} GB needed, {:.2f} GB there ({})", where,
                                    needed.count() * 1e-9, capacity.count() * 1e-9, list)};
}

}  // namespace traingraph::workloads
