#include "workloads/flops.h"

#include <algorithm>

#include "workloads/layer_kernels.h"
#include "workloads/stage_shape.h"

namespace traingraph::workloads {

namespace {

// Of the layers that may be recomputed, weighted equally.
double recomputed_share(const TransformerSpec& spec) {
  double recomputed = 0;
  for (const std::uint32_t layers : layers_of_positions(spec)) recomputed += std::min(layers, *spec.recompute_layers);
  return recomputed / spec.model.layers;
}

}  // namespace

StepFlop step_flop(const TransformerSpec& spec, FlopConvention convention) {
  const ModelSpec& m = spec.model;
  const double h = m.hidden;
  const double heads = static_cast<double>(m.heads) * m.head_dimension();  // A·d
  const double kv = static_cast<double>(m.kv_head_count()) * m.head_dimension();
  const double layers = m.layers;
  const double attention = 4 * m.sequence * heads;
  const double tokens = static_cast<double>(spec.global_batch) * m.sequence;

  const double per_width = (m.gated ? 6.0 : 4.0) * h;  // of an MLP, per inner element
  const double attention_products = 2 * h * (heads + 2 * kv) + 2 * heads * h;
  double products = attention_products + per_width * m.ffn;  // of a layer, forward
  if (const double moe_layers = m.moe_layers(); moe_layers > 0) {
    const double experts =
        2 * h * m.moe.experts + per_width * (double(m.moe.experts_per_token) * m.moe.ffn + m.moe.shared_ffn);
    products = attention_products + (moe_layers * experts + (layers - moe_layers) * per_width * m.ffn) / layers;
  }
  double model = 0;
  if (convention == FlopConvention::megatron) {
    model = 3 * (layers * (products + attention) + 2 * h * static_cast<double>(padded_vocabulary(spec)));
  } else {
    const double moe_layers = m.moe_layers();
    const double dense = 2 * static_cast<double>(layer_parameter_count(m));
    const double experts = 2 * static_cast<double>(moe_layer_parameter_count(m, m.moe.experts_per_token));
    products = moe_layers == 0 ? dense : (moe_layers * experts + (layers - moe_layers) * dense) / layers;
    model = 6 * static_cast<double>(active_parameter_count(m)) + 3 * layers * attention;
  }
  double again = 0;
  if (spec.recompute == Recompute::full) again = layers * (products + attention);
  if (spec.recompute == Recompute::selective) again = layers * attention;
  if (spec.recompute_layers) again *= recomputed_share(spec);
  return {sim::Flop{tokens * model}, sim::Flop{tokens * (model + again)}};
}

}  // namespace traingraph::workloads
