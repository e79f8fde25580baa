// MaxMin on systems small enough to solve by hand: each states the system, then the answer and why.
#include "sim/max_min.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <vector>

namespace traingraph::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class System {
 public:
  explicit System(std::initializer_list<double> capacities) : paths_{false} {
    for (const double c : capacities) links_.push_back({Bandwidth::bytes_per_s(c), Duration{}});
    solver_.emplace_back(links_, paths_);
  }
  void flow(std::vector<PathLink> hops, std::uint32_t weight = 1, double cap = 0) {
    Path path;
    path.links = std::move(hops);
    solver().add(flows_++, paths_.add(path), weight, cap);
  }
  MaxMin& solver() { return solver_.front(); }
  std::vector<double> rates() {
    solver().solve();
    std::vector<double> rates;
    for (std::uint32_t f = 0; f < flows_; ++f) rates.push_back(solver().rate(f));
    return rates;
  }

 private:
  LinkTable links_;
  PathTable paths_;
  std::vector<MaxMin> solver_;
  std::uint32_t flows_ = 0;
};

PathLink on(std::uint32_t link, std::uint32_t n = 1, std::uint32_t k = 1) { return {static_cast<LinkId>(link), n, k}; }

using Rates = std::vector<double>;

TEST(MaxMin, EqualFlowsShareALinkEqually) {
  // One link of 12, three flows on it: 4 each.
  System s{12};
  for (int i = 0; i < 3; ++i) s.flow({on(0)});
  EXPECT_EQ(s.rates(), (Rates{4, 4, 4}));
  EXPECT_EQ(s.solver().load(LinkId{0}), 12);
}

TEST(MaxMin, AFlowThatIsHeldElsewhereLeavesItsShareToOthers) {
  // Links 10 and 4; A on both, B on the first. The second link holds A at 4; B takes the other 6.
  System s{10, 4};
  s.flow({on(0), on(1)});
  s.flow({on(0)});
  EXPECT_EQ(s.rates(), (Rates{4, 6}));
}

TEST(MaxMin, ParkingLot) {
  // Three links of 8 in a row; one long flow over all, and one short flow on the first, two on the second, three on the
  // third. The third saturates first (8/4 = 2), then the second with 8-2 = 6 for two (3 each), then the first with 8-2 = 6
  // for one.
  System s{8, 8, 8};
  s.flow({on(0), on(1), on(2)});
  s.flow({on(0)});
  for (int i = 0; i < 2; ++i) s.flow({on(1)});
  for (int i = 0; i < 3; ++i) s.flow({on(2)});
  EXPECT_EQ(s.rates(), (Rates{2, 6, 3, 3, 2, 2, 2}));
}

TEST(MaxMin, AFractionUsesItsShareOfALink) {
  // A is sprayed over links 0 and 1 (10 each), half of its bytes on each; B is on link 0 alone. Link 0 saturates when
  // r/2 + r = 10: r = 20/3 for both; link 1 carries 10/3.
  System s{10, 10};
  s.flow({on(0, 1, 2), on(1, 1, 2)});
  s.flow({on(0)});
  const Rates r = s.rates();
  EXPECT_DOUBLE_EQ(r[0], 20.0 / 3);
  EXPECT_DOUBLE_EQ(r[1], 20.0 / 3);
  EXPECT_DOUBLE_EQ(s.solver().load(LinkId{1}), 10.0 / 3);
}

TEST(MaxMin, AloneASprayedFlowIsFasterThanOneLink) {
  // Alone: min over links of capacity/fraction = min(6/(1/3), 10/(2/3)) = 15.
  System s{6, 10};
  s.flow({on(0, 1, 3), on(1, 2, 3)});
  EXPECT_DOUBLE_EQ(s.rates()[0], 15);
}

TEST(MaxMin, DenominatorsOfAllKindsShareALink) {
  // Shares 1/2, 1/3 and 1/6 of three flows on one link of 7: the weights add up to 1, so the common rate is 7.
  System s{7};
  s.flow({on(0, 1, 2)});
  s.flow({on(0, 1, 3)});
  s.flow({on(0, 1, 6)});
  for (const double r : s.rates()) EXPECT_DOUBLE_EQ(r, 7);
}

TEST(MaxMin, ALinkCrossedTwiceCountsTwice) {
  // Fraction 2/1 on a link of 10: the flow gets 5.
  System s{10};
  s.flow({on(0, 2, 1)});
  EXPECT_EQ(s.rates(), (Rates{5}));
}

TEST(MaxMin, WeightsScaleRatesNotLevels) {
  // One link of 12, weights 1, 2, 3: level 2, rates 2, 4, 6.
  System s{12};
  for (std::uint32_t w = 1; w <= 3; ++w) s.flow({on(0)}, w);
  EXPECT_EQ(s.rates(), (Rates{2, 4, 6}));
  EXPECT_EQ(s.solver().level(0), 2);
  EXPECT_EQ(s.solver().level(2), 2);
}

