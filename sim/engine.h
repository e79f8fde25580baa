// Engine: plays a Program on a network model. One template instance per network model (FlowModel, IdealModel, ChunkModel;
// the contract is in flow_model.h), so the hot loop has no virtual call but the collective algorithm's.
//
// The loop. All events of one instant are handled to a fixed point (ends, arrivals, capacity changes, operations without
// duration), then collectives whose way of playing was left open are decided, then the network is solved once.
//
// The last of several steps is reported as one of many: the step after it is played beside it, until every rank's stream 0
// is known to the window's end. Its operations, transfers and collectives are neither counted nor traced.
//
// A rank's state is one counter per stream. A blocked stream waits on exactly one other stream (the first unmet dependency)
// and is looked at again when that stream completes an operation.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/causes.h"
#include "sim/clock_range.h"
#include "sim/collective_plans.h"
#include "sim/error.h"
#include "sim/event_queue.h"
#include "sim/options.h"
#include "sim/path_cache.h"
#include "sim/program.h"
#include "sim/record.h"
#include "sim/step_state.h"
#include "sim/stuck.h"
#include "sim/time_account.h"
#include "sim/timeline.h"

namespace traingraph::sim {

template <class Model>
class Engine {
 public:
  Engine(const LinkTable& links, const Router& router, const Program& program, const RunOptions& options, TraceSink* trace)
      : program_{program},
        options_{options},
        trace_tasks_{trace != nullptr && trace->wants_tasks() ? trace : nullptr},
        trace_transfers_{trace != nullptr && trace->wants_transfers() ? trace : nullptr},
        router_{router},
        mirrored_{options.network != NetworkModel::chunk && program.link_changes.empty()},
        paths_{options.network == NetworkModel::chunk},
        cache_{router, paths_, mirrored_},
        plans_{links, program, options, paths_, cache_},
        model_{links, paths_, queue_, options},
        account_{program.ranks.size()} {
    prepare();
  }

  Record run();

 private:
  enum class Status : std::uint8_t { idle, queued, running, blocked, finished };
  enum class Mode : std::uint8_t { undecided, step, staggered, bulk };
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// Why an operation could end when it did: a node of the causes, when the part that matters began, and by how much
  /// its cause came later than anything else.
  struct Cause {
    Causes::Node parent = Causes::kNone;
    Time start;
    Duration slack;
  };
  struct Stream {
    std::uint32_t rank = 0;
    std::uint32_t stream = 0;
    std::uint32_t step = 0;
    std::uint32_t position = 0;         // completed operations of this step; the next one's position
    std::uint32_t run_end = 0;          // while running compute: one past the run
    std::uint32_t waiters = kNone;      // streams of this rank blocked on this one
    std::uint32_t next_waiter = kNone;  // in the one list in which this stream waits
    std::uint32_t released_by = kNone;
    std::uint32_t last_label = 0;
    std::uint32_t instance = kNone;  // in which it takes part, staggered
    Status status = Status::idle;
    Causes::Node node = Causes::kNone;   // of the last completed operation
    Causes::Node cause = Causes::kNone;  // of what released the running one (held)
    Duration slack;                      // of that release
    Time last_end;
    Time last_data_start;  // when the last completed operation's data began to move
    Time start;
  };
  struct Flight {
    enum class Kind : std::uint8_t { message, step, bulk };
    Kind kind = Kind::message;
    std::uint32_t owner = 0;  // message: sending stream; else instance
    std::uint32_t lane = 0;   // message: channel; bulk: edge's lane
    std::uint32_t inbox = 0;
    bool to_all = false;
    bool after = false;  // of the step after the last one
    PathId path{};
    std::uint32_t label = 0;
    std::uint32_t place = 0;  // in the rank's program, of the operation behind it
    Bytes bytes;
    Time posted;
    Time drained;
    Causes::Node cause = Causes::kNone;  // message: what released the send (held)
    Duration slack;                      // message: of that release
    RankId source{};                     // set only when transfers are traced
    RankId destination{};
  };
  struct Instance {
    CollectivePlan* plan = nullptr;
    const StaggeredRing* ring = nullptr;  // staggered
    std::uint32_t sequence = 0;
    std::uint32_t label = 0;
    std::uint32_t place = 0;
    Mode mode = Mode::undecided;
    bool exact = false;    // bulk, and exact by construction
    bool after = false;    // of the step after the last one
    bool awaited = false;  // had begun when the window ended: what it carried there is told at its end
    std::uint32_t entered = 0;
    std::uint32_t finished = 0;
    std::uint32_t outstanding = 0;  // bulk transfers still draining
    Time begun;                     // bulk: its transfers began to drain
    Time last_entry;
    Causes::Node last_cause = Causes::kNone;  // what released the last member to enter (held)
    Duration slack;                           // by how much that came later than anything else
    std::uint32_t newer = kNone;              // the communicator's next running instance
    std::vector<std::uint32_t> streams;       // by member; kNone until it enters
    std::vector<Time> entries;                // staggered: by member
    StepState state;
  };
  struct CommunicatorState {
    std::uint32_t first_call = 0;  // into calls_: of member 0
    std::uint32_t oldest = kNone;  // running instances, linked by `newer`
    std::uint32_t newest = kNone;
  };
  struct Message {
    Time arrived;
    Causes::Node cause = Causes::kNone;  // held
    Duration slack;
    std::uint32_t next = kNone;  // of its channel, or of the free ones
  };
  struct ChannelState {
    std::uint32_t oldest = kNone;  // messages not yet received, linked by `next`
    std::uint32_t newest = kNone;
    std::uint32_t receiver = kNone;  // the streams that wait, oldest first, linked by next_waiter
    PathId path = CollectivePlan::kNoPath;
  };

