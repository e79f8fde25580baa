// PipelineMap: which part of the model each chunk of each pipeline stage holds, and where its activations come from and go.
//
// A model is a row of positions 0, 1, ...; position k+1 takes the hidden states of position k. P stages of v chunks:
//   looped         chunk c of stage s is position c·P + s (Megatron-LM's interleaving; v = 1: a plain pipeline). The last
//                  stage hands on to the first.
//   v_shape        two chunks: positions s and 2P-1-s (ZB-V). The last stage hands on to itself, so that embedding and loss
//                  are on stage 0.
//   bidirectional  two chunks, each a part of a whole model of P positions: s and P-1-s (DualPipe). Chunk 1 runs from the
//                  last stage to the first; each position exists twice, on stages s and P-1-s.
#pragma once

#include <cstdint>

#include "workloads/workload_spec.h"

namespace traingraph::workloads {

/// The peer of a hand-off, seen from a stage.
enum class Peer : std::uint8_t {
  none,      ///< an end of the model
  itself,    ///< another chunk of the same stage: nothing is sent
  next,      ///< stage s+1 (looped: modulo P)
  previous,  ///< stage s-1
};

class PipelineMap {
 public:
  enum class Form : std::uint8_t { looped, v_shape, bidirectional };

  /// `virtual_stages` is v of a looped pipeline; the other forms have two chunks.
  PipelineMap(ScheduleKind kind, std::uint32_t stages, std::uint32_t virtual_stages);
  /// Of the whole layout.
  explicit PipelineMap(const ParallelSpec& spec) : PipelineMap{spec.schedule, spec.pp, spec.virtual_stages} {}

  [[nodiscard]] Form form() const { return form_; }
  [[nodiscard]] std::uint32_t stages() const { return stages_; }
  [[nodiscard]] std::uint32_t chunks() const { return chunks_; }        ///< of a stage
  [[nodiscard]] std::uint32_t positions() const { return positions_; }  ///< of the model
  /// How many stages hold the same position: 2 when bidirectional.
  [[nodiscard]] std::uint32_t copies() const { return form_ == Form::bidirectional ? 2 : 1; }

  [[nodiscard]] std::uint32_t position(std::uint32_t stage, std::uint32_t chunk) const;
  [[nodiscard]] bool is_first(std::uint32_t stage, std::uint32_t chunk) const { return position(stage, chunk) == 0; }
  [[nodiscard]] bool is_last(std::uint32_t stage, std::uint32_t chunk) const {
    return position(stage, chunk) + 1 == positions_;
  }
  /// Whether some chunk of the stage is the model's first (last) position.
  [[nodiscard]] bool holds_first(std::uint32_t stage) const;
  [[nodiscard]] bool holds_last(std::uint32_t stage) const;
  /// Embedding and LM head are on the same stage, so that a tied table exists once.
  [[nodiscard]] bool ends_meet() const { return holds_last(0); }

  /// Who sends the chunk's forward input, and who gets its output; gradients go the other way.
  [[nodiscard]] Peer input(std::uint32_t stage, std::uint32_t chunk) const;
  [[nodiscard]] Peer output(std::uint32_t stage, std::uint32_t chunk) const;

 private:
  Form form_ = Form::looped;
  std::uint32_t stages_ = 1;
  std::uint32_t chunks_ = 1;
  std::uint32_t positions_ = 1;
};

}  // namespace traingraph::workloads
