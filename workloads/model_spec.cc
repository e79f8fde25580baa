#include "workloads/model_spec.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

void require_positive(std::uint32_t value, const char* field) {
  if (value == 0) throw sim::InputError{fmt::format("model: {} must be at least 1", field)};
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
}

std::uint64_t layer_parameter_count(const ModelSpec& m) {
  const std::uint64_t h = m.hidden;
  const std::uint64_t f = m.ffn;
  const std::uint64_t d = m.head_dimension();
  const std::uint64_t qkv = (m.heads + 2ULL * m.kv_head_count()) * d;
  const std::uint64_t up = (m.gated ? 2 : 1) * f;
  const std::uint64_t weights = h * qkv + m.heads * d * h + h * up + f * h;
  const std::uint64_t biases = m.bias ? qkv + h + up + h : 0;
  const std::uint64_t norms = 2 * (m.norm == Norm::layernorm ? 2 * h : h);
  return weights + biases + norms;
}

std::uint64_t parameter_count(const ModelSpec& m) {
  const std::uint64_t h = m.hidden;
  const std::uint64_t table = m.vocabulary * h;
  const std::uint64_t positions = m.position == Position::learned ? m.sequence * h : 0;
  const std::uint64_t final_norm = m.norm == Norm::layernorm ? 2 * h : h;
  return m.layers * layer_parameter_count(m) + table + positions + final_norm + (m.tied_embeddings ? 0 : table);
}

}  // namespace traingraph::workloads
