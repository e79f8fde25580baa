// The chunk model, transfer by transfer: what one alone takes, how links are shared, windows, caps, routes, stages,
// failures.
#include "sim/chunk_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/error.h"
#include "tests/sim/model_driver.h"

namespace traingraph::sim {
namespace {

using namespace literals;

constexpr double kChunk = 1000;                       // bytes
const Bandwidth kRate = Bandwidth::bytes_per_s(1e9);  // a chunk takes 1 us
const double kMicro = 1e6;                            // ps

RunOptions chunks_of(double bytes) {
  RunOptions options;
  options.network = NetworkModel::chunk;
  options.chunk.size = Bytes{bytes};
  return options;
}

LinkTable equal_links(std::size_t n, Duration latency = Duration{}) { return LinkTable{n, Link{kRate, latency}}; }

Path over(const LinkTable& links, std::initializer_list<std::uint32_t> hops, Duration overhead = Duration{}) {
  std::vector<LinkId> ids;
  for (const std::uint32_t h : hops) ids.push_back(LinkId{h});
  return single_path(links, ids, overhead);
}

double ps(Time t) { return static_cast<double>(t.count_ps()); }

// T = a + sum of latencies + S/B + (h-1) c/B, and the wire (the first link) is free after a + S/B.
TEST(ChunkAlone, TakesOneChunkTimeMoreForEveryFurtherHop) {
  for (std::uint32_t h = 1; h <= 7; ++h) {
    for (const std::uint32_t chunks : {1U, 2U, 3U, 50U, 1000U}) {
      for (const Duration latency : {0_ps, 700_ns, 25_us}) {
        const LinkTable links = equal_links(h, latency);
        std::vector<LinkId> hops;
        for (std::uint32_t l = 0; l < h; ++l) hops.push_back(LinkId{l});
        const Path path = single_path(links, hops, 3_us);
        const DrivenRun run =
            drive<ChunkModel>(links, {{path, Bytes{kChunk * chunks}, 5_us + Time::zero()}}, chunks_of(kChunk));
        const Time left = Time::zero() + 5_us + 3_us + chunks * 1_us;
        EXPECT_EQ(run.transfers[0].left, left) << h << " hops, " << chunks << " chunks";
        EXPECT_EQ(run.transfers[0].arrived, left + h * latency + (h - 1) * 1_us) << h << " hops, " << chunks << " chunks";
      }
    }
  }
}

// Rates whose chunks do not take a whole number of picoseconds: rounding does not pile up over a million chunks.
TEST(ChunkAlone, RoundingDoesNotPileUp) {
  const LinkTable links{1, Link{Bandwidth::bytes_per_s(7e9), 0_ps}};
  const double bytes = 1e6 * kChunk;
  const DrivenRun run = drive<ChunkModel>(links, {{over(links, {0}), Bytes{bytes}, Time::zero()}}, chunks_of(kChunk));
  EXPECT_NEAR(ps(run.transfers[0].arrived), bytes / 7e9 * 1e12, 1.0);
}

TEST(ChunkAlone, ALastChunkMayBeSmallerAndASmallTransferIsOneChunk) {
  const LinkTable links = equal_links(2);
  const Path path = over(links, {0, 1});
  // 2.5 chunks: the half chunk waits at the second link for the one before it, then takes 0.5 us there.
  EXPECT_EQ(drive<ChunkModel>(links, {{path, Bytes{2500}, Time::zero()}}, chunks_of(kChunk)).transfers[0].arrived,
            Time::zero() + 3500_ns);
  EXPECT_EQ(drive<ChunkModel>(links, {{path, Bytes{300}, Time::zero()}}, chunks_of(kChunk)).transfers[0].arrived,
            Time::zero() + 600_ns);
}

TEST(ChunkAlone, TheSlowestLinkSetsThePace) {
  LinkTable links = equal_links(3);
  links[LinkId{1}].capacity = Bandwidth::bytes_per_s(0.25e9);
  const DrivenRun run =
      drive<ChunkModel>(links, {{over(links, {0, 1, 2}), Bytes{10 * kChunk}, Time::zero()}}, chunks_of(kChunk));
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 1_us + 40_us + 1_us);
}

// k equal transfers on one link: each gets B/k, and they end one chunk after another in the order of their starts.
TEST(ChunkSharing, EqualTransfersOnOneLinkEndTogether) {
  const LinkTable links = equal_links(1);
  const TransferCase one{over(links, {0}), Bytes{100 * kChunk}, Time::zero()};
  const DrivenRun run = drive<ChunkModel>(links, {one, one, one}, chunks_of(kChunk));
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(run.transfers[i].arrived, Time::zero() + 298_us + i * 1_us);
}

// Two of unequal size: the short one ends at twice its time, the long one when all bytes have passed.
TEST(ChunkSharing, AShortTransferEndsAtTwiceItsTimeAndTheLinkNeverIdles) {
  const LinkTable links = equal_links(1);
  const Path path = over(links, {0});
  const DrivenRun run = drive<ChunkModel>(
      links, {{path, Bytes{500 * kChunk}, Time::zero()}, {path, Bytes{100 * kChunk}, Time::zero()}}, chunks_of(kChunk));
  EXPECT_EQ(run.transfers[1].arrived, Time::zero() + 200_us);
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 600_us);
}

