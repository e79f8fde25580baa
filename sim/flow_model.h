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
//   begin_window(now), end_window(now)         the reported window, whose loads are recorded; transfers go on after it
//   finish(record)
//   moving()                                  some transfer has a rate (without an event: its end is beyond the clock)
//   carry(link, bytes/s, from, to)            fluid models: notes the load of transfers that need no simulation
//
// Transfers that are held by the same link share its level and one FlowClock; a transfer that is held by its own cap has a
// clock to itself. A clock's event is the first end among its transfers. A level that falls leaves the old event in the
// queue: it fires early, is recognised, and is pushed again at the true end.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flow_clock.h"
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
  [[nodiscard]] bool moving() const;
  void begin_window(Time now) { loads_.begin_window(now); }
  void end_window(Time now) { loads_.end_window(now); }
  void finish(Record& record);

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Transfer {
    Fixed remaining = 0;  // per unit of weight, while it has no clock; else its finishing point there
    std::uint32_t clock = kNone;
    std::uint32_t stamp = 0;  // of its living entry in the clock
    std::uint32_t weight = 1;
  };

  void take_new_levels(Time now);
  void touch(std::uint32_t clock);
  void detach(std::uint32_t id, Time now);
  void attach(std::uint32_t id, Time now);
  void find_next_end(std::uint32_t clock);

  EventQueue& queue_;
  MaxMin solver_;
  LoadRecorder loads_;
  std::uint32_t links_;
  std::vector<FlowClock> clocks_;  // of the links, then of transfers that are held by their cap
  std::vector<std::uint32_t> free_clocks_;
  std::vector<std::uint32_t> touched_;  // clocks
  std::vector<Transfer> transfers_;
  std::vector<Completion> completions_;
  Counters counters_;
};

}  // namespace traingraph::sim
