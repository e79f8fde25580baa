#include <fmt/format.h>

#include <string>

#include "scenarios/schema.h"
#include "scenarios/variant_fields.h"

namespace traingraph::scenarios {

namespace {

using workloads::GemmTile;
using workloads::HardwareSpec;
using workloads::MatmulSpec;
using workloads::Precision;

/// A tile is written "256x128".
Leaf tile_leaf(GemmTile& t) {
  return {"tile such as 256x128",
          [&t](const Value& value) -> std::string {
            const std::string wrong = fmt::format("expected a tile such as 256x128, found {}", describe(value));
            const std::size_t x = value.text.find('x');
            if (value.kind != ValueKind::scalar || x == std::string::npos) return wrong;
            const auto rows = parse_integer(std::string_view{value.text}.substr(0, x));
            const auto columns = parse_integer(std::string_view{value.text}.substr(x + 1));
            constexpr std::int64_t kLargest = 65536;
            if (!rows.value || !columns.value || *rows.value < 1 || *columns.value < 1 || *rows.value > kLargest ||
                *columns.value > kLargest) {
              return wrong;
            }
            t = {static_cast<std::uint32_t>(*rows.value), static_cast<std::uint32_t>(*columns.value)};
            return {};
          },
          [&t] { return std::optional<std::string>{fmt::format("{}x{}", t.rows, t.columns)}; }};
}

/// The peak of one precision; absent: the GPU cannot compute in it.
Leaf peak_leaf(HardwareSpec& h, Precision p) {
  return {"arithmetic rate",
          [&h, p](const Value& value) {
            sim::FlopRate rate;
            std::string error = detail::read_quantity(value, kPositive, rate);
            if (error.empty()) h.peaks[p] = rate;
            return error;
          },
          [&h, p] {
            const auto it = h.peaks.find(p);
            return it == h.peaks.end() ? std::optional<std::string>{} : std::optional<std::string>{format(it->second)};
          }};
}

}  // namespace

void fields(Fields& f, MatmulSpec& m) {
  f.leaf({.name = "word_bytes", .doc = "bytes of a word", .need = kRequired}, leaf(m.word_bytes, kPositive));
  f.leaf({.name = "flop_per_clock_per_sm", .doc = "peak FLOP per clock and SM", .need = kRequired},
         leaf(m.flop_per_clock_per_sm, kPositive));
  f.leaf({.name = "sms", .doc = "streaming multiprocessors", .need = kRequired}, leaf(m.sms, kPositive));
  f.leaf({.name = "clock", .doc = "maximum clock", .need = kRequired}, leaf(AsHertz{m.clock_hz}, kPositive));
  f.leaf({.name = "sustained_clock_fraction", .doc = "sustained over maximum clock (eta)", .need = kRequired},
         leaf(AsFraction{m.sustained_clock_fraction}, kPositiveFraction));
  f.leaf({.name = "register_block", .doc = "registers of one processing block; an SM has four", .need = kRequired},
         leaf(m.register_block, kPositive));
  f.leaf({.name = "l2_size", .doc = "L2 cache", .need = kRequired}, leaf(m.l2_size, kPositive));
  f.leaf({.name = "l2_bandwidth", .doc = "L2 cache to SMs", .need = kRequired}, leaf(m.l2_bandwidth, kPositive));
  f.leaf({.name = "memory_bandwidth", .doc = "global memory", .need = kRequired}, leaf(m.memory_bandwidth, kPositive));
  f.leaf({.name = "memory_size", .doc = "global memory", .need = kRequired}, leaf(m.memory_size, kPositive));
  f.leaf({.name = "distributed_shared_memory", .doc = "SMs exchange data directly"}, leaf(m.distributed_shared_memory));
  f.leaf({.name = "latency", .doc = "fixed time of each product (t_mm)", .need = kRequired},
         leaf(AsSeconds{m.matmul_latency_s}));
}

void fields(Fields& f, HardwareSpec& h) {
  f.leaf({.name = "name", .doc = "for people"}, leaf(h.name));
  f.group({.name = "peaks", .doc = "dense arithmetic peak by precision", .need = kRequired}, [&] {
    for (const auto& entry : enum_names(Precision{})) {
      f.leaf({.name = entry.name, .doc = "dense peak", .if_absent = "not supported"}, peak_leaf(h, entry.value));
    }
  });
  f.leaf({.name = "memory_bandwidth", .doc = "HBM", .need = kRequired}, leaf(h.memory_bandwidth, kPositive));
  f.leaf({.name = "memory_size", .doc = "HBM", .need = kRequired}, leaf(h.memory_size, kPositive));
  f.leaf({.name = "sms", .doc = "units that work on tiles at the same time", .need = kRequired}, leaf(h.sms, kAtLeastOne));
  f.leaf({.name = "matmul_efficiency", .doc = "rate of a large matrix product over peak (e_mm)", .need = kRequired},
         leaf(AsFraction{h.matmul_efficiency}, kPositiveFraction));
  f.leaf({.name = "memory_efficiency", .doc = "achieved fraction of memory_bandwidth (e_hbm)", .need = kRequired},
         leaf(AsFraction{h.memory_efficiency}, kPositiveFraction));
  f.leaf({.name = "flash_attention_efficiency",
          .doc = "fused attention rate over the rate of a large product (e_fa)",
          .if_absent = "no `attention: flash` on this GPU"},
         leaf(h.flash_attention_efficiency, kPositive));
  f.leaf({.name = "cudnn_attention_efficiency",
          .doc = "the same for the fused attention of cuDNN",
          .if_absent = "no `attention: cudnn` on this GPU"},
         leaf(h.cudnn_attention_efficiency, kPositive));
  f.leaf({.name = "small_head_factor", .doc = "on the fused attention rate for head sizes below 128"},
         leaf(h.small_head_factor, kPositive));
  f.leaf({.name = "misaligned_factor", .doc = "on the rate of products with a dimension not divisible by 8"},
         leaf(h.misaligned_factor, kPositive));
  f.leaf({.name = "kernel_overhead", .doc = "added to every kernel (t_k)"}, leaf(h.kernel_overhead));
  f.leaves({.name = "gemm_tiles", .doc = "output tiles of the library; empty: dimensions are rounded up to 16"},
           {[&h] { return h.gemm_tiles.size(); }, [&h](std::size_t n) { h.gemm_tiles.assign(n, GemmTile{}); }},
           [&h](std::size_t i) { return tile_leaf(h.gemm_tiles[i]); });
  f.maybe<MatmulSpec>(
      {.name = "matmul", .doc = "the tiled data-movement model", .if_absent = "no linear_blocks on this GPU"}, h.matmul,
      [](Fields& inner, MatmulSpec& m) { fields(inner, m); });
}

void fields(Fields& f, workloads::SoftwareSpec& s) {
  f.leaf({.name = "name", .doc = "for people"}, leaf(s.name));
  f.leaf({.name = "launch_forward", .doc = "host time per kernel launch, forward; 0: CUDA graphs"}, leaf(s.launch_forward));
  f.leaf({.name = "launch_backward", .doc = "host time per kernel launch, backward"}, leaf(s.launch_backward));
  f.leaf({.name = "launches_per_collective", .doc = "a collective counts as so many launches"},
         leaf(s.launches_per_collective));
  f.leaf({.name = "fused_softmax_max_sequence", .doc = "unfused attention: longer sequences take the slow softmax"},
         leaf(s.fused_softmax_max_sequence));
  f.leaf({.name = "fused_softmax_multiple", .doc = "and so do micro-batch x heads per rank not divisible by this"},
         leaf(s.fused_softmax_multiple, kAtLeastOne));
  f.leaf({.name = "loss_bytes_per_logit", .doc = "memory traffic of the cross entropy"}, leaf(s.loss_bytes_per_logit));
  f.leaf({.name = "gradient_accumulation_fusion", .doc = "weight-gradient products add into the main gradient"},
         leaf(s.gradient_accumulation_fusion));
}

}  // namespace traingraph::scenarios