TEST(MaxMin, ACapFreezesAFlowAndOthersTakeTheRest) {
  // One link of 12, three flows, one capped at 2: the others get 5.
  System s{12};
  s.flow({on(0)}, 1, 2);
  s.flow({on(0)});
  s.flow({on(0)});
  EXPECT_EQ(s.rates(), (Rates{2, 5, 5}));
}

TEST(MaxMin, ACapThatIsNotReachedDoesNothing) {
  System s{12};
  s.flow({on(0)}, 1, 100);
  s.flow({on(0)}, 1, 6);  // reached at the very level at which the link saturates
  EXPECT_EQ(s.rates(), (Rates{6, 6}));
}

TEST(MaxMin, ACapIsOnTheRateNotOnTheLevel) {
  // Weight 4 and cap 4 on a link of 12, beside weight 1: the cap is reached at level 1, then the other takes 8.
  System s{12};
  s.flow({on(0)}, 4, 4);
  s.flow({on(0)});
  EXPECT_EQ(s.rates(), (Rates{4, 8}));
}

TEST(MaxMin, ALinkThatIsDownStopsItsFlowsOnly) {
  // Links 0 (down) and 1 (9): A on both stands, B and C on link 1 share it.
  System s{0, 9};
  s.flow({on(0), on(1)});
  s.flow({on(1)});
  s.flow({on(1)});
  EXPECT_EQ(s.rates(), (Rates{0, 4.5, 4.5}));
}

TEST(MaxMin, InfiniteLinksBoundNothing) {
  // An infinitely fast link; A on it alone is unbounded, B on it has a cap of 3, C also crosses a link of 5.
  System s{kInfinity, 5};
  s.flow({on(0)});
  s.flow({on(0)}, 1, 3);
  s.flow({on(0), on(1)});
  EXPECT_EQ(s.rates(), (Rates{kInfinity, 3, 5}));
}

TEST(MaxMin, AFlowWithoutLinksRunsAtItsCap) {
  System s{1};
  s.flow({}, 1, 7);
  s.flow({});
  EXPECT_EQ(s.rates(), (Rates{7, kInfinity}));
}

TEST(MaxMin, ChangesAreLocal) {
  // Two links without common flows: removing a flow of the first recomputes nothing on the second.
  System s{6, 6};
  s.flow({on(0)});
  s.flow({on(0)});
  s.flow({on(1)});
  EXPECT_EQ(s.rates(), (Rates{3, 3, 6}));
  s.solver().remove(0);
  s.solver().solve();
  EXPECT_EQ(s.solver().touched(), 1U);
  EXPECT_EQ(s.solver().changed(), 1U);
  ASSERT_EQ(s.solver().regraded().size(), 1U);
  EXPECT_EQ(s.solver().regraded()[0], 0U);
  EXPECT_EQ(s.solver().rate(1), 6);
  EXPECT_EQ(s.solver().rate(2), 6);
}

TEST(MaxMin, AChangeThatAltersNoRateReportsNone) {
  // A is held at 2 by link 1, so link 0 may grow from 5 to 50 without changing any rate.
  System s{5, 2};
  s.flow({on(0), on(1)});
  EXPECT_EQ(s.rates(), (Rates{2}));
  s.solver().set_capacity(LinkId{0}, 50);
  EXPECT_TRUE(s.solver().dirty());
  s.solver().solve();
  EXPECT_EQ(s.solver().changed(), 0U);
  EXPECT_TRUE(s.solver().moved().empty());
  EXPECT_FALSE(s.solver().dirty());
}

TEST(MaxMin, ACapacityMayBecomeAnything) {
  // Link 0 grows from 1 to 2^80, beyond any scale made for 1; A leaves 2^80 - 3 to B, which link 1 holds at 2^80 / 4.
  System s{1, 1};
  s.flow({on(0)}, 1, 3);
  s.flow({on(0), on(1)});
  EXPECT_EQ(s.rates(), (Rates{0.5, 0.5}));
  s.solver().set_capacity(LinkId{0}, 0x1p80);
  s.solver().set_capacity(LinkId{1}, 0x1p78);
  EXPECT_EQ(s.rates(), (Rates{3, 0x1p78}));
  s.solver().set_capacity(LinkId{0}, 1);
  EXPECT_EQ(s.rates(), (Rates{0.5, 0.5}));
}

TEST(MaxMin, ALinkComesBack) {
  System s{8};
  s.flow({on(0)});
  s.flow({on(0)});
  EXPECT_EQ(s.rates(), (Rates{4, 4}));
  s.solver().set_capacity(LinkId{0}, 0);
  EXPECT_EQ(s.rates(), (Rates{0, 0}));
  EXPECT_EQ(s.solver().load(LinkId{0}), 0);
  s.solver().set_capacity(LinkId{0}, 2);
  EXPECT_EQ(s.rates(), (Rates{1, 1}));
}

TEST(MaxMin, ALinkWithoutFlowsCarriesNothing) {
  System s{8};
  s.flow({on(0)});
  EXPECT_EQ(s.rates(), (Rates{8}));
  s.solver().remove(0);
  s.solver().solve();
  EXPECT_EQ(s.solver().load(LinkId{0}), 0);
}

}  // namespace
}  // namespace traingraph::sim
