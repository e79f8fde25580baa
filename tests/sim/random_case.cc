#include "tests/sim/random_case.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "tests/sim/program_builder.h"
#include "tests/sim/sources.h"

namespace traingraph::sim::tests {
namespace {

struct Arc {
  std::uint32_t to = 0;
  LinkId link{};
};

class FabricMaker {
 public:
  FabricMaker(Dice& dice, RandomCase& c, std::uint32_t endpoints, bool star = false)
      : dice_{dice}, case_{c}, endpoints_{endpoints} {
    if (star) {
      make_star();
      return;
    }
    const std::uint32_t nodes = endpoints + dice.below(6);
    arcs_.resize(nodes);
    for (std::uint32_t n = 1; n < nodes; ++n) cable(n, dice.below(n));
    for (std::uint32_t extra = dice.below(2 * nodes); extra > 0; --extra) {
      const std::uint32_t a = dice.below(nodes), b = dice.below(nodes);
      if (a != b) cable(a, b);
    }
    case_.paths.assign(endpoints, std::vector<Path>(endpoints));
    for (std::uint32_t a = 0; a < endpoints; ++a)
      for (std::uint32_t b = 0; b < endpoints; ++b)
        if (a != b) case_.paths[a][b] = draw_path(a, b);
  }

 private:
  /// Equal cables from every endpoint to one switch, one path a pair: edges of a ring are equal.
  void make_star() {
    const Link link{Bandwidth::bytes_per_s(1e9), Duration::ps(1000 * dice_.below(3000))};
    std::vector<LinkId> up, down;
    for (std::uint32_t e = 0; e < endpoints_; ++e) {
      up.push_back(case_.links.push_back(link));
      down.push_back(case_.links.push_back(link));
    }
    const Duration overhead = Duration::ps(dice_.below(2'000'000));
    case_.paths.assign(endpoints_, std::vector<Path>(endpoints_));
    for (std::uint32_t a = 0; a < endpoints_; ++a)
      for (std::uint32_t b = 0; b < endpoints_; ++b)
        if (a != b) case_.paths[a][b] = single_path(case_.links, {up[a], down[b]}, overhead);
  }

  void cable(std::uint32_t a, std::uint32_t b) {
    const Link link{Bandwidth::bytes_per_s(dice_.chance(0.5) ? dice_.pick(std::vector<double>{1e9, 2e9, 4e9})
                                                             : std::exp(dice_.uniform(20, 23))),
                    dice_.chance(0.2) ? Duration{} : Duration::ps(1000 * dice_.below(3000))};
    arcs_[a].push_back({b, case_.links.push_back(link)});
    arcs_[b].push_back({a, case_.links.push_back(link)});
  }

  [[nodiscard]] std::vector<std::uint32_t> distances_to(std::uint32_t target) const {
    // Cables are symmetric, so the distance from the target is the distance to it.
    std::vector<std::uint32_t> distance(arcs_.size(), ~0U);
    std::vector<std::uint32_t> queue{target};
    distance[target] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const Arc& arc : arcs_[queue[i]])
        if (distance[arc.to] == ~0U) {
          distance[arc.to] = distance[queue[i]] + 1;
          queue.push_back(arc.to);
        }
    return distance;
  }
  Route random_shortest(std::uint32_t from, const std::vector<std::uint32_t>& distance) {
    Route route;
    while (distance[from] > 0) {
      std::vector<Arc> closer;
      for (const Arc& arc : arcs_[from])
        if (distance[arc.to] + 1 == distance[from]) closer.push_back(arc);
      const Arc arc = dice_.pick(closer);
      route.stages.push_back({arc.link});
      from = arc.to;
    }
    return route;
  }
  Path draw_path(std::uint32_t from, std::uint32_t to) {
    const std::vector<std::uint32_t> distance = distances_to(to);
    const Duration overhead = dice_.chance(0.3) ? Duration{} : Duration::ps(dice_.below(2'000'000));
    static const std::vector<std::vector<std::uint32_t>> kShares{{1}, {1}, {1, 1}, {1, 2}, {1, 1, 1}, {2, 3, 3}};
    const auto shares = dice_.pick(kShares);
    const std::uint32_t k = std::accumulate(shares.begin(), shares.end(), 0U);
    std::vector<Route> routes;
    for (const std::uint32_t n : shares) {
      routes.push_back(random_shortest(from, distance));
      routes.back().n = n;
      routes.back().k = k;
    }
    Path path = combine_routes(case_.links, std::move(routes), overhead);
    case_.multi_path =
        case_.multi_path || std::any_of(path.links.begin(), path.links.end(), [](const PathLink& l) { return l.k > 1; });
    return path;
  }

