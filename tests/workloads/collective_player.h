// A reference player of TransferSources for tests: it obeys the rules of sim/transfer_source.h and nothing else. Among all
// actions that the rules allow (start a send, let one leave the wire, let one arrive) it takes a random one, so a source
// that works for many seeds does not rely on any order of events. Messages on one lane may overtake each other only as far
// as a network that keeps the order of a connection allows: they arrive in the order in which they were sent.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "sim/transfer_source.h"

namespace traingraph::workloads {

class CollectivePlayer {
 public:
  using Payload = std::vector<std::uint64_t>;
  struct Hooks {
    /// What the message carries: called when it starts.
    std::function<Payload(std::uint32_t member, std::uint32_t lane, std::uint32_t number, const sim::Send& send)> start =
        [](auto, auto, auto, const auto&) { return Payload{}; };
    std::function<void(std::uint32_t member, std::uint32_t lane, std::uint32_t number, const sim::Send& send,
                       const Payload&)>
        arrive = [](auto, auto, auto, const auto&, const auto&) {};
  };

  explicit CollectivePlayer(const sim::TransferSource& source) : source_{source}, member_of_lane_(source.lanes()) {
    for (std::uint32_t m = 0; m < source.members(); ++m) {
      for (std::uint32_t l = source.first_lane(m); l < source.first_lane(m + 1); ++l) member_of_lane_[l] = m;
    }
  }

  [[nodiscard]] std::uint32_t member_of_lane(std::uint32_t lane) const { return member_of_lane_[lane]; }

  /// Plays to the end and checks that every inbox got exactly what it expects. Returns the number of sends.
  std::uint64_t play(std::uint32_t seed, const Hooks& hooks) {
    std::mt19937 random{seed};
    std::vector<std::uint32_t> arrived(source_.inboxes(), 0);
    std::vector<State> lanes(source_.lanes());
    std::uint64_t sends = 0;
    while (true) {
      // Every lane that can do something, with what it can do.
      std::vector<std::pair<std::uint32_t, Action>> actions;
      for (std::uint32_t l = 0; l < source_.lanes(); ++l) {
        if (can_start(l, lanes[l], arrived)) actions.emplace_back(l, Action::start);
        if (lanes[l].on_wire) actions.emplace_back(l, Action::leave);
        if (lanes[l].in_flight.size() > (lanes[l].on_wire ? 1U : 0U)) actions.emplace_back(l, Action::arrive);
      }
      if (actions.empty()) break;
      const auto [l, action] = actions[random() % actions.size()];
      State& lane = lanes[l];
      if (action == Action::start) {
        const sim::Send send = source_.send(l, lane.next);
        lane.in_flight.push_back({lane.next, send, hooks.start(member_of_lane_[l], l, lane.next, send)});
        lane.on_wire = true;
        ++lane.next;
        ++sends;
      } else if (action == Action::leave) {
        lane.on_wire = false;
      } else {
        const Message message = lane.in_flight.front();
        lane.in_flight.pop_front();
        hooks.arrive(member_of_lane_[l], l, message.number, message.send, message.payload);
        if (message.send.to_all) {
          for (std::uint32_t& count : arrived) ++count;
        } else {
          ++arrived[message.send.inbox];
        }
      }
    }
    for (std::uint32_t l = 0; l < source_.lanes(); ++l) {
      EXPECT_EQ(lanes[l].next, source_.sends(l)) << "lane " << l << " is blocked";
    }
    for (std::uint32_t i = 0; i < source_.inboxes(); ++i) EXPECT_EQ(arrived[i], source_.expected(i)) << "inbox " << i;
    return sends;
  }

 private:
  enum class Action { start, leave, arrive };
  struct Message {
    std::uint32_t number;
    sim::Send send;
    Payload payload;
  };
  struct State {
    std::uint32_t next = 0;
    bool on_wire = false;
    std::deque<Message> in_flight;
  };

  [[nodiscard]] bool can_start(std::uint32_t l, const State& lane, const std::vector<std::uint32_t>& arrived) const {
    if (lane.next >= source_.sends(l) || lane.on_wire) return false;
    if (source_.stop_and_wait() && !lane.in_flight.empty()) return false;
    const sim::Needs needs = source_.needs(l, lane.next);
    for (std::uint32_t i = 0; i < needs.size; ++i) {
      if (arrived[needs.need[i].inbox] < needs.need[i].count) return false;
    }
    return true;
  }

  const sim::TransferSource& source_;
  std::vector<std::uint32_t> member_of_lane_;
};

}  // namespace traingraph::workloads
