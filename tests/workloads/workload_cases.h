// What the workload tests share: a GPU with round numbers, well-known models, fabrics that cost nothing or are a plain star,
// and sums over the operations of a template.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sim/simulate.h"
#include "workloads/build.h"

namespace traingraph::workloads::test {

/// 100 TFLOP/s, 1 TB/s and everything at full efficiency: times can be computed in the head.
inline HardwareSpec round_gpu() {
  HardwareSpec h;
  h.name = "round";
  for (const Precision p : {Precision::fp32, Precision::fp16, Precision::bf16})
    h.peaks[p] = sim::FlopRate::flop_per_s(100e12);
  h.memory_bandwidth = sim::Bandwidth::bytes_per_s(1e12);
  h.memory_size = sim::Bytes{80e9};
  h.sms = 100;
  h.matmul_efficiency = 1;
  h.memory_efficiency = 1;
  h.flash_attention_efficiency = 0.5;
  h.cudnn_attention_efficiency = 0.8;
  h.small_head_factor = 0.8;
  h.misaligned_factor = 0.25;
  return h;
}

/// GPT-3 175B (Brown et al. 2020, table 2.1; vocabulary padded as in Megatron-LM).
inline ModelSpec gpt3() {
  ModelSpec m;
  m.name = "gpt3-175b";
  m.layers = 96;
  m.hidden = 12288;
  m.heads = 96;
  m.ffn = 49152;
  m.vocabulary = 51200;
  m.sequence = 2048;
  return m;
}

/// Llama-3 405B (Llama Team 2024, table 3).
inline ModelSpec llama405b() {
  ModelSpec m;
  m.name = "llama3-405b";
  m.layers = 126;
  m.hidden = 16384;
  m.heads = 128;
  m.kv_heads = 8;
  m.ffn = 53248;
  m.vocabulary = 128256;
  m.sequence = 8192;
  m.gated = true;
  m.bias = false;
  m.dropout = false;
  m.tied_embeddings = false;
  m.norm = Norm::rmsnorm;
  m.position = Position::rotary;
  return m;
}

/// Small, but with every feature of a GPT: 8 layers of hidden 256.
inline ModelSpec tiny_gpt() {
  ModelSpec m;
  m.name = "tiny";
  m.layers = 8;
  m.hidden = 256;
  m.heads = 8;
  m.ffn = 1024;
  m.vocabulary = 1024;
  m.sequence = 128;
  return m;
}

inline TransformerSpec step_of(const ModelSpec& model, std::uint32_t tp, std::uint32_t pp, std::uint32_t dp,
                               std::uint32_t micro_batch, std::uint32_t microbatches) {
  TransformerSpec s;
  s.model = model;
  s.parallel.tp = tp;
  s.parallel.pp = pp;
  s.parallel.dp = dp;
  s.micro_batch = micro_batch;
  s.global_batch = dp * micro_batch * microbatches;
  s.precision = Precision::fp16;
  s.attention = Attention::unfused;
  s.check_memory = false;
  return s;
}

inline WorkloadSpec workload_of(const TransformerSpec& s, std::uint32_t steps = 1) {
  WorkloadSpec w;
  w.job = s;
  w.steps = steps;
  return w;
}

inline Workload build_step(const TransformerSpec& s, std::uint32_t steps = 1, const HardwareSpec& hardware = round_gpu()) {
  const std::uint32_t gpus = s.parallel.tp * s.parallel.cp * s.parallel.pp * s.parallel.dp;
  return build(workload_of(s, steps), hardware, regular_cluster(gpus, 8));
}

/// A fabric on which every transfer takes no time at all.
class FreeRouter final : public sim::Router {
 public:
  [[nodiscard]] bool depends_on_connection() const override { return false; }

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId, sim::EndpointId, std::uint64_t) const override { return {}; }
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId>) const override { return {}; }
};

inline sim::Record run_free(const sim::Program& program) { return sim::simulate({}, FreeRouter{}, program, {}); }

/// One switch, one port per GPU and direction: link 2e leaves GPU e, link 2e+1 enters it.
class StarRouter final : public sim::Router {
 public:
  StarRouter(std::uint32_t gpus, double bytes_per_s, sim::Duration latency_per_link) {
    for (std::uint32_t i = 0; i < 2 * gpus; ++i) {
      links_.push_back({sim::Bandwidth::bytes_per_s(bytes_per_s), latency_per_link});
    }
  }
  [[nodiscard]] bool depends_on_connection() const override { return false; }
  [[nodiscard]] const sim::LinkTable& links() const { return links_; }

 private:
  [[nodiscard]] sim::Path do_route(sim::EndpointId source, sim::EndpointId destination, std::uint64_t) const override {
    return sim::single_path(links_, {sim::LinkId{2 * index(source)}, sim::LinkId{2 * index(destination) + 1}}, {});
  }
  [[nodiscard]] sim::Path do_route_in_switch(std::span<const sim::EndpointId>) const override {
    throw sim::InputError{"the star does not reduce"};
  }
  sim::LinkTable links_;
};

/// Bytes and calls of each label in one template: collectives by their full buffer, sends by their message.
struct LabelUse {
  double bytes = 0;
  std::uint32_t count = 0;
};
inline std::map<std::string, LabelUse> network_use(const sim::Program& program, sim::TemplateId role) {
  std::map<std::string, LabelUse> use;
  for (const sim::Op& op : program.templates[role].ops) {
    double bytes = 0;
    if (op.kind == sim::OpKind::collective) {
      bytes = program.collectives[op.argument].bytes.count();
    } else if (op.kind == sim::OpKind::send) {
      bytes = program.message_bytes[op.argument].count();
    } else {
      continue;
    }
    LabelUse& entry = use[program.labels[op.label].name];
    entry.bytes += bytes;
    ++entry.count;
  }
  return use;
}

/// The text of the InputError that building throws; empty when it throws none.
template <class F>
std::string error_of(F&& build_it) {
  try {
    (void)std::forward<F>(build_it)();
  } catch (const sim::InputError& e) {
    return e.what();
  }
  return {};
}

}  // namespace traingraph::workloads::test
