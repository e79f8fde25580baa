// The workload of "Data movement limits to frontier model training" (Erdil & Schneider-Joseph, arXiv 2411.01137) as a
// program that is simulated: L blocks of two linear layers, hidden d and inner width ff, no attention, matrix times by
// matmul.h.
//
// A GPU holds d1 x d2 = ff/TF x d/TH of each matrix of its L/P blocks. Tokens of a micro-batch b = B/(DP·m); dimensions and
// tokens are real-valued, blocks per stage an integer. Per block and micro-batch
//   forward    mm(d1, d2, b), all-reduce of b·d1 words over TH, mm(d2, d1, b), all-reduce of b·d2 words over TF
//   backward   mm(d1, d2, b), all-reduce of b·d1 over TH, mm(d2, d1, b), all-reduce of b·d2 over TF, and two weight
//   gradients: beside
//              those all-reduces (and the hand-off to the stage before) with defer_weight_gradients, else after them
// With E experts, k active, a GPU has nx = E/EP of each matrix; b tokens of the expert-parallel group are bx = b·k/E for
// each expert and b·k/EP for all of a GPU's, the b of the all-reduces above; products are nx mm(.., bx). All-to-alls of
// b·k/EP·d2/TF words over EP before and after the products of a block, forward and backward.
//
// Stage boundary: b/EP·d2/TF words each way. At the end of the step one all-reduce of the GPU's 2·ff·d·nx·L/(P·TF·TH)
// gradients over DP. The update of the weights and everything but linear layers is ignored, as in the paper.
//
// Ranks are numbered level by level, within a level tp_ff fastest, then tp_hidden, ep, pp, dp. virtual_stages v > 1 cuts a
// stage's blocks into v chunks and runs the interleaved schedule (schedule.h); v = L/P is the paper's maximal interleaving.
//
// Unlike the closed form, which lets the network of one micro-batch run under the arithmetic of another, a rank here waits
// for a tensor-parallel all-reduce before its next dependent product.
#pragma once

#include "workloads/cluster.h"
#include "workloads/hardware_spec.h"
#include "workloads/workload.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

[[nodiscard]] Workload build_linear_blocks(const LinearBlocksSpec& spec, const WorkloadSpec& common,
                                           const HardwareSpec& hardware, const Cluster& cluster);

}  // namespace traingraph::workloads
