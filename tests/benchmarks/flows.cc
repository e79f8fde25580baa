// The flow inputs of tests/data/flows, each played whole through the ordinary path of a program: one rank per flow, a
// compute operation until its start, then one send.
//
//   benchmark_flows FILE...          FILE: what tests/data/flows/generate.py or generate_mixed.py has written
//
// Prints for each file CPU seconds of the simulation (input and program already in memory), peak resident memory of the
// process so far, events, solves, transfers touched and changed by the solver, the last end, and a checksum of all ends.
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <exception>

#include "sim/simulate.h"
#include "tests/sim/flow_file.h"
#include "tests/sim/flow_program.h"

namespace {

using namespace traingraph::sim;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void play(const std::string& name) {
  const tests::FlowFile file = tests::read_flow_file(name);
  const tests::FlowProgram flows{file};
  class Ends final : public TraceSink {
   public:
    [[nodiscard]] bool wants_tasks() const override { return true; }
    void task(const TaskSpan& span) override {
      // Order of ends of one instant is free, so the checksum does not depend on it.
      checksum += static_cast<std::uint64_t>(span.end.count_ps()) * (2 * index(span.rank) + 1);
    }
    [[nodiscard]] bool wants_transfers() const override { return false; }
    void transfer(const TransferSpan&) override {}
    std::uint64_t checksum = 0;
  } ends;
  RunOptions options;
  options.critical_path = false;
  const double before = cpu_seconds();
  const Record record = simulate(flows.links(), flows.router(), flows.program(), options, &ends);
  const double took = cpu_seconds() - before;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Counters& c = record.counters;
  fmt::print(
      "{:40} {:9.4f} s {:6} MB {:9} events {:8} solves {:11} touched {:11} changed  ratio {:4.2f}  last {:.12f} s  "
      "{:016x}\n",
      name.substr(name.rfind('/') + 1), took, usage.ru_maxrss / 1024, c.events, c.solves, c.transfers_touched,
      c.transfers_changed,
      static_cast<double>(c.transfers_touched) / static_cast<double>(std::max<std::uint64_t>(1, c.transfers_changed)),
      record.step_ends.back().since_start().in_seconds(), ends.checksum);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) play(argv[i]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