// While both wait, a transfer of weight 3 gets three chunks to the other's one.
TEST(ChunkSharing, WeightsAreDeficitRoundRobin) {
  const LinkTable links = equal_links(1);
  const Path path = over(links, {0});
  const DrivenRun run =
      drive<ChunkModel>(links, {{path, Bytes{300 * kChunk}, Time::zero(), 3}, {path, Bytes{300 * kChunk}, Time::zero(), 1}},
                        chunks_of(kChunk));
  EXPECT_NEAR(ps(run.transfers[0].arrived), 400 * kMicro, 4 * kMicro);
  EXPECT_EQ(run.transfers[1].arrived, Time::zero() + 600_us);
}

// Whole messages, first come first served: the second waits for the first; it is not shared.
TEST(ChunkSharing, FifoServesWholeMessagesInTheOrderOfTheirComing) {
  const LinkTable links = equal_links(1);
  const Path path = over(links, {0});
  RunOptions options = chunks_of(kChunk);
  options.chunk.order = ChunkOrder::fifo;
  const DrivenRun run = drive<ChunkModel>(links,
                                          {{path, Bytes{100 * kChunk}, Time::zero() + 2_us},
                                           {path, Bytes{100 * kChunk}, Time::zero() + 1_us},
                                           {path, Bytes{10 * kChunk}, Time::zero() + 50_us}},
                                          options);
  EXPECT_EQ(run.transfers[1].arrived, Time::zero() + 101_us);
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 201_us);
  EXPECT_EQ(run.transfers[2].arrived, Time::zero() + 211_us);
}

// Under fifo a transfer whose next chunk comes late gets its place back: it came first.
TEST(ChunkSharing, FifoKeepsThePlaceOfATransferWhoseChunksTrickleIn) {
  LinkTable links = equal_links(2);
  links[LinkId{0}].capacity = Bandwidth::bytes_per_s(0.5e9);
  RunOptions options = chunks_of(kChunk);
  options.chunk.order = ChunkOrder::fifo;
  // The first comes to link 1 with a chunk every 2 us, from 2 us on; the second fills the gaps and the rest.
  const DrivenRun run = drive<ChunkModel>(links,
                                          {{over(links, {0, 1}), Bytes{10 * kChunk}, Time::zero()},
                                           {over(links, {1}), Bytes{40 * kChunk}, Time::zero() + 2500_ns}},
                                          options);
  // At worst a chunk of the other is being sent when one of the first comes.
  EXPECT_LE(run.transfers[0].arrived, Time::zero() + 22_us);
  EXPECT_GE(run.transfers[0].arrived, Time::zero() + 21_us);
  // 40 + 9 chunks after the first one has passed (3 us), none idle.
  EXPECT_EQ(run.transfers[1].arrived, Time::zero() + 52_us);
}

// A window of w chunks over h hops and latency l: w chunks for every h c/B + l, the whole rate at most.
TEST(ChunkWindow, BoundsTheBytesInFlight) {
  const LinkTable links = equal_links(4, 2_us);
  const Path path = over(links, {0, 1, 2, 3});
  for (const std::uint32_t w : {1U, 2U, 3U, 6U, 12U, 13U}) {
    RunOptions options = chunks_of(kChunk);
    options.chunk.window = Bytes{kChunk * w};
    const DrivenRun run = drive<ChunkModel>(links, {{path, Bytes{240 * kChunk}, Time::zero()}}, options);
    const double round_trip = 4 + 8;  // us
    const double expected = w >= 12 ? 240 + 3 + 8 : 240.0 / w * round_trip + (w - 1);
    EXPECT_NEAR(ps(run.transfers[0].arrived), expected * kMicro, 1) << w << " chunks";
  }
}

