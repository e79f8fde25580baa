// The hold model of the event queue: with n events pending, take the first and push a later one. The time of one hold is
// what the queue costs an event. Three in four holds push ahead by a random span, one by none (events of one instant are
// common), and every 16th cancels what it pushed and pushes again, as a transfer does whose rate has changed.
//
//   benchmark_hold                    ns per hold at 10^3 .. 10^6 pending, and a checksum of the order of events
#include <benchmark/benchmark.h>

#include <cstdint>

#include "sim/event_queue.h"

namespace {

using traingraph::sim::Duration;
using traingraph::sim::Event;
using traingraph::sim::EventHandle;
using traingraph::sim::EventKind;
using traingraph::sim::EventQueue;
using traingraph::sim::Time;

/// A small generator of its own, so that every machine holds the same events (splitmix64, Steele et al. 2014).
class Random {
 public:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  Duration span() { return next() % 4 == 0 ? Duration{} : Duration::ps(static_cast<std::int64_t>(next() % 2'000'000)); }

 private:
  std::uint64_t state_ = 1;
};

void hold(benchmark::State& state) {
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  Random random;
  EventQueue queue;
  queue.reserve(pending + 1);
  for (std::uint32_t i = 0; i < pending; ++i) queue.push(Time::at(random.span()), EventKind::model, i, i);
  std::uint64_t checksum = 0;
  std::uint32_t count = 0;
  for (auto _ : state) {
    const Event event = queue.pop();
    checksum = checksum * 31 + event.payload;
    EventHandle handle = queue.push(event.time + random.span(), EventKind::model, event.payload, event.payload);
    if (++count % 16 == 0) {
      queue.cancel(handle);
      handle = queue.push(event.time + random.span(), EventKind::model, event.payload, event.payload);
    }
    benchmark::DoNotOptimize(handle);
  }
  state.counters["checksum"] = static_cast<double>(checksum % 1'000'000'007);
}

// A fixed number of holds, so that the checksum is the same everywhere.
BENCHMARK(hold)->ArgName("pending")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Iterations(2'000'000);

}  // namespace

BENCHMARK_MAIN();
