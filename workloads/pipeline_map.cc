#include "workloads/pipeline_map.h"

namespace traingraph::workloads {
namespace {

PipelineMap::Form form_of(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::zb_v:
      return PipelineMap::Form::v_shape;
    case ScheduleKind::dualpipe:
      return PipelineMap::Form::bidirectional;
    default:
      return PipelineMap::Form::looped;
  }
}

}  // namespace

PipelineMap::PipelineMap(ScheduleKind kind, std::uint32_t stages, std::uint32_t virtual_stages)
    : form_{form_of(kind)}, stages_{stages}, chunks_{form_ == Form::looped ? virtual_stages : 2} {
  positions_ = form_ == Form::bidirectional ? stages_ : stages_ * chunks_;
}

std::uint32_t PipelineMap::position(std::uint32_t stage, std::uint32_t chunk) const {
  if (form_ == Form::looped) return chunk * stages_ + stage;
  return chunk == 0 ? stage : positions_ - 1 - stage;
}

bool PipelineMap::holds_first(std::uint32_t stage) const {
  for (std::uint32_t c = 0; c < chunks_; ++c) {
    if (is_first(stage, c)) return true;
  }
  return false;
}

bool PipelineMap::holds_last(std::uint32_t stage) const {
  for (std::uint32_t c = 0; c < chunks_; ++c) {
    if (is_last(stage, c)) return true;
  }
  return false;
}

Peer PipelineMap::input(std::uint32_t stage, std::uint32_t chunk) const {
  if (is_first(stage, chunk)) return Peer::none;
  if (stages_ == 1) return Peer::itself;
  if (form_ == Form::looped || chunk == 0) return Peer::previous;
  return stage + 1 == stages_ ? Peer::itself : Peer::next;
}

Peer PipelineMap::output(std::uint32_t stage, std::uint32_t chunk) const {
  if (is_last(stage, chunk)) return Peer::none;
  if (stages_ == 1) return Peer::itself;
  if (form_ == Form::looped) return Peer::next;
  if (chunk == 1) return Peer::previous;
  return stage + 1 == stages_ ? Peer::itself : Peer::next;
}

}  // namespace traingraph::workloads
