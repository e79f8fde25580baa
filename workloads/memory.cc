#include "workloads/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"
#include "workloads/layer_kernels.h"
#include "workloads/schedule.h"
#include "workloads/sharding.h"

namespace traingraph::workloads {
namespace {

sim::Bytes activations(const TransformerSpec& spec, Recompute recompute) {
  const ModelSpec& m = spec.model;
  const double w = element_bytes(spec.precision);
  const double t = spec.parallel.tp;
  const double between = spec.parallel.sequence_parallel ? t : 1;
  const double tokens = static_cast<double>(spec.micro_batch) * m.sequence;
  const double h = m.hidden;
  if (recompute == Recompute::full) return sim::Bytes{w * tokens * h / between};
  const double heads = static_cast<double>(m.heads) * m.head_dimension();
  const double kv = static_cast<double>(m.kv_head_count()) * m.head_dimension();
  const double outside = (4 * w + (m.dropout ? 2 : 0)) * h / between;
  const double inside = w * (heads + 2 * kv + heads + (m.gated ? 3.0 : 2.0) * m.ffn) / t;
  double bytes = tokens * (outside + inside);
  if (spec.attention == Attention::unfused && recompute == Recompute::none) {
    const double per_score = w + (m.dropout ? 1 + w : 0);
    bytes += per_score * tokens * m.sequence * m.heads / t;
  }
  return sim::Bytes{bytes};
}

}  // namespace

sim::Bytes stored_activations(const TransformerSpec& spec) { return activations(spec, spec.recompute); }

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

sim::Bytes weight_gradient_activations(const TransformerSpec& spec) {
  const ModelSpec& m = spec.model;
  const double t = spec.parallel.tp;
  const double between = spec.parallel.sequence_parallel ? t : 1;
  const double h = m.hidden;
  const double heads = static_cast<double>(m.heads) * m.head_dimension();
  const double kv = static_cast<double>(m.kv_head_count()) * m.head_dimension();
  const double inputs = 2 * h / between + (heads + m.ffn) / t;
  const double output_gradients = (heads + 2 * kv + (m.gated ? 2.0 : 1.0) * m.ffn) / t + 2 * h;
  return sim::Bytes{element_bytes(spec.precision) * spec.micro_batch * m.sequence * (inputs + output_gradients)};
}

std::vector<MemoryTerm> memory_terms(const TransformerSpec& spec, const LayerKernels& kernels, const StageShape& shape) {
  const double parameters = stage_parameters(kernels, shape);
  const Sharding sharding{spec.parallel};
  const ParallelSpec& p = spec.parallel;
  const double w = element_bytes(spec.precision);
  const double gradient = spec.gradient_type == GradientType::fp32 ? 4 : w;
  const double optimizer = (w < 4 ? 12.0 : 8.0) / sharding.optimizer_shards();
  const double stored = stored_activations(spec).count();
  const double pending = weight_gradient_activations(spec).count();
  const std::vector<Pass> passes =
      passes_of_stage(p.schedule, {p.pp, microbatches_of_replica(spec), p.virtual_stages}, shape.stage);
  const InFlight in_flight = most_in_flight(passes, shape.chunk_layers(), stored, pending);

  const std::vector<double> units = unit_parameters(kernels, shape);
  std::vector<MemoryTerm> terms;
  sim::Bytes sum;
  const auto add = [&](const char* name, sim::Bytes bytes) {
    if (bytes.count() <= 0) return;
    terms.push_back({name, bytes});
    sum += bytes;
  };
  add("parameters", sim::Bytes{w * parameters / sharding.parameter_shards()});
  add("gradients", sim::Bytes{gradient * parameters / sharding.gradient_shards()});
  add("optimizer states", sim::Bytes{optimizer * parameters});
  if (sharding.parameter_shards() > 1) {
    const double whole = p.reshard_after_forward ? largest_run(units, p.prefetch_layers + 1) : parameters;
    add("gathered parameters", sim::Bytes{w * whole});
  }
  if (sharding.gradient_shards() > 1) {
    const double unit = largest_run(units, 1);
    add("gradient buckets", sharding.stage == 3 ? sim::Bytes{gradient * unit} : *p.bucket_size);
  }
  add("activations", sim::Bytes{stored * static_cast<double>(in_flight.forward) +
                                pending * static_cast<double>(in_flight.weight_gradient)});
  if (spec.recompute == Recompute::full) add("recomputation", activations(spec, Recompute::none));
  if (shape.has_head()) {
    const double tokens = static_cast<double>(spec.micro_batch) * spec.model.sequence;
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
