// MaxMin against an independent oracle, its own certificate, a full recomputation and other orders of insertion, on random
// systems that change: flows come and go, links change their capacity.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "sim/fraction.h"
#include "sim/max_min.h"
#include "tests/sim/max_min_oracle.h"
#include "tests/sim/property.h"

namespace traingraph::sim::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Flow {
  std::uint32_t number = 0;  // as the solver knows it
  std::vector<PathLink> hops;
  std::uint32_t weight = 1;
  double cap = 0;
};

/// Few distinct values make equal levels on unrelated links likely, where rounding decides; others are arbitrary.
class Generator {
 public:
  explicit Generator(Dice& dice) : dice_{dice}, round_{dice.chance(0.5)} {}

  double capacity() {
    if (dice_.chance(0.04)) return 0;
    if (dice_.chance(0.03)) return kInfinity;
    if (round_) return dice_.pick(std::vector<double>{25e9, 50e9, 50e9, 100e9, 1e9 / 3, 10, 3, 7});
    return std::exp(dice_.uniform(0, 25));
  }
  Flow flow(std::uint32_t number, std::uint32_t links) {
    Flow f;
    f.number = number;
    const std::uint32_t hops = dice_.chance(0.02) ? 0 : dice_.between(1, std::min(links, 6U));
    const std::uint32_t k = dice_.pick(std::vector<std::uint32_t>{1, 1, 2, 3, 4, 7, 64});
    std::set<std::uint32_t> used;
    // Mostly inside one half of the links: then there are unconnected parts, whose levels often coincide.
    const std::uint32_t half = dice_.chance(0.8) && links / 2 >= hops ? links / 2 : links;
    const std::uint32_t first = half < links ? dice_.below(2) * half : 0;
    while (used.size() < hops) used.insert(first + dice_.below(half));
    for (const std::uint32_t link : used)
      f.hops.push_back(path_link(static_cast<LinkId>(link), Fraction::of(dice_.between(1, k), k)));
    if (dice_.chance(0.3)) f.weight = dice_.between(1, 5);
    if (hops == 0 || dice_.chance(0.25))
      f.cap = round_ ? dice_.pick(std::vector<double>{1e9, 5e9, 25e9, 2}) : capacity_like();
    return f;
  }

 private:
  double capacity_like() { return std::exp(dice_.uniform(0, 25)); }
  Dice& dice_;
  bool round_;
};

MaxMin fresh(const LinkTable& links, PathTable& paths, std::vector<Flow> flows) {
  MaxMin solver{links, paths};
  for (const Flow& f : flows) {
    Path path;
    path.links = f.hops;
    solver.add(f.number, paths.add(path), f.weight, f.cap);
  }
  solver.solve_from_nothing();
  return solver;
}

/// The same flows on links with other numbers.
MaxMin relabelled(const LinkTable& links, PathTable& paths, std::vector<Flow> flows,
                  const std::vector<std::uint32_t>& name) {
  LinkTable renamed(links.size());
  for (std::uint32_t l = 0; l < links.size(); ++l) renamed[static_cast<LinkId>(name[l])] = links[static_cast<LinkId>(l)];
  for (Flow& f : flows) {
    for (PathLink& hop : f.hops) hop.link = static_cast<LinkId>(name[index(hop.link)]);
    std::ranges::sort(f.hops, {}, [](const PathLink& h) { return h.link; });
  }
  return fresh(renamed, paths, flows);
}

std::vector<OracleFlow> for_oracle(const std::vector<Flow>& flows) {
  std::vector<OracleFlow> out;
  for (const Flow& f : flows) {
    OracleFlow o;
    for (const PathLink& hop : f.hops) o.hops.push_back({index(hop.link), hop.fraction()});
    o.weight = f.weight;
    o.cap = f.cap;
    out.push_back(o);
  }
  return out;
}

