#include "scenarios/validation/random_scenarios.h"

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace traingraph::scenarios {
namespace {

/// Choices from a generator whose numbers the standard fixes.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_{seed} {}
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(generator_() % choices.size()));
  }
  bool coin() { return generator_() % 2 == 0; }

 private:
  std::mt19937_64 generator_;
};

std::string cluster(Draw& draw, std::uint32_t nodes) {
  return fmt::format(
      "cluster:\n  preset: {}\n  nodes: {}\n  node: {{preset: dgx_h100, nic: {{bandwidth: {} Gb/s}}}}\n"
      "  routing: {{policy: {}}}\nhardware: h100_sxm\n",
      draw.of({"rail_optimized", "fat_tree"}), nodes, draw.of({40, 400, 4000}), draw.of({"spray", "ecmp", "static"}));
}

std::string transformer(Draw& draw, std::uint32_t gpus) {
  std::uint32_t rest = gpus;
  const auto part = [&](std::uint32_t most) {
    std::uint32_t degree = 1;
    while (degree < most && rest % 2 == 0 && draw.coin()) {
      degree *= 2;
      rest /= 2;
    }
    return degree;
  };
  const std::uint32_t tp = part(8), pp = part(8);
  const bool tied = draw.coin();
  std::string text = fmt::format(
      "workload:\n  kind: transformer\n  model: {{layers: 8, hidden: {}, heads: 16, ffn: 4096, vocabulary: 32000, "
      "sequence: {}, gated: {}, tied_embeddings: {}}}\n",
      draw.of({512, 1024, 2048}), draw.of({256, 1024}), draw.coin(), tied);
  text += fmt::format(
      "  parallel: {{tp: {}, pp: {}, dp: {}, schedule: {}, sequence_parallel: {}, zero_stage: {}, "
      "overlap_grad_reduce: {}}}\n",
      tp, pp, rest, pp > 1 ? draw.of({"1f1b", "gpipe", "zb_h1"}) : "1f1b", tp > 1 && draw.coin(), draw.of({0, 1}),
      draw.coin());
  return text + fmt::format(
                    "  global_batch: {}\n  micro_batch: {}\n  precision: bf16\n  attention: {}\n  recompute: {}\n"
                    "  software: {}\n  steps: {}\n",
                    rest * draw.of({2U, 4U, 8U}), draw.of({1, 2}), draw.of({"flash", "unfused"}), draw.of({"none", "full"}),
                    draw.of({"cuda_graphs", "pytorch_eager"}), draw.of({1, 2, 3}));
}

std::string linear_blocks(Draw& draw, std::uint32_t nodes) {
  const std::uint32_t tp = draw.of({1U, 2U, 4U, 8U});
  const std::uint32_t pp = nodes % 2 == 0 ? draw.of({1U, 2U}) : 1U;
  const std::uint32_t rest = 8 / tp;
  const bool sparse = rest > 1 && draw.coin();
  return fmt::format(
      "workload: {{kind: linear_blocks, hidden: {}, ff: {}, blocks: 4, batch_tokens: {}, microbatches: {}, tp_ff: [{}, 1], "
      "tp_hidden: [1, 1], ep: [{}, 1], pp: [1, {}], dp: [{}, {}], experts: {}, active_experts: {}, schedule: {}, "
      "tp_all_reduce: {}, defer_weight_gradients: {}, steps: {}}}\n",
      draw.of({1024, 4096}), draw.of({4096, 20000}), draw.of({8192, 65536}), draw.of({2, 4}), tp, sparse ? rest : 1, pp,
      sparse ? 1 : rest, nodes / pp, sparse ? rest * 2 : 1, sparse ? 2 : 1, draw.of({"1f1b", "gpipe"}),
      draw.of({"ring", "direct"}), draw.coin(), draw.of({1, 2}));
}

std::string collective(Draw& draw) {
  const auto [kind, algorithm] = draw.of({std::pair{"all_reduce", "ring"},
                                          {"all_reduce", "direct"},
                                          {"all_reduce", "tree"},
                                          {"all_gather", "ring"},
                                          {"reduce_scatter", "direct"},
                                          {"all_to_all", "direct"},
                                          {"all_to_all", "pairwise"},
                                          {"broadcast", "chain"}});
  return fmt::format("workload: {{kind: collective, collective: {}, algorithm: {}, bytes: {}, iterations: {}, steps: {}}}\n",
                     kind, algorithm, draw.of({"1 kB", "1 MB", "64 MB"}), draw.of({1, 3}), draw.of({1, 2}));
}

}  // namespace

Scenario random_scenario(std::uint64_t seed) {
  Draw draw{seed};
  const std::uint32_t nodes = draw.of({1U, 2U, 4U});
  std::string text = cluster(draw, nodes);
  switch (draw.of({0, 0, 1, 1, 2})) {
    case 0:
      text += transformer(draw, nodes * 8);
      break;
    case 1:
      text += linear_blocks(draw, nodes);
      break;
    default:
      text += collective(draw);
  }
  return load_text(std::move(text), fmt::format("random scenario {}", seed));
}

}  // namespace traingraph::scenarios