  Dice& dice_;
  RandomCase& case_;
  std::uint32_t endpoints_;
  std::vector<std::vector<Arc>> arcs_;
};

Bytes draw_bytes(Dice& dice) {
  if (dice.chance(0.08)) return Bytes{0};
  return Bytes{dice.chance(0.3) ? 4096.0 * dice.between(1, 8) : std::exp(dice.uniform(0, 15))};
}

struct Algorithm {
  std::string name;
  std::uint32_t members;
  ProgramBuilder::MakeSource make;
};

Algorithm draw_algorithm(Dice& dice, const std::string& name, std::uint32_t ranks) {
  const Bytes bytes = draw_bytes(dice);
  const std::uint32_t members = dice.between(2, ranks);
  if (name == "ring") return {name, members, ring_all_reduce(bytes, dice.chance(0.3))};
  if (name == "direct") return {name, members, direct_all_to_all(bytes)};
  if (name == "chain") return {name, members, chain_broadcast(bytes, dice.between(1, 4))};
  return {name, members >= 4 ? 4U : 2U, [bytes](std::uint32_t n) { return std::make_shared<Doubling>(n, bytes); }};
}

void add_routed(RandomCase& c, const Path& path, Bytes bytes) {
  for (const PathLink& hop : path.links) c.routed[index(hop.link)] += bytes.count() * hop.fraction();
}
void add_routed(RandomCase& c, const TransferSource& source, const std::vector<RankId>& members) {
  for (std::uint32_t m = 0; m < source.members(); ++m)
    for (std::uint32_t lane = source.first_lane(m); lane < source.first_lane(m + 1); ++lane)
      for (std::uint32_t s = 0; s < source.sends(lane); ++s) {
        const Send send = source.send(lane, s);
        // Rank r lives on endpoint r here.
        add_routed(c, c.paths[index(members[m])][index(members[send.destination])], send.bytes);
      }
}

class ProgramMaker {
 public:
  ProgramMaker(Dice& dice, RandomCase& c, const CaseOptions& options) : dice_{dice}, case_{c} {
    const auto ranks = static_cast<std::uint32_t>(c.paths.size());
    for (std::uint32_t r = 0; r < ranks; ++r) ranks_.push_back(b_.rank(r, dice.chance(0.2) ? 1.25 : 1.0));
    done_.resize(ranks);
    if (options.collectives) draw_communicators();
    for (std::uint32_t i = 0; i < options.operations; ++i) {
      const double what = dice.uniform(0, 1);
      if (what < 0.35) {
        compute();
      } else if (what < 0.7 || groups_.empty()) {
        message();
      } else {
        collective();
      }
    }
    if (options.link_changes && dice.chance(0.5)) change_links();
    b_.steps(dice.between(1, options.most_steps));
    c.program = b_.build();
  }

 private:
  struct Group {
    CommunicatorId communicator{};
    std::uint32_t kind = 0;
    std::uint32_t stream = 0;
    std::vector<RankId> members;
    std::shared_ptr<const TransferSource> source;
    std::string label;
  };

