#include "workloads/flops.h"

#include "workloads/layer_kernels.h"

namespace traingraph::workloads {

StepFlop step_flop(const TransformerSpec& spec, FlopConvention convention) {
  const ModelSpec& m = spec.model;
  const double h = m.hidden;
  const double heads = static_cast<double>(m.heads) * m.head_dimension();  // A·d
  const double kv = static_cast<double>(m.kv_head_count()) * m.head_dimension();
  const double layers = m.layers;
  const double attention = 4 * m.sequence * heads;
  const double tokens = static_cast<double>(spec.global_batch) * m.sequence;

  double products = 2 * h * (heads + 2 * kv) + 2 * heads * h + (m.gated ? 6.0 : 4.0) * h * m.ffn;  // of a layer, forward
  double model = 0;
  if (convention == FlopConvention::megatron) {
    model = 3 * (layers * (products + attention) + 2 * h * static_cast<double>(padded_vocabulary(spec)));
  } else {
    products = 2 * static_cast<double>(layer_parameter_count(m));
    model = 6 * static_cast<double>(parameter_count(m)) + 3 * layers * attention;
  }
  double again = 0;
  if (spec.recompute == Recompute::full) again = layers * (products + attention);
  if (spec.recompute == Recompute::selective) again = layers * attention;
  return {sim::Flop{tokens * model}, sim::Flop{tokens * (model + again)}};
}

}  // namespace traingraph::workloads