bool close(double a, double b) { return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

/// A level is a difference of capacities, so its error is of the order of the last bits of the largest of them.
bool agree(double a, double b, double largest_capacity) {
  return a == b || std::abs(a - b) <= 1e-12 * std::max(a, b) + 0x1p-47 * largest_capacity;
}

/// The flows of one group share its level, and a flow that no link holds is at its cap.
void demand_groups(const std::vector<Flow>& flows, const MaxMin& solver) {
  for (const Flow& f : flows) {
    const std::uint32_t group = solver.group(f.number);
    if (group == MaxMin::kOwn) {
      RC_ASSERT(solver.rate(f.number) == (f.cap > 0 ? f.cap : kInfinity));
      continue;
    }
    RC_ASSERT(solver.level(f.number) == solver.group_level(group));
    RC_ASSERT(std::any_of(f.hops.begin(), f.hops.end(), [&](const PathLink& h) { return index(h.link) == group; }));
  }
}

/// network-model.md, invariant 2: every flow is at its cap or has a saturated link on which no other flow's level is higher.
void demand_certificate(const LinkTable& links, const std::vector<Flow>& flows, const MaxMin& solver) {
  std::vector<double> load(links.size(), 0), highest(links.size(), 0);
  for (const Flow& f : flows)
    for (const PathLink& hop : f.hops) {
      load[index(hop.link)] += hop.fraction() * solver.rate(f.number);
      highest[index(hop.link)] = std::max(highest[index(hop.link)], solver.level(f.number));
    }
  for (std::size_t l = 0; l < links.size(); ++l) {
    const double capacity = links[static_cast<LinkId>(l)].capacity.bytes_per_s();
    RC_ASSERT(load[l] <= capacity * (1 + 1e-9));
    if (load[l] < kInfinity && !close(load[l], solver.load(static_cast<LinkId>(l))))
      RC_FAIL(fmt::format("link {} carries {:.17g}, the solver says {:.17g} of {:.17g}", l, load[l],
                          solver.load(static_cast<LinkId>(l)), capacity));
  }
  for (const Flow& f : flows) {
    bool held = f.cap > 0 && solver.rate(f.number) == f.cap;
    bool bounded = f.cap > 0;
    for (const PathLink& hop : f.hops) {
      const double capacity = links[hop.link].capacity.bytes_per_s();
      bounded = bounded || capacity < kInfinity;
      held = held || (capacity < kInfinity && load[index(hop.link)] >= capacity * (1 - 1e-9) &&
                      solver.level(f.number) >= highest[index(hop.link)] * (1 - 1e-9));
    }
    RC_ASSERT(held || (!bounded && solver.rate(f.number) == kInfinity));
  }
}

struct Features {
  Coverage levels, multi_path, caps, changing, weights;
};

void one_case(Features& features) {
  const auto link_count = *rc::gen::inRange<std::uint32_t>(1, 13);
  const auto changes = *rc::gen::inRange<std::uint32_t>(1, 40);
  Dice dice = draw_dice();
  Generator generate{dice};

  LinkTable links;
  for (std::uint32_t l = 0; l < link_count; ++l) links.push_back({Bandwidth::bytes_per_s(generate.capacity()), Duration{}});
  std::vector<std::uint32_t> name(link_count);
  std::iota(name.begin(), name.end(), 0U);
  dice.shuffle(name);
  PathTable paths{false};
  MaxMin solver{links, paths};
  std::vector<Flow> flows;
  std::vector<std::uint32_t> free_numbers;
  std::vector<double> before;  // levels, by flow number
  double most = 0;             // the largest capacity so far
  for (const Link& l : links)
    if (l.capacity.bytes_per_s() < kInfinity) most = std::max(most, l.capacity.bytes_per_s());
  bool many_levels = false, multi_path = false, caps = false, changing = false, weights = false;

  const auto add = [&] {
    std::uint32_t number = static_cast<std::uint32_t>(flows.size() + free_numbers.size());
    if (!free_numbers.empty()) {
      number = free_numbers.back();
      free_numbers.pop_back();
    }
    flows.push_back(generate.flow(number, link_count));
    const Flow& f = flows.back();
    Path path;
    path.links = f.hops;
    solver.add(f.number, paths.add(path), f.weight, f.cap);
    multi_path = multi_path || std::any_of(f.hops.begin(), f.hops.end(), [](const PathLink& h) { return h.k > 1; });
    caps = caps || f.cap > 0;
    weights = weights || f.weight > 1;
    if (before.size() <= number) before.resize(number + 1, -1);
    before[number] = -1;
  };
  for (std::uint32_t i = dice.between(1, 24); i > 0; --i) add();

  for (std::uint32_t change = 0; change < changes; ++change) {
    for (std::uint32_t i = dice.between(1, 3); i > 0; --i) {
      const double what = dice.uniform(0, 1);
      if (what < 0.45 || flows.empty()) {
        add();
      } else if (what < 0.8) {
        const std::uint32_t at = dice.below(static_cast<std::uint32_t>(flows.size()));
        solver.remove(flows[at].number);
        free_numbers.push_back(flows[at].number);
        flows.erase(flows.begin() + at);
      } else {
        const auto link = static_cast<LinkId>(dice.below(link_count));
        links[link].capacity = Bandwidth::bytes_per_s(generate.capacity());
        solver.set_capacity(link, links[link].capacity.bytes_per_s());
        changing = true;
      }
    }
    solver.solve();

    std::vector<double> capacities;
    for (const Link& l : links) capacities.push_back(l.capacity.bytes_per_s());
    const std::vector<double> expected = oracle_levels(capacities, for_oracle(flows));
    std::set<double> distinct;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const double level = solver.level(flows[f].number);
      if (!close(level, expected[f])) RC_FAIL("level " + std::to_string(level) + ", oracle " + std::to_string(expected[f]));
      if (distinct.empty() || !close(*distinct.rbegin(), level)) distinct.insert(level);
    }
    many_levels = many_levels || distinct.size() >= 4;
    demand_certificate(links, flows, solver);

    // From nothing, the levels agree with those kept up to date but for rounding; among themselves, in another order and
    // under other names, to the last bit.
    std::vector<Flow> shuffled = flows;
    dice.shuffle(shuffled);
    const MaxMin again = fresh(links, paths, flows);
    const MaxMin other = fresh(links, paths, shuffled);
    const MaxMin renamed = relabelled(links, paths, flows, name);
    std::uint64_t changed = 0;
    for (const double c : capacities)
      if (c < kInfinity) most = std::max(most, c);
    for (const Flow& f : flows) {
      if (!agree(solver.level(f.number), again.level(f.number), most))
        RC_FAIL(fmt::format("level {:.17g}, from nothing {:.17g}; largest capacity {:g}", solver.level(f.number),
                            again.level(f.number), most));
      RC_ASSERT(other.level(f.number) == again.level(f.number));
      RC_ASSERT(renamed.level(f.number) == again.level(f.number));
      changed += solver.level(f.number) != before[f.number];
      before[f.number] = solver.level(f.number);
    }
    RC_ASSERT(solver.changed() == changed);
    for (std::uint32_t l = 0; l < link_count; ++l) {
      const auto link = static_cast<LinkId>(l);
      if (links[link].capacity.bytes_per_s() == kInfinity) continue;
      RC_ASSERT(std::abs(solver.load(link) - again.load(link)) <=
                1e-12 * links[link].capacity.bytes_per_s() + 0x1p-47 * most);
    }
    demand_groups(flows, solver);
  }
  features.levels.count(many_levels);
  features.multi_path.count(multi_path);
  features.caps.count(caps);
  features.changing.count(changing);
  features.weights.count(weights);
}

