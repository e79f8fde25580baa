// The laws of network-model.md, on random fabrics and programs (random_case.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/fluid_oracle.h"
#include "tests/sim/play.h"
#include "tests/sim/property.h"
#include "tests/sim/random_case.h"
#include "tests/sim/record_digest.h"

namespace traingraph::sim::tests {
namespace {

RunOptions with(NetworkModel network, CollectiveMode collectives) {
  RunOptions options;
  options.network = network;
  options.collectives = collectives;
  return options;
}
Played play_case(const RandomCase& c, const RunOptions& options) {
  TableRouter router;
  c.fill(router);
  return play(c.links, router, c.program, options);
}
Record run_case(const RandomCase& c, const RunOptions& options) {
  TableRouter router;
  c.fill(router);
  return simulate(c.links, router, c.program, options);
}
Time end_of(const Record& r) { return r.window_end(); }

RandomCase draw(CaseOptions options, Dice& dice) {
  options.operations = *rc::gen::inRange<std::uint32_t>(1, options.operations + 1);
  return draw_case(dice, options);
}

/// What rounding to whole picoseconds may add up to: one per event, and more where max-min amplifies it.
Duration slop(const Record& r) { return Duration::ps(50 + 4 * static_cast<std::int64_t>(r.counters.events)); }
bool within(Time a, Time b, Duration tolerance) { return a - b <= tolerance && b - a <= tolerance; }

TEST(Invariants, LinksCarryWhatIsRoutedOverThemAndNeverMoreThanTheyCan) {
  check_property(300, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({}, dice);
    for (const CollectiveMode mode : {CollectiveMode::step, CollectiveMode::bulk, CollectiveMode::automatic}) {
      const Record r = run_case(c, with(NetworkModel::flow, mode));
      const double seconds = r.step_time().in_seconds();
      for (std::uint32_t l = 0; l < c.links.size(); ++l) {
        const LinkRecord& link = r.links[static_cast<LinkId>(l)];
        RC_ASSERT(link.peak_utilization <= 1 + 1e-12);
        RC_ASSERT(link.busy <= r.step_time());
        // Up to a picosecond's worth at each instant at which a rate changes.
        const double most = 4 * c.links[static_cast<LinkId>(l)].capacity.bytes_per_s();
        const double tolerance = 1e-9 * c.routed[l] + most * 1e-12 * static_cast<double>(r.counters.events);
        RC_ASSERT(std::abs(link.bytes - c.routed[l]) <= tolerance);
        if (c.program.link_changes.empty())
          RC_ASSERT(link.bytes <= c.links[static_cast<LinkId>(l)].capacity.bytes_per_s() * seconds * (1 + 1e-9));
      }
    }
  });
}

TEST(Invariants, BinsIntegrateToTheBytesRouted) {
  check_property(150, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.link_changes = false}, dice);
    RunOptions options = with(NetworkModel::flow, CollectiveMode::automatic);
    options.bins = 100;
    const Record r = run_case(c, options);
    for (std::uint32_t l = 0; l < c.links.size(); ++l) {
      double sum = 0;
      for (std::uint32_t b = 0; b < r.bins; ++b) sum += static_cast<double>(r.load[l * r.bins + b]);
      const double bytes = sum * r.bin_width.in_seconds() * c.links[static_cast<LinkId>(l)].capacity.bytes_per_s();
      RC_ASSERT(std::abs(bytes - r.links[static_cast<LinkId>(l)].bytes) <=
                1e-4 * r.links[static_cast<LinkId>(l)].bytes + 1e-6);
    }
  });
}

