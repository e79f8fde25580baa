// One training step of a transformer as a program: one template per pipeline stage, one rank per GPU. Ranks whose experts
// get different loads have templates of their own.
//
// Communicators: tp (ranks of one stage and replica), cp (ranks that share a sequence), dp (replicas of one stage and tensor
// slice, those of other parts of the sequence included), norm (all ranks with the
// distributed optimizer, else the TP x PP ranks of a replica), embedding (first and last stage, when the LM head is tied to
// the embedding and sits on another stage). In a bidirectional pipeline (dualpipe) dp holds the replicas of a stage and of
// its mirror image. Expert parallelism regroups
// the ranks of dp: ep (EP consecutive ones share one copy of the experts), edp (the copies of the same experts); with
// node-limited routing also ep_rail and ep_node. Channels: one for each hand-off between stages (pipeline_map.h). Sizes in
// layer_kernels.h, order of a step in stage_writer.h, memory in memory.h.
#pragma once

#include "workloads/cluster.h"
#include "workloads/hardware_spec.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// Throws sim::InputError with the first thing that does not fit: degrees and GPUs, what must divide what, options without
/// effect.
void check_transformer(const TransformerSpec& spec);

[[nodiscard]] Workload build_transformer(const TransformerSpec& spec, const WorkloadSpec& common,
                                         const HardwareSpec& hardware, const Cluster& cluster);

}  // namespace traingraph::workloads