  [[nodiscard]] const Template& role(const Stream& s) const {
    return program_.templates[program_.ranks[static_cast<RankId>(s.rank)].role];
  }
  [[nodiscard]] const Timeline& timeline(const Stream& s) const {
    return timelines_[index(program_.ranks[static_cast<RankId>(s.rank)].role)];
  }
  [[nodiscard]] const Op& current_op(const Stream& s) const { return role(s).ops[timeline(s).op_at(s.stream, s.position)]; }
  [[nodiscard]] const Slot& slot(const Stream& s, const Op& op) const {
    return program_.slots[program_.ranks[static_cast<RankId>(s.rank)].first_slot + op.slot];
  }
  [[nodiscard]] Duration scaled(const Stream& s, std::uint32_t begin, std::uint32_t end) const;

  void prepare();
  void handle(const Event& event);
  void take_completions();
  void queue_stream(std::uint32_t stream, std::uint32_t released_by);
  void drain_ready();
  void advance(std::uint32_t stream);
  void start_op(std::uint32_t stream);
  void complete(std::uint32_t stream, std::uint32_t count, Time data_start, Cause cause);
  void end_step(std::uint32_t stream, std::uint32_t step);
  void end_window();
  void complete_plain(std::uint32_t stream, std::uint32_t count);
  void account_run(const Stream& s, std::uint32_t count, Time data_start);

  std::uint32_t take_flight(Flight flight);
  void post(std::uint32_t flight);
  void begin_drain(std::uint32_t flight);
  void left_wire(std::uint32_t flight);
  void arrive(std::uint32_t flight);

  void start_send(std::uint32_t stream, const Op& op);
  void start_receive(std::uint32_t stream, const Op& op);
  void finish_receive(std::uint32_t stream, ChannelState& channel, Time begun);
  void put_message(ChannelState& channel, const Message& message);
  [[nodiscard]] Message take_message(ChannelState& channel);

  void enter_collective(std::uint32_t stream, const Op& op);
  [[nodiscard]] std::uint32_t instance_for(std::uint32_t stream, const Op& op, const Slot& at);
  [[nodiscard]] std::uint32_t new_instance(std::uint32_t stream, const Op& op, const Slot& at, std::uint32_t sequence);
  static void begin_steps(Instance& instance);
  void decide_open_modes();
  void play_steps(std::uint32_t instance, std::uint32_t member);
  void deliver_step(const Flight& flight);
  void note_ends(Flight& flight, std::uint32_t source_member, std::uint32_t destination_member) const;
  void post_send(std::uint32_t instance, std::uint32_t lane, std::uint32_t number);
  void start_staggered(std::uint32_t instance);
  void end_staggered(std::uint32_t stream);
  void record_staggered(const Instance& instance);
  void start_bulk(std::uint32_t instance);
  void charge_bulk(std::uint32_t instance);
  void end_bulk(std::uint32_t instance);
  void record_exact_bulk(const Instance& instance);
  void finish_member(std::uint32_t instance, std::uint32_t member);
  void retire(std::uint32_t instance);

  void record_mirrored(Record& record) const;
  void write_critical_path(Record& record) const;
  [[nodiscard]] std::string explain_stuck() const;
  [[nodiscard]] std::string explain_wait(std::uint32_t stream) const;
  void check_cancelled() const;
  void report_progress();

  const Program& program_;
  const RunOptions& options_;
  TraceSink* trace_tasks_;
  TraceSink* trace_transfers_;
  EventQueue queue_;
  const Router& router_;
  bool mirrored_;  // links that another one mirrors are not simulated
  PathTable paths_;
  PathCache cache_;
  CollectivePlans plans_;
  Model model_;
  TimeAccount account_;
  Causes causes_;

  Time now_;
  std::vector<Timeline> timelines_;  // by template
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> ready_;
  std::uint32_t played_steps_ = 0;       // one more than the program's: the last one has a next step beside it
  std::uint64_t unknown_ = 0;            // streams and collectives whose part in the window that has ended is not known
  std::vector<std::uint64_t> open_ops_;  // by step
  std::uint64_t total_ops_ = 0;
  std::uint64_t done_ops_ = 0;
  Causes::Node last_node_ = Causes::kNone;  // of the operation that ended the last step (held)

  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<ChannelState> channels_;
  std::vector<Message> messages_;
  std::uint32_t free_message_ = kNone;
  std::vector<CommunicatorState> communicators_;
  std::vector<std::uint32_t> calls_;  // by communicator and member: sequence number of the next call
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<std::uint32_t> free_instances_;
  std::vector<std::uint32_t> undecided_;
  bool bulk_allowed_ = false;  // automatic: inexact_transfers exceed step_limit
  double planned_steps_ = 0;   // automatic: transfers that are, or will be, played in steps
  Record record_;
};

}  // namespace traingraph::sim

#include "sim/engine_collectives.inl"
#include "sim/engine_operations.inl"
#include "sim/engine_run.inl"
