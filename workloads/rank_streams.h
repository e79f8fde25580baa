// RankStreams: writes the operations of one role into a sim::Template, stream by stream, and keeps the books on
// dependencies.
//
// Work is issued in the order of the calls, as a host issues it. The compute stream waits for everything issued on the
// blocking stream before it (unless told otherwise), and for other streams only where require() says so; what it has once
// waited for is not listed again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/program.h"

namespace traingraph::workloads {

enum class Stream : std::uint16_t {
  compute,       ///< kernels
  blocking,      ///< collectives that the next kernel waits for: TP, gradient norm
  forward_send,  ///< pipeline hand-offs
  forward_receive,
  backward_send,
  backward_receive,
  data,    ///< data-parallel collectives, beside compute
  host,    ///< the CPU that launches kernels
  gather,  ///< gathers of sharded parameters, beside compute and `data`
};
inline constexpr std::size_t kStreams = 9;

class RankStreams {
 public:
  /// A new template. It has the streams up to the last one used, at least those before the host's.
  RankStreams(std::string name, std::uint32_t slots);

  /// Micro-batch and layer written beside the operations that follow; -1: none.
  void at(std::int32_t microbatch, std::int32_t layer);

  /// An operation of the compute stream: a kernel (or a marker). It need not wait for the last `may_overlap` operations
  /// issued on the blocking stream.
  void compute(std::uint16_t label, std::uint32_t duration, std::uint32_t may_overlap = 0);
  void marker(std::uint16_t label);
  /// The next compute operation waits for the first `count` operations of a stream.
  void require(Stream stream, std::uint32_t count);
  void require_all(Stream stream) { require(stream, length(stream)); }

  /// An operation of another stream. It waits for everything issued on the compute stream so far, and on `also` so far; on
  /// the blocking stream also for the receives that the next compute operation is required to wait for.
  void collective(Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t collective,
                  std::initializer_list<Stream> also = {});
  void send(Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t message);
  /// A receive waits for nothing but the receive before it.
  void receive(Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t message);
  /// The host's time for a group of launches; with `synchronized` it starts after all compute issued so far and after
  /// `also`.
  void host(std::uint16_t label, std::uint32_t duration, bool synchronized, std::initializer_list<Stream> also = {});

  [[nodiscard]] std::uint32_t length(Stream stream) const { return lengths_[static_cast<std::size_t>(stream)]; }
  [[nodiscard]] sim::Template take() { return std::move(template_); }

 private:
  void add(sim::OpKind kind, Stream stream, std::uint16_t label, std::uint16_t slot, std::uint32_t argument);
  void depend_on(Stream stream, std::uint32_t count);
  void collect_for_compute(std::uint32_t may_overlap);

  sim::Template template_;
  std::array<std::uint32_t, kStreams> lengths_{};
  std::array<std::uint32_t, kStreams> required_{};  // by the next compute operation
  std::array<std::uint32_t, kStreams> waited_{};    // by some compute operation already
  std::vector<sim::Dependency> needs_;
  std::int32_t microbatch_ = -1;
  std::int32_t layer_ = -1;
};

}  // namespace traingraph::workloads
