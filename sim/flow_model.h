// FlowModel: transfers as fluids that share links max-min fairly (max_min.h). The default network model.
//
// A network model is what the engine is built over (engine.h, template parameter). All models have these members:
//   start(id, path, bytes, weight, cap, now)  the transfer begins to drain (bytes > 0, path not empty or cap > 0);
//                                             ids are small numbers chosen by the engine, reused after the end
//   on_event(event, now)                      an event of kind EventKind::model that the model has pushed itself
//   solve(now)                                called once after all events of an instant; may push events, also at `now`
//   set_capacity(link, bytes/s, now)
//   completions()                             what ended since the engine last cleared it: {id, arrived}; a fluid model
//   reports the
//                                             end of draining and the engine adds the propagation; kReportsArrival models
//                                             both
//   finish(now, record), begin_window(now)
//   carry(link, bytes/s, from, to)            fluid models: notes the load of transfers that need no simulation
//
// Invariants: `remaining` is anchored at `since`, the last change of the transfer's rate; a transfer ends by its event only.
// A rate that falls leaves the old event in the queue: it fires early, is recognised, and is pushed again at the true end.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/load_recorder.h"
#include "sim/max_min.h"
#include "sim/options.h"
#include "sim/path_table.h"
#include "sim/record.h"

namespace traingraph::sim {

struct Completion {
  std::uint32_t id = 0;
  bool arrived = false;  ///< false: the last byte left the wire
};

class FlowModel {
 public:
  static constexpr bool kReportsArrival = false;

  FlowModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions& options);

  void start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t weight, Bandwidth cap, Time now);
  void on_event(const Event& event, Time now);
  void solve(Time now);
  void set_capacity(LinkId link, Bandwidth capacity, Time now);
  [[nodiscard]] std::vector<Completion>& completions() { return completions_; }
  /// Notes a load of transfers that had the link to themselves in [from, to), without simulating them.
  void carry(LinkId link, double bytes_per_s, Time from, Time to) { loads_.add_load(link, bytes_per_s, from, to); }
  void begin_window(Time now) { loads_.begin_window(now); }
  void finish(Time now, Record& record);

 private:
  struct Transfer {
    double remaining = 0;
    double rate = 0;
    Time since;
    Time event_at;  // when the pending event fires; never() without one
    EventHandle event;
  };

  const PathTable& paths_;
  EventQueue& queue_;
  MaxMin solver_;
  LoadRecorder loads_;
  std::vector<Transfer> transfers_;
  std::vector<Completion> completions_;
  Counters counters_;
};

}  // namespace traingraph::sim