TEST(ChunkWindow, IsAtLeastOneChunk) {
  const LinkTable links = equal_links(1, 1_us);
  RunOptions options = chunks_of(kChunk);
  options.chunk.window = Bytes{1};
  const DrivenRun run = drive<ChunkModel>(links, {{over(links, {0}), Bytes{5 * kChunk}, Time::zero()}}, options);
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 10_us);
}

TEST(ChunkCap, SpacesTheEntriesByTheTimeOfAChunkAtTheCap) {
  const LinkTable links = equal_links(2, 1_us);
  const DrivenRun run =
      drive<ChunkModel>(links, {{over(links, {0, 1}), Bytes{50 * kChunk}, Time::zero(), 1, Bandwidth::bytes_per_s(0.25e9)}},
                        chunks_of(kChunk));
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 49 * 4_us + 4_us);
}

TEST(ChunkCap, LimitsATransferWithoutLinks) {
  const LinkTable links = equal_links(1);
  Path path;
  path.latency = 3_us;
  const DrivenRun run = drive<ChunkModel>(
      links, {{path, Bytes{50 * kChunk}, Time::zero(), 1, Bandwidth::bytes_per_s(0.25e9)}}, chunks_of(kChunk));
  EXPECT_EQ(run.transfers[0].left, Time::zero() + 200_us);
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 203_us);
}

// Shares 1/2, 1/3, 1/6 over three routes of one link each: by count of chunks, never more than one chunk off.
TEST(ChunkRoutes, ChunksFollowTheSharesOfTheRoutes) {
  const LinkTable links = equal_links(3);
  const Path path = combine_routes(links, {{{{LinkId{0}}}, 1, 2}, {{{LinkId{1}}}, 1, 3}, {{{LinkId{2}}}, 1, 6}}, Duration{});
  const DrivenRun run = drive<ChunkModel>(links, {{path, Bytes{600 * kChunk}, Time::zero()}}, chunks_of(kChunk));
  EXPECT_NEAR(run.record.links[LinkId{0}].bytes, 300 * kChunk, kChunk);
  EXPECT_NEAR(run.record.links[LinkId{1}].bytes, 200 * kChunk, kChunk);
  EXPECT_NEAR(run.record.links[LinkId{2}].bytes, 100 * kChunk, kChunk);
  // The half is the bottleneck: S/2 at B.
  EXPECT_NEAR(ps(run.transfers[0].arrived), 300 * kMicro, 6 * kMicro);
}

TEST(ChunkRoutes, TiesGoToTheFirstRouteListed) {
  const LinkTable links = equal_links(2);
  const Path path = combine_routes(links, {{{{LinkId{1}}}, 1, 2}, {{{LinkId{0}}}, 1, 2}}, Duration{});
  const DrivenRun run = drive<ChunkModel>(links, {{path, Bytes{kChunk}, Time::zero()}}, chunks_of(kChunk));
  EXPECT_EQ(run.record.links[LinkId{1}].bytes, kChunk);
  EXPECT_EQ(run.record.links[LinkId{0}].bytes, 0);
}

// In-switch reduction over four members: all up-links in parallel, then all down-links; the slowest of a stage counts.
TEST(ChunkStages, AnInSwitchTransferCrossesAllUpLinksThenAllDownLinks) {
  LinkTable links = equal_links(8);
  for (std::uint32_t l = 0; l < 8; ++l) links[LinkId{l}].latency = Duration::ps(100'000 * (l + 1));
  Route route;
  route.stages = {{LinkId{0}, LinkId{2}, LinkId{4}, LinkId{6}}, {LinkId{1}, LinkId{3}, LinkId{5}, LinkId{7}}};
  const Path path = combine_routes(links, {route}, 0_ps);
  const DrivenRun run = drive<ChunkModel>(links, {{path, Bytes{20 * kChunk}, Time::zero()}}, chunks_of(kChunk));
  EXPECT_EQ(run.transfers[0].left, Time::zero() + 20_us);
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 20_us + 1_us + 700_ns + 800_ns);
  for (std::uint32_t l = 0; l < 8; ++l) EXPECT_DOUBLE_EQ(run.record.links[LinkId{l}].bytes, 20 * kChunk);
}