/// Every transfer of a run in steps, as an independent play of fluids from the same starts ends it.
TEST(Invariants, TransfersEndWhenAnIndependentMaxMinSaysSo) {
  Coverage levels, collectives, multi_path, caps, changing, weights;
  check_property(300, [&] {
    Dice dice = draw_dice();
    const RandomCase c = draw({}, dice);
    const Played p = play_case(c, with(NetworkModel::flow, CollectiveMode::step));
    std::map<std::string, const Channel*> channel_of;
    for (std::uint32_t i = 0; i < c.program.channels.size(); ++i)
      channel_of["message." + std::to_string(i)] = &c.program.channels[static_cast<ChannelId>(i)];

    std::vector<FluidFlow> flows;
    std::vector<const TransferSpan*> spans;
    for (const TransferSpan& t : p.transfers) {
      const Path& path = c.path(t.source, t.destination);
      const Time start = t.start + path.overhead;
      const auto channel = channel_of.find(c.program.labels[t.label].name);
      const double cap = channel == channel_of.end() ? 0 : channel->second->cap.bytes_per_s();
      RC_ASSERT(t.arrived == t.drained + path.latency);
      if (t.bytes.count() == 0 || (path.links.empty() && cap == 0)) {
        RC_ASSERT(t.drained == start);
        continue;
      }
      FluidFlow f{{}, start.since_start().in_seconds(), t.bytes.count()};
      for (const PathLink& hop : path.links) f.flow.hops.push_back({index(hop.link), hop.fraction()});
      f.flow.weight = channel == channel_of.end() ? 1 : channel->second->weight;
      f.flow.cap = cap;
      flows.push_back(f);
      spans.push_back(&t);
    }
    std::vector<double> capacity;
    for (const Link& l : c.links) capacity.push_back(l.capacity.bytes_per_s());
    std::vector<FluidChange> changes;
    for (const Program::LinkChange& change : c.program.link_changes)
      changes.push_back({change.at.since_start().in_seconds(), index(change.link), change.capacity.bytes_per_s()});
    const FluidResult oracle = play_fluids(capacity, changes, flows);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const double end = spans[f]->drained.since_start().in_seconds();
      RC_ASSERT(std::abs(end - oracle.ends_s[f]) <= std::max(1e-9 * end, 100e-12));
    }

    bool together = false;  // two collectives at one time
    std::map<std::uint32_t, std::pair<Time, Time>> busy;
    for (const TaskSpan& s : p.tasks) {
      const Template& role = c.program.templates[c.program.ranks[s.rank].role];
      if (role.ops[s.op].kind != OpKind::collective) continue;
      for (const TaskSpan& other : p.tasks) {
        const Template& other_role = c.program.templates[c.program.ranks[other.rank].role];
        const Op& op = other_role.ops[other.op];
        together = together || (op.kind == OpKind::collective && op.label != role.ops[s.op].label && other.start < s.end &&
                                s.start < other.end);
      }
    }
    levels.count(oracle.most_levels >= 4);
    collectives.count(together);
    multi_path.count(c.multi_path);
    caps.count(c.caps);
    weights.count(c.weights);
    changing.count(!c.program.link_changes.empty());
  });
  demand("four or more water levels", levels, 0.2);
  demand("two or more concurrent collectives", collectives, 0.2);
  demand("multi-path", multi_path, 0.2);
  demand("caps", caps, 0.2);
  demand("weights", weights, 0.2);
  demand("changing links", changing, 0.2);
}

TEST(Invariants, SharingNeverBeatsBeingAlone) {
  check_property(300, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.most_steps = 3}, dice);
    const Record shared = run_case(c, with(NetworkModel::flow, CollectiveMode::step));
    const Record alone = run_case(c, with(NetworkModel::ideal, CollectiveMode::step));
    for (std::size_t s = 0; s < alone.step_ends.size(); ++s)
      RC_ASSERT(shared.step_ends[s] + slop(shared) >= alone.step_ends[s]);
  });
}

TEST(Invariants, SplitsAddUpAndTheCriticalPathFillsTheWindow) {
  check_property(300, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.most_steps = 3}, dice);
    const Record r = run_case(c, with(dice.chance(0.8) ? NetworkModel::flow : NetworkModel::ideal,
                                      dice.chance(0.5) ? CollectiveMode::step : CollectiveMode::automatic));
    RC_ASSERT(r.step_ends.size() == c.program.steps);
    RC_ASSERT(std::is_sorted(r.step_ends.begin(), r.step_ends.end()));
    for (std::uint32_t rank = 0; rank < c.program.ranks.size(); ++rank) {
      Duration sum;
      for (const Duration d : r.splits[static_cast<RankId>(rank)].by_category) {
        RC_ASSERT(d >= Duration{});
        sum += d;
      }
      RC_ASSERT(sum == r.step_time());
    }
    RC_ASSERT(!r.critical_path.empty());
    RC_ASSERT(r.critical_path.front().start == r.window_begin());
    RC_ASSERT(r.critical_path.back().end == r.window_end());
    for (std::size_t i = 0; i < r.critical_path.size(); ++i) {
      const CriticalElement& e = r.critical_path[i];
      RC_ASSERT(e.start <= e.end);
      RC_ASSERT(e.slack >= Duration{});
      if (i > 0) RC_ASSERT(e.start == r.critical_path[i - 1].end);
    }
  });
}

TEST(Invariants, TheSameInputsGiveTheSameRecord) {
  check_property(100, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.most_steps = 3}, dice);
    for (const NetworkModel model : {NetworkModel::flow, NetworkModel::ideal}) {
      const RunOptions options = with(model, CollectiveMode::automatic);
      RC_ASSERT(digest(run_case(c, options)) == digest(run_case(c, options)));
    }
  });
}

