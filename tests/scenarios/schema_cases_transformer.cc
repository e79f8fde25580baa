#include <variant>

#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios::test {

namespace {

using sim::Bytes;
using sim::Duration;
using workloads::Algorithm;

const workloads::TransformerSpec& job(const Scenario& s) { return std::get<workloads::TransformerSpec>(s.workload.job); }
const workloads::ModelSpec& model(const Scenario& s) { return job(s).model; }
const workloads::ParallelSpec& par(const Scenario& s) { return job(s).parallel; }
const workloads::AlgorithmSpec& alg(const Scenario& s) { return job(s).algorithms; }
const workloads::SoftwareSpec& soft(const Scenario& s) { return job(s).software; }

}  // namespace

std::vector<SchemaCase> transformer_cases() {
  return {
      {"workload.kind", kTransformer,
       {"workload={kind: collective, collective: barrier}"},
       TRAINGRAPH_HOLDS(std::holds_alternative<workloads::CollectiveRunSpec>(s.workload.job))},
      {"workload.model", kTransformer, {"workload.model=gpt3_175b"}, TRAINGRAPH_HOLDS(model(s).name == "gpt3-175b" && model(s).layers == 96)},
      {"workload.model.name", kTransformer, {"workload.model.name=mine"}, TRAINGRAPH_HOLDS(model(s).name == "mine")},
      {"workload.model.layers", kTransformer, {"workload.model.layers=10"}, TRAINGRAPH_HOLDS(model(s).layers == 10)},
      {"workload.model.hidden", kTransformer, {"workload.model.hidden=2048"}, TRAINGRAPH_HOLDS(model(s).hidden == 2048)},
      {"workload.model.heads", kTransformer, {"workload.model.heads=32"}, TRAINGRAPH_HOLDS(model(s).heads == 32)},
      {"workload.model.kv_heads", kTransformer, {"workload.model.kv_heads=8"}, TRAINGRAPH_HOLDS(model(s).kv_heads == 8)},
      {"workload.model.head_size", kTransformer, {"workload.model.head_size=96"}, TRAINGRAPH_HOLDS(model(s).head_size == 96)},
      {"workload.model.ffn", kTransformer, {"workload.model.ffn=2048"}, TRAINGRAPH_HOLDS(model(s).ffn == 2048)},
      {"workload.model.vocabulary", kTransformer, {"workload.model.vocabulary=50257"}, TRAINGRAPH_HOLDS(model(s).vocabulary == 50257)},
      {"workload.model.sequence", kTransformer, {"workload.model.sequence=512"}, TRAINGRAPH_HOLDS(model(s).sequence == 512)},
      {"workload.model.gated", kTransformer, {"workload.model.gated=true"}, TRAINGRAPH_HOLDS(model(s).gated)},
      {"workload.model.bias", kTransformer, {"workload.model.bias=false"}, TRAINGRAPH_HOLDS(!model(s).bias)},
      {"workload.model.dropout", kTransformer, {"workload.model.dropout=false"}, TRAINGRAPH_HOLDS(!model(s).dropout)},
      {"workload.model.causal", kTransformer, {"workload.model.causal=false"}, TRAINGRAPH_HOLDS(!model(s).causal)},
      {"workload.model.tied_embeddings", kTransformer, {"workload.model.tied_embeddings=false"},
       TRAINGRAPH_HOLDS(!model(s).tied_embeddings)},
      {"workload.model.norm", kTransformer, {"workload.model.norm=rmsnorm"}, TRAINGRAPH_HOLDS(model(s).norm == workloads::Norm::rmsnorm)},
      {"workload.model.position", kTransformer, {"workload.model.position=rotary"},
       TRAINGRAPH_HOLDS(model(s).position == workloads::Position::rotary)},
      {"workload.parallel.tp", kTransformer, {"workload.parallel={tp: 4, pp: 2, dp: 4}"}, TRAINGRAPH_HOLDS(par(s).tp == 4)},
      {"workload.parallel.pp", kTransformer, {"workload.parallel={tp: 8, pp: 4, dp: 1}"}, TRAINGRAPH_HOLDS(par(s).pp == 4)},
      {"workload.parallel.dp", kTransformer, {"workload.parallel={tp: 8, pp: 4, dp: 1}"}, TRAINGRAPH_HOLDS(par(s).dp == 1)},
      {"workload.parallel.order", kTransformer, {"workload.parallel.order=tp-pp-dp"}, TRAINGRAPH_HOLDS(par(s).order == "tp-pp-dp")},
      {"workload.parallel.sequence_parallel", kTransformer, {"workload.parallel.sequence_parallel=true"},
       TRAINGRAPH_HOLDS(par(s).sequence_parallel)},
      {"workload.parallel.schedule", kTransformer, {"workload.parallel.schedule=gpipe"},
       TRAINGRAPH_HOLDS(par(s).schedule == workloads::ScheduleKind::gpipe)},
      {"workload.parallel.layers_per_stage", kTransformer, {"workload.parallel.layers_per_stage=[3, 5]"},
       TRAINGRAPH_HOLDS(par(s).layers_per_stage == std::vector<std::uint32_t>({3, 5}))},
      {"workload.parallel.scatter_gather", kTransformer, {"workload.parallel.scatter_gather=true"}, TRAINGRAPH_HOLDS(par(s).scatter_gather)},
      {"workload.parallel.distributed_optimizer", kTransformer, {"workload.parallel.distributed_optimizer=true"},
       TRAINGRAPH_HOLDS(par(s).distributed_optimizer)},
      {"workload.parallel.overlap_grad_reduce", kTransformer, {"workload.parallel.overlap_grad_reduce=true"},
       TRAINGRAPH_HOLDS(par(s).overlap_grad_reduce)},
      {"workload.parallel.overlap_param_gather", kTransformer,
       {"workload.parallel.overlap_param_gather=true", "workload.parallel.distributed_optimizer=true"},
       TRAINGRAPH_HOLDS(par(s).overlap_param_gather)},
      {"workload.parallel.bucket_size", kTransformer, {"workload.parallel.bucket_size=40 MB"},
       TRAINGRAPH_HOLDS(par(s).bucket_size == Bytes{40e6})},
      {"workload.parallel.overlap_tp_backward", kTransformer, {"workload.parallel.overlap_tp_backward=true"},
       TRAINGRAPH_HOLDS(par(s).overlap_tp_backward)},
      {"workload.micro_batch", kTransformer, {"workload.micro_batch=2"}, TRAINGRAPH_HOLDS(job(s).micro_batch == 2)},
      {"workload.global_batch", kTransformer, {"workload.global_batch=32"}, TRAINGRAPH_HOLDS(job(s).global_batch == 32)},
      {"workload.precision", kTransformer, {"workload.precision=fp16"}, TRAINGRAPH_HOLDS(job(s).precision == workloads::Precision::fp16)},
      {"workload.gradient_type", kTransformer, {"workload.gradient_type=same_as_weights"},
       TRAINGRAPH_HOLDS(job(s).gradient_type == workloads::GradientType::same_as_weights)},
      {"workload.attention", kTransformer, {"workload.attention=flash"}, TRAINGRAPH_HOLDS(job(s).attention == workloads::Attention::flash)},
      {"workload.recompute", kTransformer, {"workload.recompute=selective"},
       TRAINGRAPH_HOLDS(job(s).recompute == workloads::Recompute::selective)},
      {"workload.vocabulary_multiple", kTransformer, {"workload.vocabulary_multiple=1"}, TRAINGRAPH_HOLDS(job(s).vocabulary_multiple == 1)},
      {"workload.algorithms.tp_all_reduce", kTransformer, {"workload.algorithms.tp_all_reduce=direct"},
       TRAINGRAPH_HOLDS(alg(s).tp_all_reduce == Algorithm::direct)},
      {"workload.algorithms.tp_all_gather", kTransformer, {"workload.algorithms.tp_all_gather=direct"},
       TRAINGRAPH_HOLDS(alg(s).tp_all_gather == Algorithm::direct)},
      {"workload.algorithms.tp_reduce_scatter", kTransformer, {"workload.algorithms.tp_reduce_scatter=direct"},
       TRAINGRAPH_HOLDS(alg(s).tp_reduce_scatter == Algorithm::direct)},
      {"workload.algorithms.dp_all_reduce", kTransformer, {"workload.algorithms.dp_all_reduce=direct"},
       TRAINGRAPH_HOLDS(alg(s).dp_all_reduce == Algorithm::direct)},
      {"workload.algorithms.dp_all_gather", kTransformer, {"workload.algorithms.dp_all_gather=direct"},
       TRAINGRAPH_HOLDS(alg(s).dp_all_gather == Algorithm::direct)},
      {"workload.algorithms.dp_reduce_scatter", kTransformer, {"workload.algorithms.dp_reduce_scatter=direct"},
       TRAINGRAPH_HOLDS(alg(s).dp_reduce_scatter == Algorithm::direct)},
      {"workload.algorithms.embedding_all_reduce", kTransformer, {"workload.algorithms.embedding_all_reduce=direct"},
       TRAINGRAPH_HOLDS(alg(s).embedding_all_reduce == Algorithm::direct)},
      {"workload.algorithms.scalar_all_reduce", kTransformer, {"workload.algorithms.scalar_all_reduce=direct"},
       TRAINGRAPH_HOLDS(alg(s).scalar_all_reduce == Algorithm::direct)},
      {"workload.mfu", kTransformer, {"workload.mfu=palm"}, TRAINGRAPH_HOLDS(job(s).mfu == workloads::FlopConvention::palm)},
      {"workload.check_memory", kTransformer, {"workload.check_memory=false"}, TRAINGRAPH_HOLDS(!job(s).check_memory)},
      {"workload.memory_fragmentation", kTransformer, {"workload.memory_fragmentation=10 %"},
       TRAINGRAPH_HOLDS(job(s).memory_fragmentation == 0.1)},
      {"workload.software", kTransformer, {"workload.software=megatron_2022"}, TRAINGRAPH_HOLDS(soft(s).name == "megatron_2022")},
      {"workload.software.name", kTransformer, {"workload.software.name=mine"}, TRAINGRAPH_HOLDS(soft(s).name == "mine")},
      {"workload.software.launch_forward", kTransformer, {"workload.software.launch_forward=7 us"},
       TRAINGRAPH_HOLDS(soft(s).launch_forward == Duration::ps(7000000))},
      {"workload.software.launch_backward", kTransformer, {"workload.software.launch_backward=7 us"},
       TRAINGRAPH_HOLDS(soft(s).launch_backward == Duration::ps(7000000))},
      {"workload.software.launches_per_collective", kTransformer, {"workload.software.launches_per_collective=3"},
       TRAINGRAPH_HOLDS(soft(s).launches_per_collective == 3)},
      {"workload.software.fused_softmax_max_sequence", kTransformer, {"workload.software.fused_softmax_max_sequence=4096"},
       TRAINGRAPH_HOLDS(soft(s).fused_softmax_max_sequence == 4096)},
      {"workload.software.fused_softmax_multiple", kTransformer, {"workload.software.fused_softmax_multiple=8"},
       TRAINGRAPH_HOLDS(soft(s).fused_softmax_multiple == 8)},
      {"workload.software.loss_bytes_per_logit", kTransformer, {"workload.software.loss_bytes_per_logit=30"},
       TRAINGRAPH_HOLDS(soft(s).loss_bytes_per_logit == 30.0)},
      {"workload.software.gradient_accumulation_fusion", kTransformer, {"workload.software.gradient_accumulation_fusion=true"},
       TRAINGRAPH_HOLDS(soft(s).gradient_accumulation_fusion)},
      {"workload.leftover_gpus", kTransformer, {"workload.leftover_gpus=16", "workload.parallel.dp=1"},
       TRAINGRAPH_HOLDS(s.leftover_gpus == 16)},
      {"workload.placement.kind", kTransformer, {"workload.placement.kind=scattered"},
       TRAINGRAPH_HOLDS(s.workload.placement.kind == workloads::PlacementKind::scattered)},
      {"workload.placement.seed", kTransformer, {"workload.placement={kind: random, seed: 9}"},
       TRAINGRAPH_HOLDS(s.workload.placement.seed == 9)},
      {"workload.slow_gpus[].gpu", kTransformer, {"workload.slow_gpus=[{gpu: 5, factor: 1.5}]"},
       TRAINGRAPH_HOLDS(s.workload.slow_gpus.size() == 1 && s.workload.slow_gpus[0].gpu == 5)},
      {"workload.slow_gpus[].factor", kTransformer, {"workload.slow_gpus=[{gpu: 5, factor: 1.5}]"},
       TRAINGRAPH_HOLDS(s.workload.slow_gpus.size() == 1 && s.workload.slow_gpus[0].factor == 1.5)},
      {"workload.steps", kTransformer, {"workload.steps=1"}, TRAINGRAPH_HOLDS(s.workload.steps == 1)},
      {"run.network", kTransformer, {"run.network=chunk"}, TRAINGRAPH_HOLDS(s.run.network == sim::NetworkModel::chunk)},
      {"run.collectives", kTransformer, {"run.collectives=bulk"}, TRAINGRAPH_HOLDS(s.run.collectives == sim::CollectiveMode::bulk)},
      {"run.step_limit", kTransformer, {"run.step_limit=1e6"}, TRAINGRAPH_HOLDS(s.run.step_limit == 1e6)},
      {"run.chunk.size", kTransformer, {"run.chunk.size=128 KiB"}, TRAINGRAPH_HOLDS(s.run.chunk.size == Bytes{131072})},
      {"run.chunk.window", kTransformer, {"run.chunk.window=1 MiB"}, TRAINGRAPH_HOLDS(s.run.chunk.window == Bytes{1048576})},
      {"run.chunk.order", kTransformer, {"run.chunk.order=fifo"}, TRAINGRAPH_HOLDS(s.run.chunk.order == sim::ChunkOrder::fifo)},
      {"run.bins", kTransformer, {"run.bins=100"}, TRAINGRAPH_HOLDS(s.run.bins == 100)},
      {"run.critical_path", kTransformer, {"run.critical_path=false"}, TRAINGRAPH_HOLDS(!s.run.critical_path)},
  };
}

}  // namespace traingraph::scenarios::test
