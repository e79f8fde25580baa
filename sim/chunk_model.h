// ChunkModel: transfers cut into chunks that are stored and forwarded link by link. The same contract as FlowModel, at the
// grain of chunks instead of fluids.
//
// - A transfer of S bytes is ceil(S/c) chunks of c bytes (the last one smaller). Each link serves the transfers that wait
//   for it round-robin, one chunk each. In general it is deficit round robin with a quantum of w f c for a transfer of
//   weight w that sends a fraction f of its bytes over the link: what is fair is the level of whole transfers, as in flow.
//   `fifo` order: the link serves the transfer whose first chunk came first, as long as a chunk of it waits (with c >= S:
//   whole messages, first come first served).
// - At most `window` bytes of a transfer are in flight, but always one chunk; the next chunk enters when one is delivered
//   (its sender learns that at once). Default: 2 c w a hop (hops of all routes) + rate alone x path latency. The weight is
//   in it because a turn of w chunks needs w chunks waiting.
// - A rate cap spaces the entries by c/cap.
// - Of several routes a chunk takes the one furthest behind its share (ties: the first listed).
// - A stage of several links is crossed in parallel: the chunk goes on when the slowest of them has delivered it.
// - The transfer has *left the wire* when its last chunk has left its first stage, *arrived* when its last chunk has.
//   Alone on h equal links, S a multiple of c: arrived after S/B + sum of latencies + (h-1) c/B.
//
// As chunks shrink, round robin with a window tends to max-min fairness of level (flow); fifo does not.
//
// Exactness: integer picoseconds; a busy link carries the fraction of a picosecond that rounding gave away over to its
// next chunk, so that m chunks back to back take m c/B to one picosecond. Of chunks that reach a link at one instant, those
// of the transfer that started first come first.
//
// Cost: one event per chunk and link (two where the link has latency), O(1) each but for stages of many links. Memory
// O(chunks in flight). Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flow_model.h"
#include "sim/load_recorder.h"
#include "sim/options.h"
#include "sim/path_table.h"
#include "sim/record.h"

namespace traingraph::sim {

class ChunkModel {
 public:
  static constexpr bool kReportsArrival = true;

  /// REQUIRES: `paths` keeps routes. Throws InputError for a chunk size that is not positive or a negative window.
  ChunkModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions& options);

  void start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t weight, Bandwidth cap, Time now);
  void on_event(const Event& event, Time now);
  /// Lets every link that is free take its next chunk.
  void solve(Time now);
  void set_capacity(LinkId link, Bandwidth capacity, Time now);
  [[nodiscard]] std::vector<Completion>& completions() { return completions_; }
  void begin_window(Time now);
  [[nodiscard]] static bool moving() { return false; }  // every chunk under way has an event
  void end_window(Time now);
  void finish(Record& record) { loads_.finish(record); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// A transfer's place at one link of its path: the chunks that wait there, first in, first out.
  struct LaneRef {
    std::uint32_t transfer = kNone;
    std::uint32_t hop = 0;  ///< index into the path's links
  };
  struct Lane {
    std::uint32_t first = kNone;  // node
    std::uint32_t last = kNone;
    double quantum = 0;      // bytes that a turn adds
    double deficit = 0;      // bytes it may still send
    std::uint64_t came = 0;  // fifo: order of the first chunk's coming, over all lanes; 0: none yet
    LaneRef next;            // in the link's ring
    bool waiting = false;    // in the ring, or about to be
  };
  struct Transfer {
    PathId path{};
    double bytes = 0;
    double cap = 0;
    std::uint64_t sequence = 0;  // order of starts
    std::uint64_t chunks = 0;    // in all
    std::uint64_t entered = 0;
    std::uint64_t left = 0;  // the first stage
    std::uint64_t delivered = 0;
    std::uint64_t window = 1;  // chunks
    Time next_entry;           // not before, because of the cap
    std::uint32_t weight = 1;
    bool active = false;
    bool entry_pending = false;           // an event waits for next_entry
    std::vector<std::uint64_t> by_route;  // chunks entered
    std::vector<Lane> lanes;              // by hop
  };
  struct Chunk {
    double bytes = 0;
    std::uint32_t transfer = kNone;
    std::uint32_t route = 0;
    std::uint32_t stage = 0;
    std::uint32_t open = 0;  // links of the stage that have not sent it yet
    Time ready;              // when the links that have sent it deliver it
  };
  struct Node {
    std::uint32_t chunk = kNone;
    std::uint32_t next = kNone;
  };
  struct LinkState {
    double capacity = 0;
    Duration latency;
    LaneRef head;  // the ring of waiting lanes, the next to be served first
    LaneRef tail;
    bool turn_open = false;       // the head has got its quantum
    bool listed = false;          // in free_links_
    std::uint32_t chunk = kNone;  // in transmission
    double remaining = 0;         // of it, at `since`
    double unrecorded = 0;        // bytes of it that the load record does not know yet, from `since`
    Time since;
    EventHandle event;
    double credit_ps = 0;  // given away by rounding the last end up
    Time freed;
  };
  struct Joining {
    std::uint32_t link = 0;
    std::uint64_t sequence = 0;
    LaneRef lane;
  };

  [[nodiscard]] Lane& lane(LaneRef ref) { return transfers_[ref.transfer].lanes[ref.hop]; }
  [[nodiscard]] std::uint64_t window_of(const Transfer& t) const;
  [[nodiscard]] std::uint32_t choose_route(const Transfer& t) const;
  void enter(std::uint32_t id, Time now);
  void enter_stage(std::uint32_t chunk, Time now);
  void sent(std::uint32_t link, Time now);
  void deliver(std::uint32_t chunk, Time now);
  void play_without_links(std::uint32_t id, Time now);

  void list_free(std::uint32_t link);
  void join(std::uint32_t link, LaneRef ref);
  void leave_ring(LinkState& l);
  void rotate(LinkState& l);
  [[nodiscard]] bool may_send(const Lane& at) const;
  void find_turn(LinkState& l);
  void skip_rounds(const LinkState& l);
  void serve_next(std::uint32_t link, Time now);
  void transmit(std::uint32_t link, Time now);
  void settle(std::uint32_t link, Time now);
  std::uint32_t take_front(Lane& at);

  const PathTable& paths_;
  EventQueue& queue_;
  LoadRecorder loads_;
  double size_;
  double window_;
  bool fifo_;
  std::vector<LinkState> links_;
  std::vector<Transfer> transfers_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> unused_chunks_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> unused_nodes_;
  std::vector<Joining> joining_;           // lanes that began to wait at this instant
  std::vector<std::uint32_t> free_links_;  // that may have something to serve
  std::vector<Completion> completions_;
  std::uint64_t started_ = 0;
  std::uint64_t came_ = 0;
};

}  // namespace traingraph::sim
