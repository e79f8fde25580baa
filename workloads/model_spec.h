// ModelSpec: a decoder-only transformer, dense or with experts, by its published shape. One letter, one meaning: h hidden, f
// FFN, A attention heads of size d, G key/value heads, s sequence, V vocabulary, n_l layers.
//
// Parameters of one layer: attention h(A+2G)d + A·d·h, MLP 2hf (gated 3hf), two norms of h (layernorm: 2h), and with `bias`
// one bias per output of each product. An MoE layer has a router hE, E experts and the shared ones instead of the MLP.
// Outside the layers: embedding V·h, learned positions of s rows (or as many as said) of h, final norm, a norm of the
// embedding where there is one (BLOOM), and an LM head of V·h unless the embedding is tied
// to it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "workloads/enum_names.h"

namespace traingraph::workloads {

enum class Norm : std::uint8_t { layernorm, rmsnorm };
inline constexpr std::array kNormNames{EnumName<Norm>{Norm::layernorm, "layernorm"},
                                       EnumName<Norm>{Norm::rmsnorm, "rmsnorm"}};
[[nodiscard]] constexpr std::span<const EnumName<Norm>> enum_names(Norm) { return kNormNames; }

enum class Position : std::uint8_t { none, learned, rotary };
inline constexpr std::array kPositionNames{EnumName<Position>{Position::none, "none"},
                                           EnumName<Position>{Position::learned, "learned"},
                                           EnumName<Position>{Position::rotary, "rotary"}};
[[nodiscard]] constexpr std::span<const EnumName<Position>> enum_names(Position) { return kPositionNames; }

/// Mixture of experts: in MoE layers the MLP is E experts, of which a router chooses K for each token. Experts have no
/// biases.
struct MoeSpec {
  std::uint32_t experts = 0;            ///< E; 0: a dense model
  std::uint32_t experts_per_token = 0;  ///< K
  std::uint32_t ffn = 0;                ///< inner size of one expert
  std::uint32_t shared_ffn = 0;         ///< inner sizes of the experts that every token passes, summed; no biases
  std::uint32_t dense_layers = 0;       ///< the first layers, which have an ordinary MLP
  std::uint32_t every = 1;              ///< of the others, every so-manieth is an MoE layer, beginning with the `every`th
};

struct ModelSpec {
  std::string name;
  std::uint32_t layers = 0;      ///< n_l
  std::uint32_t hidden = 0;      ///< h
  std::uint32_t heads = 0;       ///< A
  std::uint32_t kv_heads = 0;    ///< G; 0: equal to heads
  std::uint32_t head_size = 0;   ///< d; 0: hidden / heads
  std::uint32_t ffn = 0;         ///< f
  std::uint32_t vocabulary = 0;  ///< V, before padding
  std::uint32_t sequence = 0;    ///< s, tokens of one sequence
  bool gated = false;            ///< SwiGLU: three matrices in the MLP
  bool bias = true;              ///< biases in the products
  bool dropout = true;           ///< dropout after attention and MLP (and on attention scores): traffic and masks
  bool causal = true;            ///< fused attention kernels skip the masked half
  bool tied_embeddings = true;   ///< the LM head uses the embedding's table
  Norm norm = Norm::layernorm;
  Position position = Position::learned;
  std::uint32_t position_rows = 0;  ///< of the table of learned positions; 0: sequence (OPT has two more)
  bool embedding_norm = false;      ///< a norm between embedding and first layer (BLOOM)
  MoeSpec moe;

  [[nodiscard]] bool is_moe_layer(std::uint32_t layer) const {
    return moe.experts > 0 && layer >= moe.dense_layers && (layer - moe.dense_layers + 1) % moe.every == 0;
  }
  [[nodiscard]] std::uint32_t moe_layers() const {
    return moe.experts == 0 || layers < moe.dense_layers ? 0 : (layers - moe.dense_layers) / moe.every;
  }
  /// Rows of the table of learned positions; 0 without one.
  [[nodiscard]] std::uint32_t learned_positions() const {
    return position != Position::learned ? 0 : position_rows == 0 ? sequence : position_rows;
  }
  [[nodiscard]] std::uint32_t kv_head_count() const { return kv_heads == 0 ? heads : kv_heads; }
  [[nodiscard]] std::uint32_t head_dimension() const {
    return head_size == 0 ? (heads == 0 ? 0 : hidden / heads) : head_size;
  }
};

/// Throws sim::InputError naming the field that makes no sense (zero sizes, hidden not divisible by heads without head_size,
/// heads not divisible by kv_heads).
void check_model(const ModelSpec& model);

/// Number of weights with the vocabulary as published (no padding).
[[nodiscard]] std::uint64_t parameter_count(const ModelSpec& model);
/// Of those, the weights that one token passes: K experts of each MoE layer. The same for a dense model.
[[nodiscard]] std::uint64_t active_parameter_count(const ModelSpec& model);
/// Weights of one dense layer.
[[nodiscard]] std::uint64_t layer_parameter_count(const ModelSpec& model);
/// Weights of one MoE layer with `experts` of its experts.
[[nodiscard]] std::uint64_t moe_layer_parameter_count(const ModelSpec& model, std::uint32_t experts);

}  // namespace traingraph::workloads
