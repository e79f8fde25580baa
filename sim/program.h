// Program: what the ranks do, as the engine plays it.
//
// Ranks with the same role (pipeline stage, position) share one Template: a list of operations on in-order streams, as CUDA
// streams are. A rank adds only its endpoint, the communicators and channels behind the template's slots, and its compute
// scale; so a program of 10^7 tasks is a few templates of 10^4 operations. Nothing here assumes that one rank is one GPU: in
// a symmetry-reduced run a rank stands for a class.
//
// Semantics
// - An operation starts when its stream's previous operation has ended and every dependency has ended. A dependency names a
//   stream of the same rank and a position in it: "wait until that stream has completed `position`+1 operations of this
//   step". Streams are in order, so a rank's whole state is one counter per stream.
// - Compute: occupies its stream for `duration` (scaled by the rank's compute_scale).
// - Collective: joins the next instance of a communicator. Calls match by order on the communicator, as in NCCL; members
// that
//   call different operations, or never arrive, end the run with an error naming them.
// - Send: a transfer on a channel (eager: it needs no posted receive); the operation ends when the bytes have left the wire.
// - Receive: ends when the channel's next message has arrived.
// - Marker: takes no time; joins streams.
// - The template is played `steps` times, and where that is more than once the beginning of one more time, so that the last
//   step is a steady one; dependencies reach into the same step only, streams carry over in order.
//   Stream 0 is the compute stream, whose time is split into categories.
//
// Time split: every picosecond of a rank's stream 0 in a step's window belongs to one category: that of the operation
// running, or, in a gap, that of the operation whose end released the next one (its `late_category` for the part of the gap
// before that operation's data had begun to move: a pipeline bubble, in contrast to waiting for the wire).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/ids.h"
#include "sim/transfer_source.h"
#include "sim/units.h"

namespace traingraph::sim {

enum class OpKind : std::uint8_t { compute, collective, send, receive, marker };

/// Index into Program::categories.
using Category = std::uint8_t;
inline constexpr std::size_t kMaxCategories = 24;

/// What is written beside an operation in traces and tables; shared by many operations.
struct OpLabel {
  std::string name;            ///< "qkv_gemm", "tp_all_reduce", ...
  Category category = 0;       ///< charged while it runs on stream 0, and for gaps that its end releases
  Category late_category = 0;  ///< charged for the part of such a gap before its data began to move
};

struct Dependency {
  std::uint32_t stream = 0;
  std::uint32_t position = 0;  ///< 0-based position in that stream, of the same step
};

/// One operation of a template. `argument` is a duration index (compute), a collective index (collective) or a message size
/// index (send, receive) into the Program's tables; `slot` an index into the rank's slots.
struct Op {
  OpKind kind = OpKind::marker;
  std::uint8_t dependencies = 0;
  std::uint16_t label = 0;
  std::uint16_t stream = 0;
  std::uint16_t slot = 0;
  std::uint32_t argument = 0;
  std::uint32_t first_dependency = 0;  ///< into Template::dependencies
  std::int32_t microbatch = -1;
  std::int32_t layer = -1;
};

/// The operations of one role, in program order; program order is the place that breaks ties between events.
struct Template {
  std::string name;  ///< "stage 3", ...
  std::uint32_t streams = 1;
  std::uint32_t slots = 0;
  std::vector<Op> ops;
  std::vector<Dependency> dependencies;

  /// Appends an operation and returns its position in its stream. `op.first_dependency` and `op.dependencies` are filled in.
  std::uint32_t add(Op op, std::span<const Dependency> needs);
  [[nodiscard]] std::uint32_t stream_length(std::uint32_t stream) const;

 private:
  std::vector<std::uint32_t> lengths_;
};

/// What is behind one slot of one rank: its membership of a communicator, or a channel.
struct Slot {
  std::uint32_t target = 0;  ///< CommunicatorId or ChannelId
  std::uint32_t member = 0;  ///< the rank's index in the communicator (unused for channels)
};

struct Rank {
  TemplateId role{};
  EndpointId endpoint{};
  std::uint32_t first_slot = 0;  ///< into Program::slots; the template says how many
  double compute_scale = 1.0;    ///< a slow GPU: durations are multiplied by it
  std::uint64_t multiplicity = 1;
};

struct Communicator {
  std::string name;             ///< "tp[3]": kind and index
  std::vector<RankId> members;  ///< in ring order
  std::uint32_t shape = 0;      ///< communicators of one shape share their TransferSources (size, domain structure)
};

struct Channel {
  RankId source{};
  RankId destination{};
  std::uint32_t weight = 1;  ///< fairness weight of its transfers
  Bandwidth cap;             ///< largest rate of one transfer; 0: none
};

/// One kind of collective call: the same for every communicator whose members issue it.
struct CollectiveSpec {
  std::string name;       ///< "all-reduce", ...
  std::string algorithm;  ///< "ring", ...
  Bytes bytes;            ///< the full buffer, as nccl-tests counts it
};

struct Program {
  std::vector<std::string> categories;  ///< names; index = Category
  Category idle_category = 0;           ///< a gap that nothing releases
  std::vector<OpLabel> labels;
  std::vector<Duration> durations;
  std::vector<Bytes> message_bytes;
  std::vector<CollectiveSpec> collectives;

  IdVector<TemplateId, Template> templates;
  IdVector<RankId, Rank> ranks;
  std::vector<Slot> slots;
  IdVector<CommunicatorId, Communicator> communicators;
  IdVector<ChannelId, Channel> channels;

  /// The algorithm that plays collective `collective` on a communicator of shape `shape` and `members` members. Called once
  /// per (collective, shape); the result is kept by the engine. Thread rule: must be safe to call from several simulations.
  std::function<std::shared_ptr<const TransferSource>(std::uint32_t collective, std::uint32_t shape,
                                                      std::span<const RankId> members)>
      source;

  std::uint32_t steps = 1;
  /// Further events: a link changes its capacity at a given time.
  struct LinkChange {
    Time at;
    LinkId link{};
    Bandwidth capacity;
  };
  std::vector<LinkChange> link_changes;

  /// Checks what the engine relies on (indices in range, members and slots agree); throws InternalError.
  void check() const;
};

}  // namespace traingraph::sim
