// StepState: the state of one collective that is played step by step: O(lanes + inboxes).
//
// It answers one question: which sends may start now? The rules are those of transfer_source.h. Lanes that wait for an inbox
// are listed at it, and woken when its count reaches the smallest count that any of them needs. The caller owns time: it
// tells the state what has happened and receives, through `post(lane, number)`, what may start. Used by the engine and by
// alone_time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/transfer_source.h"

namespace traingraph::sim {

class StepState {
 public:
  /// Makes the state ready for a fresh instance; keeps its memory.
  void reset(const TransferSource& source) {
    source_ = &source;
    stop_and_wait_ = source.stop_and_wait();
    entered_.assign(source.members(), 0);
    entered_count_ = 0;
    remaining_.assign(source.members(), 0);
    lanes_.assign(source.lanes(), Lane{});
    inboxes_.assign(source.inboxes(), Inbox{});
    for (std::uint32_t m = 0; m < source.members(); ++m) {
      for (std::uint32_t i = source.first_lane(m); i < source.first_lane(m + 1); ++i) remaining_[m] += source.sends(i);
      for (std::uint32_t b = source.first_inbox(m); b < source.first_inbox(m + 1); ++b) {
        remaining_[m] += source.expected(b);
        inboxes_[b].member = m;
      }
      for (std::uint32_t i = source.first_lane(m); i < source.first_lane(m + 1); ++i) lanes_[i].member = m;
    }
  }

  [[nodiscard]] bool entered(std::uint32_t member) const { return entered_[member] != 0; }
  [[nodiscard]] std::uint32_t entered_count() const { return entered_count_; }
  /// The member has entered, all its sends have left, and all its inboxes are full.
  [[nodiscard]] bool finished(std::uint32_t member) const { return entered(member) && remaining_[member] == 0; }

  /// Marks the entry without starting anything (bulk play, or the mode is not decided yet).
  void mark_entered(std::uint32_t member) {
    entered_[member] = 1;
    ++entered_count_;
  }
  /// Starts what a member that has entered may start.
  template <class Post>
  void begin(std::uint32_t member, Post&& post) {
    if (source_->starts_together()) {
      if (entered_count_ < source_->members()) return;
      for (std::uint32_t i = 0; i < lanes_.size(); ++i) try_lane(i, post);
      return;
    }
    for (std::uint32_t i = source_->first_lane(member); i < source_->first_lane(member + 1); ++i) try_lane(i, post);
  }

  /// The lane's transfer has left the wire. Returns the sending member.
  template <class Post>
  std::uint32_t left(std::uint32_t lane, Post&& post) {
    Lane& l = lanes_[lane];
    --remaining_[l.member];
    if (!stop_and_wait_) {
      l.sending = false;
      try_lane(lane, post);
    }
    return l.member;
  }

  /// A transfer of `lane` has arrived in `inbox`. Returns the receiving member.
  template <class Post>
  std::uint32_t arrived(std::uint32_t lane, std::uint32_t inbox, Post&& post) {
    count_arrival(inbox, post);
    if (stop_and_wait_) {
      lanes_[lane].sending = false;
      try_lane(lane, post);
    }
    return inboxes_[inbox].member;
  }

  [[nodiscard]] std::uint32_t lane_member(std::uint32_t lane) const { return lanes_[lane].member; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Lane {
    std::uint32_t member = 0;
    std::uint32_t next = 0;             // number of the next send
    std::uint32_t next_waiter = kNone;  // in the list of the inbox it waits for
    std::uint32_t wanted = 0;           // the count it waits for
    bool sending = false;
    bool waiting = false;
  };
  struct Inbox {
    std::uint32_t member = 0;
    std::uint32_t count = 0;
    std::uint32_t waiters = kNone;
    std::uint32_t wake_at = kNone;  // smallest count wanted by a waiter
  };

  template <class Post>
  void try_lane(std::uint32_t lane, Post&& post) {
    Lane& l = lanes_[lane];
    if (l.sending || l.waiting || !entered(l.member) || l.next == source_->sends(lane)) return;
    const Needs needs = source_->needs(lane, l.next);
    for (std::uint32_t i = 0; i < needs.size; ++i) {
      Inbox& inbox = inboxes_[needs.need[i].inbox];
      if (inbox.count >= needs.need[i].count) continue;
      l.waiting = true;
      l.wanted = needs.need[i].count;
      l.next_waiter = inbox.waiters;
      inbox.waiters = lane;
      inbox.wake_at = std::min(inbox.wake_at, l.wanted);
      return;
    }
    l.sending = true;
    post(lane, l.next++);
  }

  template <class Post>
  void count_arrival(std::uint32_t inbox_index, Post&& post) {
    Inbox& inbox = inboxes_[inbox_index];
    ++inbox.count;
    --remaining_[inbox.member];
    if (inbox.count < inbox.wake_at) return;
    std::uint32_t lane = inbox.waiters;
    inbox.waiters = kNone;
    inbox.wake_at = kNone;
    while (lane != kNone) {
      Lane& l = lanes_[lane];
      const std::uint32_t next = l.next_waiter;
      if (l.wanted > inbox.count) {
        l.next_waiter = inbox.waiters;
        inbox.waiters = lane;
        inbox.wake_at = std::min(inbox.wake_at, l.wanted);
      } else {
        l.waiting = false;
        try_lane(lane, post);
      }
      lane = next;
    }
  }

  const TransferSource* source_ = nullptr;
  bool stop_and_wait_ = false;
  std::uint32_t entered_count_ = 0;
  std::vector<std::uint8_t> entered_;
  std::vector<std::uint32_t> remaining_;  // by member: sends to leave plus arrivals to come
  std::vector<Lane> lanes_;
  std::vector<Inbox> inboxes_;
};

}  // namespace traingraph::sim
