// Round robin with a window tends to max-min fairness as chunks shrink: by hand on a parking lot, and against the flow model
// on random networks with several levels of water, weights, caps, several routes and changing capacities.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "sim/chunk_model.h"
#include "sim/flow_model.h"
#include "tests/sim/model_driver.h"
#include "tests/sim/property.h"

namespace traingraph::sim {
namespace {

using namespace literals;

RunOptions chunks_of(double bytes) {
  RunOptions options;
  options.network = NetworkModel::chunk;
  options.chunk.size = Bytes{bytes};
  return options;
}

double seconds(Time t) { return (t - Time::zero()).in_seconds(); }

/// The largest difference of an arrival between the two models, as a share of the flow model's last arrival.
double distance(const DrivenRun& flow, const DrivenRun& chunk) {
  double last = 0;
  double worst = 0;
  for (std::size_t i = 0; i < flow.transfers.size(); ++i) {
    last = std::max(last, seconds(flow.transfers[i].arrived));
    worst = std::max(worst, std::abs(seconds(flow.transfers[i].arrived) - seconds(chunk.transfers[i].arrived)));
  }
  return worst / last;
}

// Parking lot: one transfer over all of h links, one more on each. Max-min: everyone B/2 until the short ones (S/2) end at
// S/B; then the long one, of which half is left, has the links to itself: 1.5 S/B.
TEST(ChunkFairness, AParkingLotTendsToMaxMin) {
  const double rate = 1e9;
  const double size = 1e6;
  for (const std::uint32_t h : {1U, 2U, 4U, 8U}) {
    const LinkTable links{h, Link{Bandwidth::bytes_per_s(rate), 0_ps}};
    std::vector<LinkId> all;
    for (std::uint32_t l = 0; l < h; ++l) all.push_back(LinkId{l});
    std::vector<TransferCase> cases{{single_path(links, all, 0_ps), Bytes{size}, Time::zero()}};
    for (const LinkId l : all) cases.push_back({single_path(links, {l}, 0_ps), Bytes{size / 2}, Time::zero()});
    double previous = 1;
    for (const double chunk : {size / 20, size / 200, size / 2000}) {
      const DrivenRun run = drive<ChunkModel>(links, cases, chunks_of(chunk));
      double worst = std::abs(seconds(run.transfers[0].arrived) - 1.5 * size / rate);
      for (std::uint32_t i = 1; i <= h; ++i)
        worst = std::max(worst, std::abs(seconds(run.transfers[i].arrived) - size / rate));
      EXPECT_LE(worst, (2.0 * h + 1) * chunk / rate) << h << " links, chunks of " << chunk;
      EXPECT_LE(worst, previous);
      previous = worst;
    }
  }
}

// The same under fifo does not tend to max-min: the second of two messages waits for the first.
TEST(ChunkFairness, FifoDoesNotTendToMaxMin) {
  const LinkTable links{1, Link{Bandwidth::bytes_per_s(1e9), 0_ps}};
  const TransferCase one{single_path(links, {LinkId{0}}, 0_ps), Bytes{1e6}, Time::zero()};
  RunOptions options = chunks_of(100);
  options.chunk.order = ChunkOrder::fifo;
  const DrivenRun flow = drive<FlowModel>(links, {one, one}, RunOptions{});
  EXPECT_NEAR(distance(flow, drive<ChunkModel>(links, {one, one}, options)), 0.5, 0.01);
  EXPECT_LT(distance(flow, drive<ChunkModel>(links, {one, one}, chunks_of(100))), 0.001);
}

struct Network {
  LinkTable links;
  std::vector<TransferCase> cases;
  std::vector<CapacityChange> changes;
  bool multipath = false;
  bool weighted = false;
  bool capped = false;
};

class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint32_t seed) : random_{seed} {}

