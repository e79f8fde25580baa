// Time of one kernel on one GPU: a roofline,
//
//   time = max(FLOP' / (peak * e), bytes / (HBM bandwidth * e_hbm)) + t_k,
//
// e = e_mm for matrix products (times the misaligned factor when a dimension is not divisible by 8), e_mm * e_fa for fused
// attention (times the small-head factor below head size 128), no arithmetic for memory kernels. FLOP' is the arithmetic of
// whole tiles: with the hardware's tile list, waves of ceil(tiles/SMs) tiles, the list's best tile, K split when there are
// fewer tiles than SMs; without a list, each dimension rounded up to the matrix unit's 16. `flop` of a kernel is what the
// mathematics needs, unrounded.
//
// With fp8, peak and operand bytes of linear layers' products are those of fp8, results and everything else 16-bit.
//
// Bytes of a product: each operand and the result once, (MK + KN + MN) elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/units.h"
#include "workloads/hardware_spec.h"
#include "workloads/precision.h"

namespace traingraph::workloads {

struct Kernel {
  std::string name;
  sim::Flop flop;
  sim::Bytes bytes;  ///< HBM traffic
  sim::Duration duration;
  bool memory_bound = false;  ///< HBM, not arithmetic, sets the time
  std::uint32_t launches = 1;
};

/// `batch` products of M x K by K x N.
struct GemmShape {
  double m = 0;
  double n = 0;
  double k = 0;
  double batch = 1;
  bool general = false;     ///< in fp8 training: this product stays in 16 bits
  double result_bytes = 0;  ///< per element of the result, read and written; 0: one element written
};

/// Fused attention over `batch` sequences of `heads` heads (of this rank).
struct AttentionShape {
  double batch = 1;
  double heads = 1;
  double kv_heads = 1;
  double sequence = 0;  ///< queries of each sequence
  double keys = 0;      ///< 0: as many
  double head_size = 0;
  bool causal = true;
};

class KernelModel {
 public:
  /// Throws sim::InputError when the hardware has no peak for this precision or an efficiency outside (0, 1].
  KernelModel(const HardwareSpec& hardware, Precision precision);

  [[nodiscard]] Kernel gemm(std::string name, const GemmShape& shape) const;
  /// Products of different experts in one kernel (grouped GEMM): their tiles fill the waves together. `aligned`: the
  /// dimensions other than the number of tokens are divisible by 8. Shapes of zero size are left out.
  [[nodiscard]] Kernel grouped_gemm(std::string name, const std::vector<GemmShape>& shapes, bool aligned) const;
  [[nodiscard]] Kernel memory(std::string name, double bytes, std::uint32_t launches = 1) const;
  /// `efficiency` is e_fa. Forward 4·b·A·s²·d FLOP (half when causal), backward 2.5 times that; forward reads Q, K, V and
  /// writes O, backward reads those and dO, and writes dQ, dK, dV.
  [[nodiscard]] Kernel attention(std::string name, const AttentionShape& shape, bool backward, double efficiency) const;

  [[nodiscard]] sim::FlopRate peak() const { return peak_; }
  [[nodiscard]] bool quantizes() const { return product_word_ < word_; }
  [[nodiscard]] double word() const { return word_; }  ///< bytes of an element
  [[nodiscard]] const HardwareSpec& hardware() const { return hardware_; }

 private:
  [[nodiscard]] Kernel timed(std::string name, double flop, double charged_flop, sim::FlopRate rate, double bytes,
                             std::uint32_t launches) const;

  [[nodiscard]] double gemm_bytes(const GemmShape& shape) const;
  [[nodiscard]] sim::FlopRate gemm_rate(bool general, bool is_aligned) const;

  HardwareSpec hardware_;
  sim::FlopRate peak_;
  sim::FlopRate general_peak_;  // of what stays in 16 bits in fp8 training
  double word_;
  double product_word_;
};

/// Arithmetic of the whole tiles that a product occupies (FLOP' above).
[[nodiscard]] double tiled_flop(const HardwareSpec& hardware, const GemmShape& shape);
/// The same of several products in one kernel; equal to the above for one shape.
[[nodiscard]] double tiled_flop(const HardwareSpec& hardware, const std::vector<GemmShape>& shapes);

}  // namespace traingraph::workloads