TEST(Invariants, OtherNamesChangeNothing) {
  check_property(300, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.most_steps = 3}, dice);
    const Names names = draw_names(dice, c);
    const RunOptions options =
        with(dice.chance(0.8) ? NetworkModel::flow : NetworkModel::ideal,
             dice.pick(std::vector<CollectiveMode>{CollectiveMode::step, CollectiveMode::bulk, CollectiveMode::automatic}));
    const Record a = run_case(c, options);
    const Record b = run_case(relabelled(c, names), options);
    RC_ASSERT(a.step_ends == b.step_ends);
    for (std::uint32_t r = 0; r < c.program.ranks.size(); ++r) {
      const auto before = static_cast<RankId>(r), after = static_cast<RankId>(names.ranks[r]);
      RC_ASSERT(a.splits[before].by_category == b.splits[after].by_category);
    }
    for (std::uint32_t l = 0; l < a.links.size(); ++l) {
      const LinkRecord& before = a.links[static_cast<LinkId>(l)];
      const LinkRecord& after = b.links[static_cast<LinkId>(names.links[l])];
      RC_ASSERT(before.bytes == after.bytes);
      RC_ASSERT(before.busy == after.busy);
      RC_ASSERT(before.peak_utilization == after.peak_utilization);
    }
    for (std::size_t m = 0; m < a.modes.size(); ++m) RC_ASSERT(a.modes[m].step == b.modes[m].step);
    RC_ASSERT(a.counters.transfers == b.counters.transfers);
    RC_ASSERT(a.counters.transfers_changed == b.counters.transfers_changed);
  });
}

TEST(Invariants, SlowMotionIsTheSameRunSlower) {
  // Capacities by x, latencies and durations times x = 2^k: all times are x times as long, but for rounding to whole
  // picoseconds.
  check_property(300, [] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.most_steps = 2}, dice);
    const std::int64_t x = std::int64_t{1} << dice.between(1, 6);
    const RunOptions options = with(dice.chance(0.8) ? NetworkModel::flow : NetworkModel::ideal,
                                    dice.chance(0.5) ? CollectiveMode::step : CollectiveMode::automatic);
    const Record fast = run_case(c, options);
    const Record slow = run_case(slowed(c, x), options);
    for (std::size_t s = 0; s < fast.step_ends.size(); ++s) {
      const Time expected = Time::at(fast.step_ends[s].since_start() * x);
      RC_ASSERT(within(slow.step_ends[s], expected, slop(fast) * x));
    }
  });
}

TEST(Invariants, AutomaticIsStepWhereItPlaysInBulk) {
  // Bulk is chosen only where it is exact: the ends agree to a picosecond a step of the collectives.
  Coverage in_bulk;
  check_property(300, [&in_bulk] {
    Dice dice = draw_dice();
    const RandomCase c = draw({.operations = 4, .link_changes = false, .most_steps = 2, .star = true}, dice);
    const Record automatic = run_case(c, with(NetworkModel::flow, CollectiveMode::automatic));
    const Record step = run_case(c, with(NetworkModel::flow, CollectiveMode::step));
    std::uint64_t bulk = 0;
    for (const CollectiveModes& m : automatic.modes) {
      bulk += m.bulk_exact;
      RC_ASSERT(m.bulk_forced == 0);
    }
    in_bulk.count(bulk > 0);
    for (std::size_t s = 0; s < step.step_ends.size(); ++s)
      RC_ASSERT(within(automatic.step_ends[s], step.step_ends[s], bulk == 0 ? Duration{} : slop(step)));
  });
  demand("bulk chosen", in_bulk, 0.05);
}

class LoneCollective : public ::testing::TestWithParam<std::string> {};

TEST_P(LoneCollective, InBulkTakesAsLongAsInSteps) {
  Coverage exact;
  check_property(200, [&exact] {
    Dice dice = draw_dice();
    const RandomCase c = draw_lone_collective(dice, GetParam());
    const Record step = run_case(c, with(NetworkModel::flow, CollectiveMode::step));
    const Record bulk = run_case(c, with(NetworkModel::flow, CollectiveMode::bulk));
    const Record automatic = run_case(c, with(NetworkModel::flow, CollectiveMode::automatic));
    RC_ASSERT(end_of(automatic) == end_of(step));
    RC_ASSERT(end_of(bulk) >= end_of(step));
    exact.count(end_of(bulk) == end_of(step));
    for (std::uint32_t l = 0; l < c.links.size(); ++l)
      RC_ASSERT(std::abs(bulk.links[static_cast<LinkId>(l)].bytes - c.routed[l]) <= 1e-6 * c.routed[l] + 0.1);
  });
  // All edges at once can take longer than one step after the other: max-min is fair, not the shortest schedule. Otherwise
  // equal.
  demand("bulk equal to step", exact, GetParam() == "doubling" ? 0.5 : 1.0);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, LoneCollective, ::testing::Values("ring", "direct", "chain", "doubling"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace traingraph::sim::tests