  Network make() {
    Network network;
    const std::uint32_t links = 3 + pick(5);
    for (std::uint32_t l = 0; l < links; ++l) {
      network.links.push_back({Bandwidth::bytes_per_s(1e8 * (2 + pick(18))), pick(3) == 0 ? Duration::ns(pick(500)) : 0_ps});
    }
    network.multipath = pick(3) == 0;
    network.weighted = pick(3) == 0;
    network.capped = pick(3) == 0;
    const std::uint32_t transfers = 3 + pick(6);
    for (std::uint32_t i = 0; i < transfers; ++i) {
      TransferCase c{network.multipath && pick(2) == 0 ? two_routes(network.links) : one_route(network.links),
                     Bytes{1e6 * (1 + pick(8))}, Time::zero() + Duration::us(pick(2) == 0 ? 0 : pick(4000))};
      if (network.weighted) c.weight = 1 + pick(3);
      if (network.capped && pick(3) == 0) c.cap = Bandwidth::bytes_per_s(5e7 * (1 + pick(8)));
      network.cases.push_back(c);
    }
    if (pick(3) == 0) {
      const LinkId link{pick(links)};
      network.changes.push_back(
          {link, Time::zero() + Duration::us(1000 + pick(4000)), Bandwidth::bytes_per_s(1e8 * pick(15))});
      network.changes.push_back({link, Time::zero() + 12_ms, Bandwidth::bytes_per_s(1e9)});
    }
    return network;
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::vector<LinkId> some_links(const LinkTable& links) {
    std::set<std::uint32_t> chosen;
    const std::uint32_t hops = 1 + pick(std::min<std::uint32_t>(4, static_cast<std::uint32_t>(links.size())));
    std::vector<LinkId> path;
    while (path.size() < hops) {
      const std::uint32_t l = pick(static_cast<std::uint32_t>(links.size()));
      if (chosen.insert(l).second) path.push_back(LinkId{l});
    }
    return path;
  }
  Path one_route(const LinkTable& links) { return single_path(links, some_links(links), 0_ps); }
  Path two_routes(const LinkTable& links) {
    const std::uint32_t n = 1 + pick(2);
    std::vector<Route> routes(2);
    for (std::uint32_t r = 0; r < 2; ++r) {
      for (const LinkId l : some_links(links)) routes[r].stages.push_back({l});
      routes[r].n = r == 0 ? n : 3 - n;
      routes[r].k = 3;
    }
    return combine_routes(links, routes, 0_ps);
  }

  std::mt19937 random_;
};

// The distance falls with the chunk: on each network to a few per cent at chunks of S/1000 to S/8000, on average in
// proportion.
TEST(ChunkFairness, RandomNetworksTendToTheFlowModel) {
  const std::uint32_t networks = 150;
  double coarse = 0;
  double fine = 0;
  tests::Coverage multipath, weighted, capped, changing;
  for (std::uint32_t seed = 0; seed < networks; ++seed) {
    const Network network = RandomNetwork{seed}.make();
    multipath.count(network.multipath);
    weighted.count(network.weighted);
    capped.count(network.capped);
    changing.count(!network.changes.empty());
    const DrivenRun flow = drive<FlowModel>(network.links, network.cases, RunOptions{}, network.changes);
    coarse += distance(flow, drive<ChunkModel>(network.links, network.cases, chunks_of(16e3), network.changes));
    const double last = distance(flow, drive<ChunkModel>(network.links, network.cases, chunks_of(1e3), network.changes));
    EXPECT_LT(last, 0.04) << "network " << seed;
    fine += last;
  }
  EXPECT_LT(fine / networks, 0.002);
  EXPECT_LT(fine, coarse / 8);
  tests::demand("several_routes", multipath, 0.2);
  tests::demand("weights", weighted, 0.2);
  tests::demand("caps", capped, 0.2);
  tests::demand("changing_links", changing, 0.2);
}

// Two transfers on one link, one of which sends half of its bytes elsewhere: what is equal is the whole transfers' rate, so
// the link gives it one chunk to the other's two: 1/3 + 1/3 of the bytes of each while both last.
TEST(ChunkFairness, ALinkCountsTheShareOfATransferThatItCarries) {
  const LinkTable links{2, Link{Bandwidth::bytes_per_s(1e9), 0_ps}};
  const Path half = combine_routes(links, {{{{LinkId{0}}}, 1, 2}, {{{LinkId{1}}}, 1, 2}}, 0_ps);
  const Path whole = single_path(links, {LinkId{0}}, 0_ps);
  const DrivenRun run =
      drive<ChunkModel>(links, {{half, Bytes{1e6}, Time::zero()}, {whole, Bytes{1e6}, Time::zero()}}, chunks_of(500));
  EXPECT_NEAR(seconds(run.transfers[0].arrived), 1.5e-3, 5e-6);
  EXPECT_NEAR(seconds(run.transfers[1].arrived), 1.5e-3, 5e-6);
}

TEST(ChunkFairness, TheSameRunTwiceIsTheSameToThePicosecond) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Network network = RandomNetwork{seed}.make();
    const DrivenRun one = drive<ChunkModel>(network.links, network.cases, chunks_of(16e3), network.changes);
    const DrivenRun two = drive<ChunkModel>(network.links, network.cases, chunks_of(16e3), network.changes);
    for (std::size_t i = 0; i < one.transfers.size(); ++i) {
      EXPECT_EQ(one.transfers[i].left, two.transfers[i].left);
      EXPECT_EQ(one.transfers[i].arrived, two.transfers[i].arrived);
    }
    EXPECT_EQ(one.events, two.events);
  }
}

}  // namespace
}  // namespace traingraph::sim
