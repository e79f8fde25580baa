// Drives a network model without the engine: transfers that begin at given times, capacity changes, and when each transfer
// left the wire and arrived. The loop is the engine's: all events of an instant, then one solve.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flow_model.h"
#include "sim/link.h"
#include "sim/options.h"
#include "sim/path_table.h"
#include "sim/record.h"

namespace traingraph::sim {

struct TransferCase {
  Path path;
  Bytes bytes;
  Time start;
  std::uint32_t weight = 1;
  Bandwidth cap{};
};

struct CapacityChange {
  LinkId link{};
  Time at;
  Bandwidth capacity;
};

struct Ends {
  Time left = Time::never();
  Time arrived = Time::never();
};

struct DrivenRun {
  std::vector<Ends> transfers;
  Record record;
  std::uint64_t events = 0;
};

template <class Model>
DrivenRun drive(const LinkTable& links, const std::vector<TransferCase>& cases, const RunOptions& options,
                const std::vector<CapacityChange>& changes = {}) {
  EventQueue queue;
  PathTable paths{true};
  std::vector<PathId> ids;
  for (const TransferCase& c : cases) ids.push_back(paths.add(c.path));
  Model model{links, paths, queue, options};
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    queue.push(cases[i].start + cases[i].path.overhead, EventKind::transfer_begin, i, i);
  }
  for (std::uint32_t i = 0; i < changes.size(); ++i) queue.push(changes[i].at, EventKind::link_change, i, i);
  DrivenRun run;
  run.transfers.resize(cases.size());
  Time now;
  const auto take = [&] {
    for (const Completion& done : std::exchange(model.completions(), {})) {
      Ends& ends = run.transfers[done.id];
      if (done.arrived) {
        ends.arrived = now;
      } else {
        ends.left = now;
        if (!Model::kReportsArrival) ends.arrived = now + cases[done.id].path.latency;
      }
    }
  };
  while (!queue.empty()) {
    now = queue.next_time();
    while (!queue.empty() && queue.next_time() == now) {
      const Event event = queue.pop();
      ++run.events;
      if (event.kind() == EventKind::transfer_begin) {
        const TransferCase& c = cases[event.payload];
        model.start(event.payload, ids[event.payload], c.bytes, c.weight, c.cap, now);
      } else if (event.kind() == EventKind::link_change) {
        model.set_capacity(changes[event.payload].link, changes[event.payload].capacity, now);
      } else {
        model.on_event(event, now);
      }
      take();
    }
    model.solve(now);
    take();
  }
  model.end_window(now);
  model.finish(run.record);
  return run;
}

}  // namespace traingraph::sim
