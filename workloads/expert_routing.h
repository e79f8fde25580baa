// ExpertRouting: how many tokens each expert of each MoE layer gets, and what that makes the members of an expert-parallel
// group send to each other.
//
// Every source rank sends the share p_e of its n·K routed tokens to expert e (n tokens of a micro-batch, K experts a token);
// the experts of a layer are dealt out over the EP ranks in order, E/EP each. Shares p of a layer sum to 1:
//   uniform   p_e = 1/E: a perfectly balanced router.
//   zipf      p proportional to 1/k^a, k = 1 .. E, the ranks k in an order drawn from (seed, layer): another one in each
//   layer. measured  a histogram that the scenario gives, the same in every layer.
// Shares are the same for every micro-batch and step: what varies faster averages out over a step's micro-batches.
//
// With a capacity factor c every expert processes, and is sent, exactly c times the balanced number of tokens: buffers are
// padded and tokens beyond them dropped (Fedus et al. 2021, "Switch Transformers", section 2.2).
//
// Node-limited routing (DeepSeek-V3 technical report 2024, section 3.2.2): a token's experts are on at most M scale-up
// domains. It crosses the network once for each of them, between ranks of the same place in their domains, and is then
// handed to its experts inside the domain.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "workloads/collectives/collectives.h"
#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// One micro-batch in one MoE layer, as one rank sees it.
struct ExpertLoad {
  std::vector<double> tokens;  ///< that each local expert gets, of the whole expert-parallel group
  double network_tokens = 0;   ///< node-limited: that this rank sends to domains, its own included; 0: not limited
  double sent_tokens = 0;      ///< that this rank sends, its own share included; ÷ TP with sequence parallelism
  /// Bytes between the members; none when balanced: an all-to-all of equal parts.
  std::shared_ptr<const BytesMatrix> dispatch, combine;

  [[nodiscard]] double received_tokens() const;
};

class ExpertRouting {
 public:
  /// The spec must have been checked and outlive the routing; `word`: bytes of an element.
  ExpertRouting(const TransformerSpec& spec, double word) : spec_{spec}, word_{word} {}

  /// Whether ranks of an expert-parallel group do different amounts of work.
  [[nodiscard]] bool is_uneven() const;
  /// Matrices of a layer are made once and shared by all ranks.
  [[nodiscard]] ExpertLoad load(std::uint32_t layer, std::uint32_t ep_rank);
  /// Shares of a layer's experts.
  [[nodiscard]] std::vector<double> shares(std::uint32_t layer) const;

 private:
  struct Matrices {
    std::shared_ptr<const BytesMatrix> dispatch, combine;
  };
  [[nodiscard]] Matrices make_matrices(const std::vector<double>& by_rank, double sent_bytes) const;

  const TransformerSpec& spec_;
  double word_;
  std::map<std::uint32_t, Matrices> matrices_;  // by layer
};

}  // namespace traingraph::workloads
