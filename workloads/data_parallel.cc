#include "workloads/data_parallel.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

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
      sharding_{spec.parallel},
      by_position_(shape.chunks.size()),
      first_unit_(shape.chunks.size()),
      unit_count_(shape.chunks.size()),
      gathering_(shape.chunks.size()),
      gradients_(shape.chunks.size()) {
  gradient_bytes_ = spec.gradient_type == GradientType::fp32 ? 4.0 : word;
  bucket_elements_ = spec.parallel.bucket_size ? spec.parallel.bucket_size->count() / gradient_bytes_
                                               : std::numeric_limits<double>::infinity();
  std::iota(by_position_.begin(), by_position_.end(), 0U);
  std::sort(by_position_.begin(), by_position_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return shape.chunks[a].position < shape.chunks[b].position; });
  for (ChunkGradients& gradients : gradients_) gradients[1].experts = true;
  find_units();
  find_gather_buckets();
}

void DataParallelWriter::find_units() {
  for (const std::uint32_t c : by_position_) {
    const ChunkShape& chunk = shape_.chunks[c];
    first_unit_[c] = static_cast<std::uint32_t>(units_.size());
    if (chunk.embedding) units_.push_back({.elements = kernels_.embedding_parameters()});
    for (std::uint32_t l = chunk.first_layer; l < chunk.first_layer + chunk.layers; ++l) {
      units_.push_back(spec_.model.is_moe_layer(l)
                           ? Unit{.elements = kernels_.moe_layer_parameters(), .experts = kernels_.expert_parameters()}
                           : Unit{.elements = kernels_.layer_parameters()});
    }
    // A unit by itself needs the table even if it is the embedding's.
    const double head =
        sharding_.stage == 3 ? kernels_.norm_parameters() + kernels_.table_parameters() : kernels_.head_parameters();
    if (chunk.head) units_.push_back({.elements = head});
    unit_count_[c] = static_cast<std::uint32_t>(units_.size()) - first_unit_[c];
  }
}

void DataParallelWriter::find_gather_buckets() {
  std::uint32_t seen = 0;  // units
  std::array<GatherBucket, 2> open{GatherBucket{.experts = false}, GatherBucket{.experts = true}};
  const auto close = [&](GatherBucket& bucket) {
    bucket.units = seen;
    if (bucket.elements > 0) gather_buckets_.push_back(bucket);
    bucket.elements = 0;
  };
  for (const std::uint32_t c : by_position_) {
    for (std::uint32_t u = first_unit_[c]; u < first_unit_[c] + unit_count_[c]; ++u) {
      open[0].elements += units_[u].elements;
      if (sharding_.expert_replicas > 1) open[1].elements += units_[u].experts;
      ++seen;
      for (GatherBucket& bucket : open) {
        if (bucket.elements >= bucket_elements_) close(bucket);
      }
    }
    for (GatherBucket& bucket : open) close(bucket);
  }
}

void DataParallelWriter::call(Stream stream, const std::string& label, SlotUse slot, CollectiveKind kind,
                              Algorithm algorithm, double bytes) {
  streams_.collective(stream, writer_.label(label, TimeCategory::exposed_dp), slots_[slot],
                      writer_.collective({.kind = kind, .algorithm = algorithm, .bytes = sim::Bytes{bytes}, .options = {}}));
}

void DataParallelWriter::begin_step() {
  const bool overlapped = gathers_after_step() && spec_.parallel.overlap_param_gather;
  if (!overlapped && !(communicates() && sharding_.stage == 3)) return;
  // The marker ends with the previous step's optimizer: dependencies cannot reach into another step, streams do.
  streams_.marker(writer_.label("step_start", TimeCategory::idle));
  if (!overlapped) return;
  write_parameter_gather();
  gathering_.assign(gathering_.size(), true);
}

void DataParallelWriter::write_parameter_gather() {
  for (const GatherBucket& bucket : gather_buckets_) {
    call(Stream::data, bucket.experts ? "expert_parameter_all_gather" : "parameter_all_gather",
         bucket.experts ? SlotUse::edp : shard_slot(), CollectiveKind::all_gather, spec_.algorithms.dp_all_gather,
         bucket.elements * word_);
  }
}

void DataParallelWriter::begin_pass(std::uint32_t chunk, bool forward) {
  visits_.resize(unit_count_[chunk]);
  std::iota(visits_.begin(), visits_.end(), first_unit_[chunk]);
  if (!forward) std::reverse(visits_.begin(), visits_.end());
  visit_ = 0;
  forward_ = forward;
  awaits_buckets_ = forward && gathering_[chunk];
  if (forward) gathering_[chunk] = false;
}

