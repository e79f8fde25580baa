#include "workloads/model_spec.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

void require_positive(std::uint32_t value, const char* field) {
  if (value == 0) throw sim::InputError{fmt::format("model: {} must be at least 1", field)};
}

std::uint64_t attention_and_norms(const ModelSpec& m) {
  const std::uint64_t h = m.hidden;
  const std::uint64_t d = m.head_dimension();
  const std::uint64_t qkv = (m.heads + 2ULL * m.kv_head_count()) * d;
  const std::uint64_t norms = 2 * (m.norm == Norm::layernorm ? 2 * h : h);
  return h * qkv + m.heads * d * h + (m.bias ? qkv + h : 0) + norms;
}

}  // namespace

void check_model(const ModelSpec& m) {
  require_positive(m.layers, "layers");
  require_positive(m.hidden, "hidden");
  require_positive(m.heads, "heads");
  require_positive(m.ffn, "ffn");
  require_positive(m.vocabulary, "vocabulary");
  require_positive(m.sequence, "sequence");
  if (m.head_size == 0 && m.hidden % m.heads != 0) {
    throw sim::InputError{fmt::format("model: hidden {} is not divisible by {} heads; state head_size", m.hidden, m.heads)};
  }
  if (m.heads % m.kv_head_count() != 0) {
    throw sim::InputError{fmt::format("model: {} heads are not divisible by {} kv_heads", m.heads, m.kv_heads)};
  }
  if (m.position_rows != 0 && (m.position != Position::learned || m.position_rows < m.sequence)) {
    throw sim::InputError{
        fmt::format("model: position_rows is {}; allowed: {} or more, one for each token, and only with learned positions",
                    m.position_rows, m.sequence)};
  }
  const MoeSpec& moe = m.moe;
  if (moe.experts == 0) return;
  require_positive(moe.ffn, "moe.ffn");
  require_positive(moe.every, "moe.every");
  if (moe.experts_per_token == 0 || moe.experts_per_token > moe.experts) {
    throw sim::InputError{
        fmt::format("model: moe.experts_per_token is {}; allowed: 1 to the {} experts", moe.experts_per_token, moe.experts)};
  }
  if (m.moe_layers() == 0) throw sim::InputError{"model: moe.dense_layers and moe.every leave no MoE layer"};
}

std::uint64_t layer_parameter_count(const ModelSpec& m) {
  const std::uint64_t h = m.hidden;
  const std::uint64_t up = (m.gated ? 2 : 1) * std::uint64_t{m.ffn};
  return attention_and_norms(m) + h * up + m.ffn * h + (m.bias ? up + h : 0);
}

std::uint64_t moe_layer_parameter_count(const ModelSpec& m, std::uint32_t experts) {
  const std::uint64_t h = m.hidden;
  const std::uint64_t matrices = m.gated ? 3 : 2;
  const std::uint64_t inner = std::uint64_t{experts} * m.moe.ffn + m.moe.shared_ffn;
  return attention_and_norms(m) + h * m.moe.experts + matrices * h * inner;
}

namespace {

std::uint64_t count(const ModelSpec& m, std::uint32_t experts) {
  const std::uint64_t h = m.hidden;
  const std::uint64_t table = m.vocabulary * h;
  const std::uint64_t positions = m.learned_positions() * h;
  const std::uint64_t norms = (m.embedding_norm ? 2 : 1) * (m.norm == Norm::layernorm ? 2 * h : h);
  const std::uint64_t moe_layers = m.moe_layers();
  const std::uint64_t layers =
      (m.layers - moe_layers) * layer_parameter_count(m) + moe_layers * moe_layer_parameter_count(m, experts);
  return layers + table + positions + norms + (m.tied_embeddings ? 0 : table);
}

}  // namespace

std::uint64_t parameter_count(const ModelSpec& m) { return count(m, m.moe.experts); }
std::uint64_t active_parameter_count(const ModelSpec& m) { return count(m, m.moe.experts_per_token); }

}  // namespace traingraph::workloads
