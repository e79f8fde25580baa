#include "workloads/rank_streams.h"

#include <algorithm>
#include <utility>

#include "sim/error.h"

namespace traingraph::workloads {

RankStreams::RankStreams(std::string name, std::uint32_t slots) {
  template_.name = std::move(name);
  template_.slots = slots;
  template_.streams = static_cast<std::uint32_t>(Stream::host);
}

void RankStreams::at(std::int32_t microbatch, std::int32_t layer) {
  microbatch_ = microbatch;
  layer_ = layer;
}

void RankStreams::depend_on(Stream stream, std::uint32_t count) {
  if (count > 0) needs_.push_back({static_cast<std::uint32_t>(stream), count - 1});
}

void RankStreams::add(sim::OpKind kind, Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t argument) {
  sim::Op op;
  op.kind = kind;
  op.label = label;
  op.stream = static_cast<std::uint16_t>(stream);
  template_.streams = std::max(template_.streams, std::uint32_t{op.stream} + 1);
  op.slot = slot;
  op.argument = argument;
  op.microbatch = microbatch_;
  op.layer = layer_;
  template_.add(op, needs_);
  ++lengths_[static_cast<std::size_t>(stream)];
  needs_.clear();
}

void RankStreams::collect_for_compute(std::uint32_t may_overlap) {
  constexpr auto kBlocking = static_cast<std::size_t>(Stream::blocking);
  SIM_ASSERT(may_overlap <= lengths_[kBlocking], "a kernel overlaps with collectives that were issued");
  required_[kBlocking] = lengths_[kBlocking] - may_overlap;
  for (std::size_t s = 1; s < kStreams; ++s) {
    if (required_[s] <= waited_[s]) continue;
    depend_on(static_cast<Stream>(s), required_[s]);
    waited_[s] = required_[s];
  }
}

void RankStreams::compute(std::uint16_t label, std::uint32_t duration, std::uint32_t may_overlap) {
  collect_for_compute(may_overlap);
  add(sim::OpKind::compute, Stream::compute, label, 0, duration);
}

void RankStreams::marker(std::uint16_t label) {
  collect_for_compute(0);
  add(sim::OpKind::marker, Stream::compute, label, 0, 0);
}

void RankStreams::require(Stream stream, std::uint32_t count) {
  auto& required = required_[static_cast<std::size_t>(stream)];
  required = std::max(required, count);
}

void RankStreams::collective(Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t collective,
                             std::initializer_list<Stream> also) {
  depend_on(Stream::compute, length(Stream::compute));
  for (const Stream s : also) depend_on(s, length(s));
  if (stream == Stream::blocking) {  // it may be the first to touch what a pass has received
    for (const Stream s : {Stream::forward_receive, Stream::backward_receive}) {
      const auto at = static_cast<std::size_t>(s);
      if (required_[at] > waited_[at]) depend_on(s, required_[at]);
    }
  }
  add(sim::OpKind::collective, stream, label, slot, collective);
}

void RankStreams::send(Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t message) {
  depend_on(Stream::compute, length(Stream::compute));
  const auto blocking = static_cast<std::size_t>(Stream::blocking);
  if (lengths_[blocking] > waited_[blocking]) depend_on(Stream::blocking, lengths_[blocking]);
  add(sim::OpKind::send, stream, label, slot, message);
}

void RankStreams::receive(Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t message) {
  add(sim::OpKind::receive, stream, label, slot, message);
}

void RankStreams::host(std::uint16_t label, std::uint32_t duration, bool synchronized, std::initializer_list<Stream> also) {
  if (synchronized) depend_on(Stream::compute, length(Stream::compute));
  for (const Stream s : also) depend_on(s, length(s));
  add(sim::OpKind::compute, Stream::host, label, 0, duration);
}

}  // namespace traingraph::workloads