void DataParallelWriter::gather_unit(Unit& unit) {
  if (unit.whole) return;
  unit.whole = true;
  call(Stream::gather, "parameter_all_gather", SlotUse::gather, CollectiveKind::all_gather, spec_.algorithms.dp_all_gather,
       unit.elements * word_);
  unit.gathered = streams_.length(Stream::gather);
}

void DataParallelWriter::before_unit() {
  if (awaits_buckets_) {
    // The first bucket of each kind that ends at or after this unit, if the unit has a part in it.
    const Unit& unit = units_[visits_[visit_]];
    std::uint32_t count = 0;
    for (const bool experts : {false, true}) {
      if (experts && (unit.experts == 0 || sharding_.expert_replicas == 1)) continue;
      const auto holds = [&](const GatherBucket& b) { return b.experts == experts && b.units > visits_[visit_]; };
      const auto found = std::find_if(gather_buckets_.begin(), gather_buckets_.end(), holds);
      count = std::max(count, static_cast<std::uint32_t>(found - gather_buckets_.begin()) + 1);
    }
    streams_.require(Stream::data, count);
  }
  if (sharding_.stage != 3 || !communicates()) return;
  const std::size_t end = std::min(visits_.size(), visit_ + 1 + spec_.parallel.prefetch_layers);
  for (std::size_t i = visit_; i < end; ++i) gather_unit(units_[visits_[i]]);
  streams_.require(Stream::gather, units_[visits_[visit_]].gathered);
}

void DataParallelWriter::after_unit() {
  if (!forward_ || spec_.parallel.reshard_after_forward) units_[visits_[visit_]].whole = false;
  ++visit_;
}

void DataParallelWriter::gradient_done(std::uint32_t chunk, double elements, bool of_experts) {
  if (!communicates() || (of_experts && sharding_.expert_replicas == 1)) return;
  Gradients& gradients = gradients_[chunk][of_experts ? 1 : 0];
  gradients.open += elements;
  if (gradients.open < bucket_elements_) return;
  close(gradients);
  if (spec_.parallel.overlap_grad_reduce) reduce(gradients);
}

void DataParallelWriter::unit_done(std::uint32_t chunk) {
  if (!communicates() || sharding_.stage != 3) return;
  for (Gradients& gradients : gradients_[chunk]) {
    close(gradients);
    if (spec_.parallel.overlap_grad_reduce) reduce(gradients);
  }
}

void DataParallelWriter::chunk_done(std::uint32_t chunk) {
  if (!communicates()) return;
  const bool overlap = spec_.parallel.overlap_grad_reduce;
  for (Gradients& gradients : gradients_[chunk]) {
    close(gradients);
    if (overlap || sharding_.every_microbatch) reduce(gradients);
  }
  if (!overlap && sharding_.every_microbatch) streams_.require_all(Stream::data);
}

void DataParallelWriter::close(Gradients& gradients) {
  if (gradients.open > 0) gradients.closed.push_back(std::exchange(gradients.open, 0));
}

void DataParallelWriter::reduce(Gradients& gradients) {
  const AlgorithmSpec& algorithms = spec_.algorithms;
  const std::string whose = gradients.experts ? "expert_gradient" : "gradient";
  for (const double elements : std::exchange(gradients.closed, {})) {
    const double bytes = elements * gradient_bytes_;
    if (sharding_.stage == 0) {
      call(Stream::data, whose + "_all_reduce", gradients.experts ? SlotUse::edp : SlotUse::dp, CollectiveKind::all_reduce,
           algorithms.dp_all_reduce, bytes);
      continue;
    }
    call(Stream::data, whose + "_reduce_scatter", gradients.experts ? SlotUse::edp : shard_slot(),
         CollectiveKind::reduce_scatter, algorithms.dp_reduce_scatter, bytes);
    if (sharding_.hybrid) {
      call(Stream::data, whose + "_shard_all_reduce", SlotUse::replicas, CollectiveKind::all_reduce,
           algorithms.dp_all_reduce, bytes / sharding_.shards);
    }
  }
}

void DataParallelWriter::end_passes() {
  if (!communicates()) return;
  for (const std::uint32_t c : by_position_) {
    for (Gradients& gradients : gradients_[c]) reduce(gradients);
  }
  // What follows (sums of norms, of tied embeddings) waits for the gradients first: that part of a gap is theirs.
  streams_.require_all(Stream::data);
  streams_.marker(writer_.label("gradients_reduced", TimeCategory::exposed_dp));
}

void DataParallelWriter::end_step() {
  if (!gathers_after_step() || spec_.parallel.overlap_param_gather) return;
  write_parameter_gather();
  streams_.require_all(Stream::data);
  streams_.marker(writer_.label("parameters_gathered", TimeCategory::exposed_dp));
}

}  // namespace traingraph::workloads