TEST(MaxMinProperty, MatchesTheOracleAndTheFullRecomputationUnderRandomChanges) {
  Features features;
  check_property(400, [&features] { one_case(features); });
  demand("four or more water levels", features.levels, 0.2);
  demand("multi-path", features.multi_path, 0.2);
  demand("caps", features.caps, 0.2);
  demand("changing links", features.changing, 0.2);
  demand("weights", features.weights, 0.2);
}

// Link A saturates at cA/(n1+n3), link B at cB/(n1+n2): equal in real numbers, an ulp or so apart in doubles, and when B
// freezes its flows first, A's level is recomputed with a rounding of its own. Whatever rounding does, a flow's level
// depends neither on a link C of the same level that it has nothing to do with, nor on the numbers of the links.
TEST(MaxMinProperty, NearlyEqualLevelsDependOnNothingElse) {
  check_property(2000, [] {
    Dice dice = draw_dice();
    const double level = dice.uniform(1, 2);
    const std::uint32_t n1 = dice.between(1, 64), n2 = dice.between(1, 64), n3 = dice.between(1, 3);
    const auto solve = [&](std::vector<std::uint32_t> names, bool with_c) {
      const auto link = [&](std::size_t which) { return static_cast<LinkId>(names[which]); };
      LinkTable links(3);
      links[link(0)].capacity = Bandwidth::bytes_per_s(level * (n1 + n3));
      links[link(1)].capacity = Bandwidth::bytes_per_s(level * (n1 + n2));
      links[link(2)].capacity = links[link(0)].capacity;
      PathTable paths{false};
      std::vector<Flow> flows{
          {0, {{link(0), 1, 1}, {link(1), 1, 1}}, n1, 0}, {1, {{link(0), 1, 1}}, n3, 0}, {2, {{link(1), 1, 1}}, n2, 0}};
      if (with_c) flows.push_back({3, {{link(2), 1, 1}}, n1 + n3, 0});
      const MaxMin solver = fresh(links, paths, flows);
      return std::vector<double>{solver.level(0), solver.level(1), solver.level(2)};
    };
    const std::vector<double> alone = solve({0, 1, 2}, false);
    RC_ASSERT(close(alone[1], level));
    for (const auto& names : {std::vector<std::uint32_t>{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
      RC_ASSERT(solve(names, true) == alone);
      RC_ASSERT(solve(names, false) == alone);
    }
  });
}

}  // namespace
}  // namespace traingraph::sim::tests
