#include "workloads/data_parallel.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "workloads/pipeline_map.h"

namespace traingraph::workloads {

DataParallelWriter::DataParallelWriter(const TransformerSpec& spec, const LayerKernels& kernels, double word,
                                       const StageShape& shape, const StageSlots& slots, ProgramWriter& writer,
                                       RankStreams& streams)
    : spec_{spec},
      kernels_{kernels},
      shape_{shape},
      slots_{slots},
      writer_{writer},
      streams_{streams},
      word_{word},
      replicas_{spec.parallel.dp * PipelineMap{spec.parallel}.copies()},
      by_position_(shape.chunks.size()),
      first_unit_(shape.chunks.size()),
      gathering_(shape.chunks.size()),
      gradients_(shape.chunks.size()) {
  gradient_bytes_ = spec.gradient_type == GradientType::fp32 ? 4.0 : word;
  bucket_elements_ = spec.parallel.bucket_size ? spec.parallel.bucket_size->count() / gradient_bytes_
                                               : std::numeric_limits<double>::infinity();
  std::iota(by_position_.begin(), by_position_.end(), 0U);
  std::sort(by_position_.begin(), by_position_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return shape.chunks[a].position < shape.chunks[b].position; });
  find_gather_buckets();
}

void DataParallelWriter::find_gather_buckets() {
  GatherBucket open;
  for (const std::uint32_t c : by_position_) {
    const ChunkShape& chunk = shape_.chunks[c];
    first_unit_[c] = open.units;
    std::vector<double> units;
    if (chunk.embedding) units.push_back(kernels_.embedding_parameters());
    units.insert(units.end(), chunk.layers, kernels_.layer_parameters());
    if (chunk.head) units.push_back(kernels_.head_parameters());
    for (const double unit : units) {
      open.elements += unit;
      ++open.units;
      if (open.elements < bucket_elements_) continue;
      gather_buckets_.push_back(open);
      open.elements = 0;
    }
    if (open.elements > 0) gather_buckets_.push_back(open);
    open.elements = 0;
  }
}

void DataParallelWriter::begin_step() {
  const ParallelSpec& p = spec_.parallel;
  if (!p.distributed_optimizer || replicas_ == 1 || !p.overlap_param_gather) return;
  // The marker ends with the previous step's optimizer: dependencies cannot reach into another step, streams do.
  streams_.marker(writer_.label("step_start", TimeCategory::idle));
  write_parameter_gather();
  gathering_.assign(gathering_.size(), true);
}

void DataParallelWriter::write_parameter_gather() {
  const std::uint16_t label = writer_.label("parameter_all_gather", TimeCategory::exposed_dp);
  for (const GatherBucket& bucket : gather_buckets_) {
    streams_.collective(Stream::data, label, slots_[SlotUse::dp],
                        writer_.collective({.kind = CollectiveKind::all_gather,
                                            .algorithm = spec_.algorithms.dp_all_gather,
                                            .bytes = sim::Bytes{bucket.elements * word_},
                                            .options = {}}));
  }
}

void DataParallelWriter::begin_forward(std::uint32_t chunk) {
  next_unit_ = gathering_[chunk] ? first_unit_[chunk] : kNoUnit;
  gathering_[chunk] = false;
}

void DataParallelWriter::before_unit() {
  if (next_unit_ == kNoUnit) return;
  ++next_unit_;
  std::uint32_t count = 1;
  for (const GatherBucket& bucket : gather_buckets_) {
    if (bucket.units >= next_unit_) break;
    ++count;
  }
  streams_.require(Stream::data, count);
}

void DataParallelWriter::gradient_done(std::uint32_t chunk, double elements) {
  if (replicas_ == 1) return;
  ChunkGradients& gradients = gradients_[chunk];
  gradients.open += elements;
  if (gradients.open < bucket_elements_) return;
  close(gradients);
  if (spec_.parallel.overlap_grad_reduce) reduce(gradients);
}

void DataParallelWriter::chunk_done(std::uint32_t chunk) {
  close(gradients_[chunk]);
  if (spec_.parallel.overlap_grad_reduce) reduce(gradients_[chunk]);
}

void DataParallelWriter::close(ChunkGradients& gradients) {
  if (gradients.open > 0) gradients.closed.push_back(std::exchange(gradients.open, 0));
}

void DataParallelWriter::reduce(ChunkGradients& gradients) {
  const bool sharded = spec_.parallel.distributed_optimizer;
  for (const double elements : std::exchange(gradients.closed, {})) {
    streams_.collective(
        Stream::data, writer_.label(sharded ? "gradient_reduce_scatter" : "gradient_all_reduce", TimeCategory::exposed_dp),
        slots_[SlotUse::dp],
        writer_.collective({.kind = sharded ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                            .algorithm = sharded ? spec_.algorithms.dp_reduce_scatter : spec_.algorithms.dp_all_reduce,
                            .bytes = sim::Bytes{elements * gradient_bytes_},
                            .options = {}}));
  }
}

void DataParallelWriter::end_passes() {
  if (replicas_ == 1) return;
  for (const std::uint32_t c : by_position_) reduce(gradients_[c]);
  streams_.require_all(Stream::data);
}

void DataParallelWriter::end_step() {
  const ParallelSpec& p = spec_.parallel;
  if (!p.distributed_optimizer || replicas_ == 1 || p.overlap_param_gather) return;
  write_parameter_gather();
  streams_.require_all(Stream::data);
  streams_.marker(writer_.label("parameters_gathered", TimeCategory::exposed_dp));
}

}  // namespace traingraph::workloads
