#include "workloads/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"
#include "workloads/layer_kernels.h"
#include "workloads/schedule.h"

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

std::vector<MemoryTerm> memory_terms(const TransformerSpec& spec, std::uint32_t stage, std::uint32_t stage_layers,
                                     double stage_parameters) {
  const ParallelSpec& p = spec.parallel;
  const double w = element_bytes(spec.precision);
  const double gradient = spec.gradient_type == GradientType::fp32 ? 4 : w;
  const double optimizer = (w < 4 ? 12.0 : 8.0) / (p.distributed_optimizer ? p.dp : 1);
  const PipelineShape shape{p.pp, spec.global_batch / (p.dp * spec.micro_batch), 1};
  const double in_flight = passes_in_flight(p.schedule, shape, stage);

  std::vector<MemoryTerm> terms;
  sim::Bytes sum;
  const auto add = [&](const char* name, sim::Bytes bytes) {
    if (bytes.count() <= 0) return;
    terms.push_back({name, bytes});
    sum += bytes;
  };
  add("parameters", sim::Bytes{w * stage_parameters});
  add("gradients", sim::Bytes{gradient * stage_parameters});
  add("optimizer states", sim::Bytes{optimizer * stage_parameters});
  add("activations", stored_activations(spec) * (stage_layers * in_flight));
  if (spec.recompute == Recompute::full) add("recomputation", activations(spec, Recompute::none));
  if (stage + 1 == p.pp) {
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
