// Paths as the engine sees them: shares, latency, rate.
#include "sim/router.h"
#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

sim::LinkId link(std::uint32_t i) { return static_cast<sim::LinkId>(i); }

sim::LinkTable table() {
  sim::LinkTable t;
  for (const auto& [gb, us] : {std::pair{10.0, 1}, {20.0, 2}, {5.0, 4}, {40.0, 8}})
    t.push_back({gb_per_s(gb), Duration::us(us)});
  return t;
}

TEST(Path, OfOneRouteHasFractionOneAndSumsLatency) {
  const sim::LinkTable t = table();
  const sim::Path p = sim::single_path(t, {link(3), link(0)}, Duration::us(7));
  EXPECT_EQ(p.links, (std::vector<sim::PathLink>{{link(0), 1, 1}, {link(3), 1, 1}}));
  EXPECT_EQ(p.latency, Duration::us(9));
  EXPECT_EQ(p.overhead, Duration::us(7));
  ASSERT_EQ(p.routes.size(), 1U);
  EXPECT_EQ(p.routes[0].stages, (std::vector<std::vector<sim::LinkId>>{{link(3)}, {link(0)}}));
  EXPECT_DOUBLE_EQ(sim::rate_alone(t, p).bytes_per_s(), 10e9);
}

TEST(Path, CountsALinkListedTwiceTwice) {
  const sim::LinkTable t = table();
  const sim::Path p = sim::single_path(t, {link(1), link(1)}, {});
  EXPECT_EQ(p.links, (std::vector<sim::PathLink>{{link(1), 2, 1}}));
  EXPECT_DOUBLE_EQ(sim::rate_alone(t, p).bytes_per_s(), 10e9);
}

// 1/2 over 0 and 2, 1/3 over 0 and 1, 1/6 over 2: link 0 carries 5/6, link 2 two thirds.
TEST(Path, SumsSharesInLowestTerms) {
  const sim::LinkTable t = table();
  const sim::Path p =
      sim::combine_routes(t, {{{{link(0)}, {link(2)}}, 1, 2}, {{{link(0)}, {link(1)}}, 1, 3}, {{{link(2)}}, 1, 6}}, {});
  EXPECT_EQ(p.links, (std::vector<sim::PathLink>{{link(0), 5, 6}, {link(1), 1, 3}, {link(2), 2, 3}}));
  EXPECT_EQ(p.latency, Duration::us(5));
  EXPECT_DOUBLE_EQ(sim::rate_alone(t, p).bytes_per_s(), 7.5e9) << "5 GB/s over 2/3";
}

TEST(Path, ChargesAStageItsLongestLink) {
  const sim::LinkTable t = table();
  const sim::Path p = sim::combine_routes(t, {{{{link(0), link(1)}, {link(2), link(3)}}, 1, 1}}, {});
  EXPECT_EQ(p.latency, Duration::us(2 + 8));
  EXPECT_EQ(p.links.size(), 4U);
}

TEST(Path, RefusesSharesThatDoNotAddUp) {
  const sim::LinkTable t = table();
  EXPECT_THROW(static_cast<void>(sim::combine_routes(t, {{{{link(0)}}, 1, 2}}, {})), sim::InternalError);
  EXPECT_THROW(static_cast<void>(sim::single_path(t, {link(9)}, {})), sim::InternalError);
}

TEST(Path, EmptyHasInfiniteRate) { EXPECT_TRUE(std::isinf(sim::rate_alone(table(), {}).bytes_per_s())); }

TEST(Fraction, IsExactOrRefused) {
  EXPECT_EQ((sim::Fraction{1, 6} + sim::Fraction{1, 10}), (sim::Fraction{4, 15}));
  EXPECT_EQ((sim::Fraction{4, 15} * sim::Fraction{5, 8}), (sim::Fraction{1, 6}));
  const sim::Fraction tiny{1, (1ULL << 40U) - 1};
  EXPECT_THROW(static_cast<void>(tiny * tiny), sim::InputError);
  EXPECT_THROW(static_cast<void>(sim::path_link(link(0), tiny)), sim::InputError);
}

}  // namespace
}  // namespace traingraph::topology::test
