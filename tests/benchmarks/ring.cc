// A ring all-reduce of 1 GiB in steps, every send a transfer with its dependency, on a two-level tree: N hosts, 32 on a
// leaf, links of 400 Gb/s and 1 us, one spine with a link from each leaf.
//
//   benchmark_ring [--late] [--eager] N...
//     stop and wait (a send waits until the last one has arrived) unless --eager; --late: each rank enters 0-1 ms late;
//     with several N also the growth: the slope of log CPU seconds in log transfers, from the first N to the last
//
// Prints CPU seconds of the simulation, peak resident memory of the process so far, completed transfers, events, solves,
// transfers touched and changed by the solver, the end, and a checksum of the ends of all ranks.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string_view>

#include "sim/simulate.h"
#include "tests/sim/program_builder.h"
#include "workloads/collectives/collectives.h"

namespace {

using namespace traingraph::sim;
using tests::ProgramBuilder;

constexpr std::uint32_t kHostsOfALeaf = 32;

/// Links 2h and 2h+1: host h up and down; then those of each leaf to and from the spine.
class Tree final : public Router {
 public:
  explicit Tree(std::uint32_t hosts) : hosts_{hosts} {
    const std::uint32_t leaves = (hosts + kHostsOfALeaf - 1) / kHostsOfALeaf;
    for (std::uint32_t l = 0; l < 2 * (hosts + leaves); ++l) links_.push_back({Bandwidth::gbit_per_s(400), Duration::us(1)});
  }
  [[nodiscard]] bool depends_on_connection() const override { return false; }
  [[nodiscard]] const LinkTable& links() const { return links_; }

 private:
  [[nodiscard]] Path do_route(EndpointId source, EndpointId destination, std::uint64_t) const override {
    const std::uint32_t from = index(source), to = index(destination);
    const std::uint32_t leaf = from / kHostsOfALeaf, other = to / kHostsOfALeaf;
    std::vector<LinkId> hops{LinkId{2 * from}};
    if (leaf != other) hops.insert(hops.end(), {LinkId{2 * (hosts_ + leaf)}, LinkId{2 * (hosts_ + other) + 1}});
    hops.push_back(LinkId{2 * to + 1});
    return single_path(links_, hops, {});
  }
  [[nodiscard]] Path do_route_in_switch(std::span<const EndpointId>) const override { return {}; }

  std::uint32_t hosts_;
  LinkTable links_;
};

struct Cost {
  double transfers = 0;
  double seconds = 0;
};

Cost play(std::uint32_t hosts, bool late, bool eager) {
  const Tree tree{hosts};
  ProgramBuilder b;
  std::vector<RankId> members;
  for (std::uint32_t h = 0; h < hosts; ++h) members.push_back(b.rank(h));
  const CommunicatorId world = b.communicator(members);
  namespace w = traingraph::workloads;
  w::CollectiveOptions how;
  how.stop_and_wait = !eager;
  const Bytes bytes{0x1p30};
  const std::uint32_t all_reduce = b.collective("all_reduce", bytes, [&](std::uint32_t n) {
    return w::make_source(w::CollectiveKind::all_reduce, w::Algorithm::ring, n, bytes, how);
  });
  std::uint64_t random = 1;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
    if (late) b.compute(members[h], Duration::ps(static_cast<std::int64_t>((random >> 33) % 1'000'000'000)));
    b.call(members[h], world, all_reduce);
  }
  const Program program = b.build();
  class Ends final : public TraceSink {
   public:
    [[nodiscard]] bool wants_tasks() const override { return true; }
    [[nodiscard]] bool wants_transfers() const override { return false; }
    void transfer(const TransferSpan&) override {}
    void task(const TaskSpan& span) override {
      checksum += static_cast<std::uint64_t>(span.end.count_ps()) * (2 * index(span.rank) + 1);
    }
    std::uint64_t checksum = 0;
  } ends;
  RunOptions options;
  options.collectives = CollectiveMode::step;
  const std::clock_t before = std::clock();
  const Record record = simulate(tree.links(), tree, program, options, &ends);
  const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Counters& c = record.counters;
  fmt::print(
      "N {:5} {:8.4f} s  {:5.0f} ns/transfer {:5} MB {:9} transfers {:9} events {:8} solves {:9} touched {:9} changed  end "
      "{:.6f} ms  {:016x}\n",
      hosts, took, took / static_cast<double>(c.transfers) * 1e9, usage.ru_maxrss / 1024, c.transfers, c.events, c.solves,
      c.transfers_touched, c.transfers_changed, record.step_ends.back().since_start().in_seconds() * 1e3, ends.checksum);
  return {static_cast<double>(c.transfers), took};
}

}  // namespace

int main(int argc, char** argv) {
  bool late = false, eager = false;
  std::vector<Cost> costs;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument{argv[i]};
      if (argument == "--late") late = true;
      if (argument == "--eager") eager = true;
      if (argument[0] != '-') costs.push_back(play(static_cast<std::uint32_t>(std::atoi(argv[i])), late, eager));
    }
    if (costs.size() > 1) {
      fmt::print("growth: CPU seconds ~ transfers^{:.2f}\n", std::log(costs.back().seconds / costs.front().seconds) /
                                                                 std::log(costs.back().transfers / costs.front().transfers));
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
