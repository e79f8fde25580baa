// HardwareSpec: one GPU (or TPU core) as the workload sees it: how fast it computes and how much it holds. Links are the
// fabric's business. Every number comes from a preset file that names its source; nothing here has a default that stands for
// a measurement. SoftwareSpec: what belongs to the training framework and not to the chip.
//
// A kernel takes  max(FLOP / (peak * e), bytes / (memory_bandwidth * memory_efficiency)) + kernel_overhead,  with e =
// matmul_efficiency for matrix products (times misaligned_factor for odd shapes), and matmul_efficiency * attention
// efficiency for fused attention (kernel_time.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"
#include "workloads/matmul.h"
#include "workloads/precision.h"

namespace traingraph::workloads {

/// An output tile of a matrix product, as libraries offer them: 256x128, 128x128, ...
struct GemmTile {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
};

struct HardwareSpec {
  std::string name;
  std::map<Precision, sim::FlopRate> peaks;  ///< dense peak per precision; a precision without an entry cannot be used
  sim::Bandwidth memory_bandwidth;           ///< of HBM
  sim::Bytes memory_size;                    ///< of HBM
  std::uint32_t sms = 0;                     ///< units that work on tiles at the same time

  double matmul_efficiency = 0;                      ///< e_mm: of a large matrix product, over peak; in (0, 1]
  double memory_efficiency = 0;                      ///< e_hbm: achieved fraction of memory_bandwidth; in (0, 1]
  std::optional<double> flash_attention_efficiency;  ///< e_fa: fused attention rate over the rate of a large product
  std::optional<double> cudnn_attention_efficiency;  ///< the same for cuDNN's fused attention
  double small_head_factor = 1;                      ///< on the fused attention rate for head sizes below 128
  double misaligned_factor = 1;                      ///< on the rate of a product with a dimension not divisible by 8
  sim::Duration kernel_overhead;                     ///< t_k: added to every kernel
  /// Tiles that the library chooses from: a product takes whole waves of tiles over the SMs. Empty: dimensions are rounded
  /// up to the matrix unit's 16 only.
  std::vector<GemmTile> gemm_tiles;

  std::optional<MatmulSpec> matmul;  ///< needed by linear_blocks only
};

/// The training framework. Launch costs: per layer and direction the GPU cannot be ahead of the host, which issues that
/// layer's kernels one after the other (a collective counts as launches_per_collective). Zero: CUDA graphs, or a host that
/// is never late.
struct SoftwareSpec {
  std::string name;
  sim::Duration launch_forward;   ///< host time per kernel launch in a forward pass
  sim::Duration launch_backward;  ///< host time per kernel launch in a backward pass
  std::uint32_t launches_per_collective = 2;
  std::uint32_t fused_softmax_max_sequence = 2048;  ///< unfused attention: longer sequences take the slow softmax
  std::uint32_t fused_softmax_multiple = 4;         ///< ... and so do micro-batch x heads per rank not divisible by this
  double loss_bytes_per_logit = 25;                 ///< HBM traffic of the cross entropy: 60 % forward, 40 % backward
  bool gradient_accumulation_fusion = false;        ///< weight-gradient products add into the main gradient themselves
};

}  // namespace traingraph::workloads