  void draw_communicators() {
    for (std::uint32_t i = dice_.between(1, 4); i > 0; --i) {
      const auto name = dice_.pick(std::vector<std::string>{"ring", "direct", "chain", "doubling"});
      const Algorithm a = draw_algorithm(dice_, name, static_cast<std::uint32_t>(ranks_.size()));
      Group g;
      g.members = ranks_;
      dice_.shuffle(g.members);
      g.members.resize(a.members);
      g.communicator = b_.communicator(g.members, name + std::to_string(i));
      g.kind = b_.collective(name, Bytes{}, a.make);
      g.stream = dice_.below(4);
      g.source = a.make(a.members);
      g.label = "collective." + std::to_string(i);
      groups_.push_back(std::move(g));
    }
  }
  /// Up to two operations of the rank that have been appended already.
  std::vector<Dependency> needs(RankId rank, std::uint32_t stream) {
    std::vector<Dependency> out;
    const auto& done = done_[index(rank)];
    for (std::uint32_t i = dice_.below(3); i > 0 && !done.empty(); --i) {
      const Dependency d = dice_.chance(0.6) ? done.back() : dice_.pick(done);
      if (d.stream != stream) out.push_back(d);
    }
    return out;
  }
  void compute() {
    const RankId rank = dice_.pick(ranks_);
    const std::uint32_t stream = dice_.below(4);
    const Duration d =
        dice_.chance(0.1) ? Duration{} : Duration::ps(static_cast<std::int64_t>(std::exp(dice_.uniform(0, 17))));
    done_[index(rank)].push_back(b_.compute(rank, d, {.label = "work", .stream = stream, .after = needs(rank, stream)}));
  }
  void message() {
    const RankId from = dice_.pick(ranks_);
    const RankId to = dice_.pick(ranks_);
    const std::uint32_t weight = dice_.chance(0.3) ? dice_.between(2, 4) : 1;
    const double cap = dice_.chance(0.25) ? std::exp(dice_.uniform(19, 22)) : 0;
    const ChannelId channel = b_.channel(from, to, weight, Bandwidth::bytes_per_s(cap));
    case_.caps = case_.caps || cap > 0;
    case_.weights = case_.weights || weight > 1;
    const std::string label = "message." + std::to_string(index(channel));
    const std::uint32_t in = dice_.below(4);  // one stream receives a channel: two would race for its messages
    for (std::uint32_t i = dice_.between(1, 2); i > 0; --i) {
      const Bytes bytes = draw_bytes(dice_);
      const std::uint32_t out = dice_.below(4);
      done_[index(from)].push_back(
          b_.send(from, channel, bytes, {.label = label, .stream = out, .after = needs(from, out)}));
      done_[index(to)].push_back(b_.receive(to, channel, {.label = "receive", .stream = in, .after = needs(to, in)}));
      add_routed(case_, case_.paths[index(from)][index(to)], bytes);
    }
  }
  void collective() {
    const Group& g = groups_[dice_.below(static_cast<std::uint32_t>(groups_.size()))];
    for (const RankId rank : g.members)
      done_[index(rank)].push_back(
          b_.call(rank, g.communicator, g.kind, {.label = g.label, .stream = g.stream, .after = needs(rank, g.stream)}));
    add_routed(case_, *g.source, g.members);
  }
  void change_links() {
    for (std::uint32_t i = dice_.between(1, 6); i > 0; --i) {
      const std::uint32_t link = dice_.below(static_cast<std::uint32_t>(case_.links.size()));
      const Bandwidth now = case_.links[static_cast<LinkId>(link)].capacity;
      const auto at = Duration::ps(static_cast<std::int64_t>(std::exp(dice_.uniform(10, 21))));
      b_.change_link(at, link, now * dice_.pick(std::vector<double>{0, 0.25, 0.5, 2}));
      b_.change_link(at + Duration::ps(dice_.between(1, 2'000'000'000)), link, now);
    }
  }

  Dice& dice_;
  RandomCase& case_;
  ProgramBuilder b_;
  std::vector<RankId> ranks_;
  std::vector<Group> groups_;
  std::vector<std::vector<Dependency>> done_;  // by rank
};

}  // namespace

void RandomCase::fill(TableRouter& router) const {
  for (std::uint32_t a = 0; a < paths.size(); ++a)
    for (std::uint32_t b = 0; b < paths.size(); ++b)
      if (a != b) router.set(a, b, paths[a][b]);
}

RandomCase draw_case(Dice& dice, const CaseOptions& options) {
  RandomCase c;
  FabricMaker{dice, c, dice.between(2, 8), options.star};
  c.routed.assign(c.links.size(), 0);
  ProgramMaker{dice, c, options};
  return c;
}

RandomCase draw_lone_collective(Dice& dice, const std::string& algorithm) {
  RandomCase c;
  FabricMaker{dice, c, dice.between(2, 8)};
  c.routed.assign(c.links.size(), 0);
  const auto endpoints = static_cast<std::uint32_t>(c.paths.size());
  const Algorithm a = draw_algorithm(dice, algorithm, endpoints);
  ProgramBuilder b;
  std::vector<RankId> ranks;
  for (std::uint32_t r = 0; r < endpoints; ++r) ranks.push_back(b.rank(r));
  dice.shuffle(ranks);
  ranks.resize(a.members);
  const CommunicatorId communicator = b.communicator(ranks);
  const std::uint32_t kind = b.collective(a.name, Bytes{}, a.make);
  for (const RankId r : ranks) b.call(r, communicator, kind);
  add_routed(c, *a.make(a.members), ranks);
  c.program = b.build();
  return c;
}

Names draw_names(Dice& dice, const RandomCase& c) {
  Names names;
  names.ranks.resize(c.program.ranks.size());
  names.links.resize(c.links.size());
  for (auto* list : {&names.ranks, &names.links}) {
    std::iota(list->begin(), list->end(), 0U);
    dice.shuffle(*list);
  }
  return names;
}

RandomCase relabelled(const RandomCase& c, const Names& names) {
  RandomCase out = c;
  const auto rank = [&](RankId r) { return static_cast<RankId>(names.ranks[index(r)]); };
  const auto link = [&](LinkId l) { return static_cast<LinkId>(names.links[index(l)]); };
  for (std::uint32_t l = 0; l < c.links.size(); ++l) {
    out.links[link(static_cast<LinkId>(l))] = c.links[static_cast<LinkId>(l)];
    out.routed[names.links[l]] = c.routed[l];
  }
  for (auto& row : out.paths)
    for (Path& path : row) {
      for (PathLink& hop : path.links) hop.link = link(hop.link);
      std::ranges::sort(path.links, {}, [](const PathLink& hop) { return hop.link; });
      for (Route& route : path.routes)
        for (auto& stage : route.stages)
          for (LinkId& l : stage) l = link(l);
    }
  for (std::uint32_t r = 0; r < c.program.ranks.size(); ++r)
    out.program.ranks[rank(static_cast<RankId>(r))] = c.program.ranks[static_cast<RankId>(r)];
  for (Channel& channel : out.program.channels) {
    channel.source = rank(channel.source);
    channel.destination = rank(channel.destination);
  }
  for (Communicator& communicator : out.program.communicators)
    for (RankId& member : communicator.members) member = rank(member);
  for (Program::LinkChange& change : out.program.link_changes) change.link = link(change.link);
  return out;
}

RandomCase slowed(const RandomCase& c, std::int64_t x) {
  RandomCase out = c;
  const double factor = static_cast<double>(x);
  for (Link& l : out.links) l = {l.capacity / factor, l.latency * x};
  for (auto& row : out.paths)
    for (Path& path : row) {
      path.latency = path.latency * x;
      path.overhead = path.overhead * x;
    }
  for (Duration& d : out.program.durations) d = d * x;
  for (Channel& channel : out.program.channels) channel.cap = channel.cap / factor;
  for (Program::LinkChange& change : out.program.link_changes) {
    change.at = Time::at(change.at.since_start() * x);
    change.capacity = change.capacity / factor;
  }
  return out;
}

}  // namespace traingraph::sim::tests
