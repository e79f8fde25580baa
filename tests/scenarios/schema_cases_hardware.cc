#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios::test {

namespace {

using sim::Bandwidth;
using sim::Bytes;
using sim::Duration;
using sim::FlopRate;
using workloads::Precision;

const workloads::HardwareSpec& hw(const Scenario& s) { return s.hardware; }
const workloads::MatmulSpec& mm(const Scenario& s) { return *s.hardware.matmul; }
bool peak(const Scenario& s, Precision p, double rate) {
  const auto it = s.hardware.peaks.find(p);
  return it != s.hardware.peaks.end() && it->second == FlopRate::flop_per_s(rate);
}

}  // namespace

std::vector<SchemaCase> hardware_cases() {
  return {
      {"hardware", kTransformer, {"hardware=a100_80gb"}, TRAINGRAPH_HOLDS(hw(s).memory_size == Bytes{80e9})},
      {"hardware.name",
       kTransformer,
       {"hardware.name=mine"},
       TRAINGRAPH_HOLDS(hw(s).name == "mine"),
       {},
       SeenIn::effective_scenario},
      {"hardware.peaks.fp32",
       kTransformer,
       {"hardware.peaks.fp32=1 TFLOP/s"},
       TRAINGRAPH_HOLDS(peak(s, Precision::fp32, 1e12)),
       {"workload.precision=fp32"}},
      {"hardware.peaks.tf32",
       kTransformer,
       {"hardware.peaks.tf32=1 TFLOP/s"},
       TRAINGRAPH_HOLDS(peak(s, Precision::tf32, 1e12)),
       {"workload.precision=tf32"}},
      {"hardware.peaks.fp16",
       kTransformer,
       {"hardware.peaks.fp16=1 TFLOP/s"},
       TRAINGRAPH_HOLDS(peak(s, Precision::fp16, 1e12)),
       {"workload.precision=fp16"}},
      {"hardware.peaks.fp8",
       kTransformer,
       {"hardware.peaks.fp8=1 TFLOP/s"},
       TRAINGRAPH_HOLDS(peak(s, Precision::fp8, 1e12)),
       {"hardware=h100_sxm", "workload.precision=fp8"}},
      {"hardware.peaks.bf16",
       kTransformer,
       {"hardware.peaks.bf16=1 TFLOP/s"},
       TRAINGRAPH_HOLDS(peak(s, Precision::bf16, 1e12))},
      {"hardware.memory_bandwidth",
       kTransformer,
       {"hardware.memory_bandwidth=1 TB/s"},
       TRAINGRAPH_HOLDS(hw(s).memory_bandwidth == Bandwidth::bytes_per_s(1e12))},
      {"hardware.memory_size",
       kTransformer,
       {"hardware.memory_size=96 GB"},
       TRAINGRAPH_HOLDS(hw(s).memory_size == Bytes{96e9})},
      {"hardware.sms", kTransformer, {"hardware.sms=100"}, TRAINGRAPH_HOLDS(hw(s).sms == 100)},
      {"hardware.matmul_efficiency",
       kTransformer,
       {"hardware.matmul_efficiency=50 %"},
       TRAINGRAPH_HOLDS(hw(s).matmul_efficiency == 0.5)},
      {"hardware.memory_efficiency",
       kTransformer,
       {"hardware.memory_efficiency=0.5"},
       TRAINGRAPH_HOLDS(hw(s).memory_efficiency == 0.5)},
      {"hardware.flash_attention_efficiency",
       kTransformer,
       {"hardware.flash_attention_efficiency=0.5"},
       TRAINGRAPH_HOLDS(hw(s).flash_attention_efficiency == 0.5),
       {"workload.attention=flash"}},
      {"hardware.cudnn_attention_efficiency",
       kTransformer,
       {"hardware.cudnn_attention_efficiency=0.5"},
       TRAINGRAPH_HOLDS(hw(s).cudnn_attention_efficiency == 0.5),
       {"workload.attention=cudnn", "hardware.cudnn_attention_efficiency=0.7"}},
      {"hardware.small_head_factor",
       kTransformer,
       {"hardware.small_head_factor=0.5"},
       TRAINGRAPH_HOLDS(hw(s).small_head_factor == 0.5),
       {"workload.attention=flash"}},
      {"hardware.misaligned_factor",
       kTransformer,
       {"hardware.misaligned_factor=0.5"},
       TRAINGRAPH_HOLDS(hw(s).misaligned_factor == 0.5),
       {"workload.model.ffn=4104"}},
      {"hardware.kernel_overhead",
       kTransformer,
       {"hardware.kernel_overhead=7 us"},
       TRAINGRAPH_HOLDS(hw(s).kernel_overhead == Duration::ps(7000000))},
      {"hardware.gemm_tiles",
       kTransformer,
       {"hardware.gemm_tiles=[64x32]"},
       TRAINGRAPH_HOLDS(hw(s).gemm_tiles.size() == 1 && hw(s).gemm_tiles[0].rows == 64 &&
                        hw(s).gemm_tiles[0].columns == 32)},
      {"hardware.matmul.word_bytes", kLinear, {"hardware.matmul.word_bytes=4"}, TRAINGRAPH_HOLDS(mm(s).word_bytes == 4.0)},
      {"hardware.matmul.flop_per_clock_per_sm",
       kLinear,
       {"hardware.matmul.flop_per_clock_per_sm=64"},
       TRAINGRAPH_HOLDS(mm(s).flop_per_clock_per_sm == 64.0)},
      {"hardware.matmul.sms", kLinear, {"hardware.matmul.sms=64"}, TRAINGRAPH_HOLDS(mm(s).sms == 64.0)},
      {"hardware.matmul.clock", kLinear, {"hardware.matmul.clock=1.5 GHz"}, TRAINGRAPH_HOLDS(mm(s).clock_hz == 1.5e9)},
      {"hardware.matmul.sustained_clock_fraction",
       kLinear,
       {"hardware.matmul.sustained_clock_fraction=0.5"},
       TRAINGRAPH_HOLDS(mm(s).sustained_clock_fraction == 0.5)},
      {"hardware.matmul.register_block",
       kLinear,
       {"hardware.matmul.register_block=32 KiB"},
       TRAINGRAPH_HOLDS(mm(s).register_block == Bytes{32768})},
      {"hardware.matmul.l2_size",
       kLinear,
       {"hardware.matmul.l2_size=1 MiB"},
       TRAINGRAPH_HOLDS(mm(s).l2_size == Bytes{1048576})},
      {"hardware.matmul.l2_bandwidth",
       kLinear,
       {"hardware.matmul.l2_bandwidth=1 TB/s"},
       TRAINGRAPH_HOLDS(mm(s).l2_bandwidth == Bandwidth::bytes_per_s(1e12))},
      {"hardware.matmul.memory_bandwidth",
       kLinear,
       {"hardware.matmul.memory_bandwidth=1 TB/s"},
       TRAINGRAPH_HOLDS(mm(s).memory_bandwidth == Bandwidth::bytes_per_s(1e12))},
      {"hardware.matmul.memory_size",
       kLinear,
       {"hardware.matmul.memory_size=1 GB"},
       TRAINGRAPH_HOLDS(mm(s).memory_size == Bytes{1e9})},
      {"hardware.matmul.distributed_shared_memory",
       kLinear,
       {"hardware.matmul.distributed_shared_memory=false"},
       TRAINGRAPH_HOLDS(!mm(s).distributed_shared_memory)},
      {"hardware.matmul.latency",
       kLinear,
       {"hardware.matmul.latency=7 us"},
       TRAINGRAPH_HOLDS(mm(s).matmul_latency_s == 7e-6)},
  };
}

}  // namespace traingraph::scenarios::test
