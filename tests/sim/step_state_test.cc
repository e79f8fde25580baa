// Which sends of a collective may start, told event by event.
#include "sim/step_state.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/sim/sources.h"

namespace traingraph::sim::tests {
namespace {

using Posted = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // lane, number

class Steps {
 public:
  explicit Steps(const TransferSource& source) { state.reset(source); }
  Posted enter(std::uint32_t member) {
    return collect([&](auto post) {
      state.mark_entered(member);
      state.begin(member, post);
    });
  }
  Posted left(std::uint32_t lane) {
    return collect([&](auto post) { state.left(lane, post); });
  }
  Posted arrived(std::uint32_t lane, std::uint32_t inbox) {
    return collect([&](auto post) { state.arrived(lane, inbox, post); });
  }
  StepState state;

 private:
  template <class Act>
  Posted collect(Act act) {
    Posted posted;
    act([&](std::uint32_t lane, std::uint32_t number) { posted.emplace_back(lane, number); });
    return posted;
  }
};

TEST(StepState, ARingForwardsWhatHasArrivedOnceItsOwnSendHasLeft) {
  const Ring ring{3, 4, Bytes{1}};
  Steps s{ring};
  EXPECT_EQ(s.enter(0), (Posted{{0, 0}}));
  EXPECT_EQ(s.arrived(2, 0), Posted{});    // there, but the lane is still sending
  EXPECT_EQ(s.left(0), (Posted{{0, 1}}));  // now
  EXPECT_EQ(s.left(0), Posted{});          // nothing to forward yet
  EXPECT_EQ(s.arrived(2, 0), (Posted{{0, 2}}));
}

TEST(StepState, WithStopAndWaitTheArrivalFreesTheLane) {
  const Ring ring{3, 4, Bytes{1}, true};
  Steps s{ring};
  EXPECT_EQ(s.enter(0), (Posted{{0, 0}}));
  EXPECT_EQ(s.arrived(2, 0), Posted{});
  EXPECT_EQ(s.left(0), Posted{});
  EXPECT_EQ(s.arrived(0, 1), (Posted{{0, 1}}));
}

TEST(StepState, WhatArrivesBeforeTheEntryIsKept) {
  const Chain chain{3, 2, Bytes{2}};
  Steps s{chain};
  EXPECT_EQ(s.enter(0), (Posted{{0, 0}}));
  EXPECT_EQ(s.left(0), (Posted{{0, 1}}));
  EXPECT_EQ(s.arrived(0, 1), Posted{});  // member 1 has not entered
  EXPECT_EQ(s.enter(1), (Posted{{1, 0}}));
}

TEST(StepState, AMemberHasFinishedWhenItsSendsHaveLeftAndItsInboxesAreFull) {
  const Chain chain{3, 1, Bytes{2}};
  Steps s{chain};
  s.enter(0);
  EXPECT_FALSE(s.state.finished(0));
  s.left(0);
  EXPECT_TRUE(s.state.finished(0));  // the root receives nothing
  s.arrived(0, 1);
  EXPECT_FALSE(s.state.finished(1));  // not entered, and its piece not sent on
  s.enter(1);
  s.left(1);
  EXPECT_TRUE(s.state.finished(1));
  s.arrived(1, 2);
  EXPECT_FALSE(s.state.finished(2));
  s.enter(2);
  EXPECT_TRUE(s.state.finished(2));
}

TEST(StepState, AReductionInTheSwitchStartsWithTheLastMember) {
  const InSwitch source{3, Bytes{1}};
  Steps s{source};
  EXPECT_EQ(s.enter(0), Posted{});
  EXPECT_EQ(s.enter(2), Posted{});
  EXPECT_EQ(s.enter(1), (Posted{{0, 0}}));
}

TEST(StepState, ResetForgetsEverything) {
  const Ring ring{3, 4, Bytes{1}};
  Steps s{ring};
  s.enter(0);
  s.arrived(2, 0);
  s.state.reset(ring);
  EXPECT_EQ(s.state.entered_count(), 0U);
  EXPECT_EQ(s.enter(0), (Posted{{0, 0}}));
  EXPECT_EQ(s.left(0), Posted{});
}

}  // namespace
}  // namespace traingraph::sim::tests
