#include "workloads/stage_shape.h"

#include <fmt/format.h>

#include "workloads/pipeline_map.h"

namespace traingraph::workloads {

std::vector<std::uint32_t> layers_of_positions(const TransformerSpec& spec) {
  const ParallelSpec& p = spec.parallel;
  const std::uint32_t layers = spec.model.layers;
  const PipelineMap map{p};
  const std::uint32_t positions = map.positions();
  const bool chunked = positions != p.pp;
  if (p.layers_per_stage.empty()) {
    if (layers % positions != 0) {
      throw sim::InputError{fmt::format("{} layers are not divisible by {} {}; state layers_per_stage", layers, positions,
                                        chunked ? "virtual stages" : "pipeline stages")};
    }
    return std::vector<std::uint32_t>(positions, layers / positions);
  }
  if (p.layers_per_stage.size() != positions) {
    const std::string expected = chunked ? fmt::format("the model is cut into {} x {} virtual stages", p.pp, map.chunks())
                                         : fmt::format("pp is {}", p.pp);
    throw sim::InputError{fmt::format("layers_per_stage lists {} stages, but {}", p.layers_per_stage.size(), expected)};
  }
  std::uint64_t sum = 0;
  for (const std::uint32_t n : p.layers_per_stage) {
    if (n == 0) throw sim::InputError{"layers_per_stage: every entry must be at least 1"};
    sum += n;
  }
  if (sum != layers) {
    throw sim::InputError{fmt::format("layers_per_stage adds up to {} layers, but the model has {}", sum, layers)};
  }
  return p.layers_per_stage;
}

std::vector<StageShape> stage_shapes(const TransformerSpec& spec) {
  const PipelineMap map{spec.parallel};
  std::vector<ChunkShape> positions;
  std::uint32_t first_layer = 0;
  for (const std::uint32_t layers : layers_of_positions(spec)) {
    const auto position = static_cast<std::uint32_t>(positions.size());
    std::uint32_t moe_layers = 0;
    for (std::uint32_t l = first_layer; l < first_layer + layers; ++l) moe_layers += spec.model.is_moe_layer(l) ? 1 : 0;
    positions.push_back({.position = position,
                         .first_layer = first_layer,
                         .layers = layers,
                         .moe_layers = moe_layers,
                         .embedding = position == 0,
                         .head = position + 1 == map.positions()});
    first_layer += layers;
  }
  std::vector<StageShape> stages;
  for (std::uint32_t s = 0; s < map.stages(); ++s) {
    StageShape& shape = stages.emplace_back();
    shape.stage = s;
    for (std::uint32_t c = 0; c < map.chunks(); ++c) shape.chunks.push_back(positions[map.position(s, c)]);
  }
  return stages;
}

std::uint32_t microbatches_of_replica(const TransformerSpec& spec) {
  return spec.global_batch / (spec.parallel.dp * spec.micro_batch);
}

StageParameters stage_parameters(const LayerKernels& kernels, const StageShape& shape) {
  const std::uint32_t moe_layers = shape.moe_layers();
  double dense = (shape.layers() - moe_layers) * kernels.layer_parameters();
  if (moe_layers > 0) dense += moe_layers * kernels.moe_layer_parameters();
  if (shape.has_embedding()) dense += kernels.embedding_parameters();
  if (shape.has_head()) dense += kernels.head_parameters();
  return {dense, moe_layers == 0 ? 0 : moe_layers * kernels.expert_parameters()};
}

}  // namespace traingraph::workloads