TEST(ChunkFailure, ALinkThatIsDownHoldsItsTransfersUntilItIsUp) {
  LinkTable links = equal_links(1);
  links[LinkId{0}].capacity = Bandwidth{};
  const TransferCase one{over(links, {0}), Bytes{10 * kChunk}, Time::zero()};
  EXPECT_EQ(drive<ChunkModel>(links, {one}, chunks_of(kChunk)).transfers[0].arrived, Time::never());
  const DrivenRun run = drive<ChunkModel>(links, {one}, chunks_of(kChunk), {{LinkId{0}, Time::zero() + 100_us, kRate}});
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 110_us);
}

// Down in the middle of a chunk, then up at half the rate: the chunk goes on where it stopped.
TEST(ChunkFailure, AChunkInTransmissionFollowsTheCapacity) {
  const LinkTable links = equal_links(1);
  const TransferCase one{over(links, {0}), Bytes{10 * kChunk}, Time::zero()};
  const DrivenRun run = drive<ChunkModel>(
      links, {one}, chunks_of(kChunk),
      {{LinkId{0}, Time::zero() + 3500_ns, Bandwidth{}}, {LinkId{0}, Time::zero() + 50_us, Bandwidth::bytes_per_s(0.5e9)}});
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 50_us + 13_us);
  EXPECT_DOUBLE_EQ(run.record.links[LinkId{0}].bytes, 10 * kChunk);
  EXPECT_EQ(run.record.links[LinkId{0}].busy, 3500_ns + 13_us) << "a link that is down is not busy";
}

// A window fixed when the link was down would be too small for the latency once it is up.
TEST(ChunkFailure, TheDefaultWindowFollowsTheCapacities) {
  LinkTable links = equal_links(1, 50_us);
  links[LinkId{0}].capacity = Bandwidth{};
  const DrivenRun run = drive<ChunkModel>(links, {{over(links, {0}), Bytes{500 * kChunk}, Time::zero()}}, chunks_of(kChunk),
                                          {{LinkId{0}, Time::zero() + 10_us, kRate}});
  EXPECT_EQ(run.transfers[0].arrived, Time::zero() + 10_us + 500_us + 50_us);
}

TEST(ChunkRecord, BytesAreConservedAndNoLinkIsEverAboveItsCapacity) {
  const LinkTable links = equal_links(4, 300_ns);
  std::vector<TransferCase> cases;
  for (std::uint32_t i = 0; i < 12; ++i) {
    cases.push_back({over(links, {i % 4, (i + 1 + i / 4) % 4 == i % 4 ? (i + 1) % 4 : (i + 1 + i / 4) % 4}),
                     Bytes{1234.5 * (i + 3)}, Time::zero() + i * 2_us, 1 + i % 3});
  }
  const DrivenRun run = drive<ChunkModel>(links, cases, chunks_of(kChunk));
  std::vector<double> routed(4);
  for (const TransferCase& c : cases) {
    for (const PathLink& hop : c.path.links) routed[index(hop.link)] += c.bytes.count() * hop.fraction();
  }
  for (std::uint32_t l = 0; l < 4; ++l) {
    const LinkRecord& link = run.record.links[LinkId{l}];
    EXPECT_NEAR(link.bytes, routed[l], 1e-6);
    EXPECT_NEAR(static_cast<double>(link.busy.count_ps()), link.bytes / 1e9 * 1e12, 100);
    EXPECT_EQ(link.peak_utilization, 1.0);
  }
}

TEST(ChunkOptionsErrors, AreClear) {
  const LinkTable links = equal_links(1);
  const auto error_of = [&](const RunOptions& options) -> std::string {
    try {
      drive<ChunkModel>(links, {}, options);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(chunks_of(0)), "chunk size 0 bytes; must be positive");
  RunOptions options = chunks_of(1);
  options.chunk.window = Bytes{-5};
  EXPECT_EQ(error_of(options), "chunk window -5 bytes; must not be negative");
}

// A path spread over more routes than the router may list has links, but no route to send a chunk along.
TEST(ChunkErrors, APathWithoutRoutesIsRefused) {
  Path path = over(equal_links(2), {0, 1});
  path.routes.clear();
  EXPECT_THROW(PathTable{true}.add(path), InputError);
  EXPECT_NO_THROW(PathTable{false}.add(path));
  EXPECT_NO_THROW(PathTable{true}.add(Path{}));
}

}  // namespace
}  // namespace traingraph::sim
