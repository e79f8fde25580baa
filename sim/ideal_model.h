// IdealModel: every transfer has its links to itself; for lower bounds (the longest chain) and tests. Rate = min over links
// of capacity/fraction, or the cap. Same members as FlowModel (flow_model.h tells the contract). Loads are not recorded:
// they may exceed capacity by definition.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flow_model.h"
#include "sim/options.h"
#include "sim/path_table.h"
#include "sim/record.h"

namespace traingraph::sim {

class IdealModel {
 public:
  static constexpr bool kReportsArrival = false;

  IdealModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions& options);

  void start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t weight, Bandwidth cap, Time now);
  void on_event(const Event& event, Time now);
  void solve(Time now);
  void set_capacity(LinkId link, Bandwidth capacity, Time now);
  [[nodiscard]] std::vector<Completion>& completions() { return completions_; }
  void carry(LinkId, double, Time, Time) {}
  void begin_window(Time) {}
  void end_window(Time) {}
  [[nodiscard]] bool moving() const;
  void finish(Record&) {}

 private:
  struct Transfer {
    PathId path{};
    double remaining = 0;
    double cap = 0;
    double rate = 0;
    Time since;
    EventHandle event;
    bool active = false;
  };
  [[nodiscard]] double rate_of(const Transfer& t) const;
  void schedule(std::uint32_t id, Time now);

  const PathTable& paths_;
  EventQueue& queue_;
  std::vector<double> capacities_;
  bool capacities_changed_ = false;  // at this instant: rates follow when it is over
  std::vector<Transfer> transfers_;
  std::vector<Completion> completions_;
};

}  // namespace traingraph::sim
