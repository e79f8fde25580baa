// Time of one matrix product on one GPU by tiled data movement (Erdil & Schneider-Joseph, "Data movement limits to frontier
// model training", arXiv 2411.01137; the authors' published code), as used by the `linear_blocks` workload.
//
// mm(d1, d2, b): weights d1 x d2 times activations d2 x b. All dimensions are real-valued. The product is tiled three times,
// for L2, for the registers of all SMs together and for one processing block (an SM has four); each tiling streams the
// weights once (unless the weights of `held` such matrices stay resident), the input once per row of tiles, the output 2Q-1
// times for Q columns of tiles. The time is the slowest of arithmetic, memory, L2 and SM network, plus a fixed latency:
//
//   mm = t_mm + max(flop/F, q_mem/mem_bw, (q_mem + q_l2)/l2_bw, (q_l2 + q_ds + q_sm)/sm_bw)
//   flop = 2 ceil(d1/16) ceil(d2/16) ceil(b/16) 16^3,  F = flop_per_clock_per_sm * sms * clock * eta,  sm_bw = 128 sms clock
//   eta
//
// Not symmetric in d1 and d2. Units in each name; costs a few dozen operations.
#pragma once

#include "sim/units.h"

namespace traingraph::workloads {

/// What the formula needs of a GPU; every number comes from a hardware preset.
struct MatmulSpec {
  double word_bytes = 2;                ///< bytes of a word, w
  double flop_per_clock_per_sm = 0;     ///< peak FLOP per clock and SM at that word size
  double sms = 0;                       ///< streaming multiprocessors
  double clock_hz = 0;                  ///< maximum clock
  double sustained_clock_fraction = 1;  ///< eta: sustained over maximum clock, the largest achievable utilization
  sim::Bytes register_block;            ///< register bytes of one processing block; an SM has four
  sim::Bytes l2_size;
  sim::Bandwidth l2_bandwidth;
  sim::Bandwidth memory_bandwidth;
  sim::Bytes memory_size;
  bool distributed_shared_memory = false;  ///< SMs can exchange data directly
  double matmul_latency_s = 0;             ///< t_mm, fixed per product

  /// flop_per_clock_per_sm * sms * clock: at the maximum clock, what utilization is measured against.
  [[nodiscard]] sim::FlopRate peak() const { return sim::FlopRate::flop_per_s(flop_per_clock_per_sm * sms * clock_hz); }
};

struct MatmulShape {
  double d1 = 0;
  double d2 = 0;
  double b = 0;                  ///< tokens
  bool weight_gradient = false;  ///< (d1 x b) times (b x d2), accumulated into d1 x d2
  double held = 1;               ///< weight matrices that must stay on chip together for the residency test
};

/// What limits a product: the four times of which the slowest counts, each without the fixed latency.
struct MatmulTimes {
  double arithmetic_s = 0;
  double memory_s = 0;      ///< global memory
  double l2_s = 0;          ///< L2 cache
  double sm_network_s = 0;  ///< ports of the SMs
};

/// The products of one weight shape with any number of tokens: the tilings depend on d1 and d2 only and are made once.
class TiledMatmul {
 public:
  /// Throws sim::InputError unless d1, d2 > 0.
  TiledMatmul(const MatmulSpec& gpu, double d1, double d2);

  /// REQUIRES: b, held > 0.
  [[nodiscard]] MatmulTimes times(double b, bool weight_gradient, double held) const;
  /// t_mm and the slowest of times().
  [[nodiscard]] double seconds(double b, bool weight_gradient, double held) const;

 private:
  /// Rows and columns of tiles of the weights, and how much may stay on chip, for one step of the memory hierarchy.
  struct Tiling {
    double rows = 1;
    double columns = 1;
    double inner_rows = 1;  ///< of the tiles that travel on the SM-to-SM network
    double inner_columns = 1;
    double resident = 0;  ///< bytes
  };
  struct Traffic {
    double level = 0;    ///< bytes between two memory levels
    double network = 0;  ///< bytes on the SM-to-SM network
  };
  [[nodiscard]] Tiling tiling(double cap, double count, bool distributed) const;
  [[nodiscard]] Traffic traffic(const Tiling& tiling, double b, bool weight_gradient, double held) const;

  double d1_;
  double d2_;
  double padded_d1_;
  double padded_d2_;
  double word_;
  double flop_per_s_;
  double memory_bandwidth_;
  double l2_bandwidth_;
  double sm_bandwidth_;
  double latency_;
  Tiling memory_;
  Tiling l2_;
  Tiling sm_;
};

/// Seconds, as a double: the closed-form model sums these. Throws sim::InputError unless d1, d2, b, held > 0.
[[nodiscard]] double matmul_seconds(const MatmulSpec& gpu, const MatmulShape& shape);

/// A dimension rounded up to the matrix unit's granularity of 16.
[[nodiscard]] double padded_dimension(double dimension);

/// Arithmetic charged for the product: 2*d1*d2*b rounded up to the matrix unit's granularity of 16 in each dimension.
[[nodiscard]] sim::Flop matmul_flop(const MatmulShape& shape);

}  // namespace traingraph::workloads
