// The event queue: its total order, and handles that are always safe.
#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "tests/sim/property.h"

namespace traingraph::sim::tests {
namespace {

TEST(EventQueue, ComesOutInOrderOfTime) {
  EventQueue q;
  q.push(Time::at(3_us), EventKind::arrival, 0, 3);
  q.push(Time::at(1_us), EventKind::arrival, 0, 1);
  q.push(Time::at(2_us), EventKind::arrival, 0, 2);
  for (const std::uint32_t payload : {1U, 2U, 3U}) {
    EXPECT_EQ(q.next_time(), Time::at(payload * 1_us));
    EXPECT_EQ(q.pop().payload, payload);
  }
  EXPECT_TRUE(q.empty());
}

TEST(EventQueue, AtOneInstantKindDecidesThenPlace) {
  EventQueue q;
  q.push(Time::at(1_us), EventKind::transfer_begin, 0, 5);
  q.push(Time::at(1_us), EventKind::arrival, 9, 3);
  q.push(Time::at(1_us), EventKind::link_change, 4, 1);
  q.push(Time::at(1_us), EventKind::arrival, 2, 2);
  q.push(Time::at(1_us), EventKind::collective_end, 0, 4);
  for (const std::uint32_t payload : {1U, 2U, 3U, 4U, 5U}) EXPECT_EQ(q.pop().payload, payload);
}

TEST(EventQueue, KindsKeepTheirOrder) {
  // Capacities change before transfers end, ends before arrivals, arrivals before operations that they release.
  static_assert(EventKind::link_change < EventKind::model && EventKind::model < EventKind::arrival &&
                EventKind::arrival < EventKind::compute_end && EventKind::compute_end < EventKind::collective_end &&
                EventKind::collective_end < EventKind::transfer_begin);
  EventQueue q;
  q.push(Time::zero(), EventKind::model, 0xffffffff, 0);
  const Event e = q.pop();
  EXPECT_EQ(e.kind(), EventKind::model);
}

TEST(EventQueue, ACancelledEventDoesNotFire) {
  EventQueue q;
  const EventHandle gone = q.push(Time::at(1_us), EventKind::model, 0, 1);
  q.push(Time::at(2_us), EventKind::model, 0, 2);
  EXPECT_TRUE(q.pending(gone));
  EXPECT_TRUE(q.cancel(gone));
  EXPECT_FALSE(q.pending(gone));
  EXPECT_EQ(q.next_time(), Time::at(2_us));
  EXPECT_EQ(q.pop().payload, 2U);
  EXPECT_TRUE(q.empty());
}

TEST(EventQueue, HandlesAreAlwaysSafe) {
  EventQueue q;
  EXPECT_FALSE(q.cancel(EventHandle{}));  // of nothing
  const EventHandle fired = q.push(Time::at(1_us), EventKind::model, 0, 1);
  static_cast<void>(q.pop());
  EXPECT_FALSE(q.cancel(fired));
  const EventHandle twice = q.push(Time::at(1_us), EventKind::model, 0, 2);
  EXPECT_TRUE(q.cancel(twice));
  EXPECT_FALSE(q.cancel(twice));
  EXPECT_TRUE(q.empty());
  // Its slot serves another event now: the old handles must not reach it.
  const EventHandle fresh = q.push(Time::at(1_us), EventKind::model, 0, 3);
  EXPECT_FALSE(q.cancel(fired));
  EXPECT_FALSE(q.cancel(twice));
  EXPECT_TRUE(q.pending(fresh));
}

TEST(EventQueue, AgreesWithASortedSet) {
  // A multimap by (time, kind, place) is the model; few distinct times, kinds and places, so that ties are common.
  check_property(300, [] {
    const auto actions = *rc::gen::inRange<std::uint32_t>(1, 400);
    Dice dice = draw_dice();
    using Key = std::tuple<Time, EventKind, std::uint32_t>;
    EventQueue q;
    std::multimap<Key, std::uint32_t> model;
    std::vector<std::pair<EventHandle, std::uint32_t>> handles;
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < actions; ++i) {
      const double what = dice.uniform(0, 1);
      if (what < 0.5) {
        const Key key{Time::at(dice.below(6) * 1_us), static_cast<EventKind>(dice.below(6)), dice.below(3)};
        handles.emplace_back(q.push(std::get<0>(key), std::get<1>(key), std::get<2>(key), next), next);
        model.emplace(key, next++);
      } else if (what < 0.7 && !handles.empty()) {
        const auto [handle, payload] = dice.pick(handles);
        const auto at = std::find_if(model.begin(), model.end(), [&](const auto& e) { return e.second == payload; });
        RC_ASSERT(q.pending(handle) == (at != model.end()));
        RC_ASSERT(q.cancel(handle) == (at != model.end()));
        if (at != model.end()) model.erase(at);
      } else {
        RC_ASSERT(q.empty() == model.empty());
        if (model.empty()) continue;
        RC_ASSERT(q.next_time() == std::get<0>(model.begin()->first));
        const Event e = q.pop();
        const auto [first, last] = model.equal_range(model.begin()->first);  // equal keys in any order
        const auto at = std::find_if(first, last, [&](const auto& entry) { return entry.second == e.payload; });
        RC_ASSERT(at != last);
        RC_ASSERT(e.kind() == std::get<1>(at->first));
        model.erase(at);
      }
    }
    std::set<std::uint32_t> left;
    while (!q.empty()) left.insert(q.pop().payload);
    RC_ASSERT(left.size() == model.size());
    for (const auto& [key, payload] : model) RC_ASSERT(left.contains(payload));
  });
}

}  // namespace
}  // namespace traingraph::sim::tests
