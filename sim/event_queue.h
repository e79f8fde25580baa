// The queue of pending events. Simulated collectives make many events at few instants, so what is ordered by time are the
// instants: a Boost d-ary heap (arity 4, immutable) of instants, each with the list of its events. The events of one instant
// are put in order when it comes. An event finds its instant through a small table of instants used of late; where that
// fails, a second entry of the same time stands in the heap, and both are merged when their time comes.
//
// Order: (time, kind, place), where place is the acting task's place in its rank's program. Events that agree in all three
// commute by construction of the engine, so neither ids nor addresses nor the order of insertion decide anything.
// Handles are always safe: {slot, generation}. cancel() of an event that has fired or was cancelled returns false.
// Cost: push and pop O(1) for an event of a known instant, else O(log instants); cancel O(1). Not thread-safe.
#pragma once

#include <algorithm>
#include <boost/heap/d_ary_heap.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/units.h"

namespace traingraph::sim {

/// Kinds of one instant, in the order in which they are handled.
enum class EventKind : std::uint8_t {
  link_change,     ///< payload: index of the change
  model,           ///< the network model's own: a transfer's end, a chunk's end
  arrival,         ///< payload: transfer
  compute_end,     ///< payload: rank stream
  collective_end,  ///< payload: instance
  member_end,      ///< payload: rank stream, whose collective ends for it
  transfer_begin,  ///< payload: transfer, its overhead is over
};

struct EventHandle {
  std::uint32_t slot = 0xffffffff;
  std::uint32_t generation = 0;
};

struct Event {
  Time time;
  std::uint64_t order = 0;  ///< kind << 56 | place
  std::uint32_t payload = 0;

  [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(order >> 56); }
};

class EventQueue {
 public:
  EventQueue() : recent_(kRecent, 0), instants_(1) {}

  EventHandle push(Time time, EventKind kind, std::uint32_t place, std::uint32_t payload) {
    const std::uint32_t slot = take_slot();
    Slot& s = slots_[slot];
    s.order = static_cast<std::uint64_t>(kind) << 56 | place;
    s.payload = payload;
    s.live = true;
    s.instant = kNone;
    ++live_;
    if (batch_is_open()) {
      if (time == batch_time_) {  // the instant that is being handled
        late_.push_back({s.order, slot});
        std::push_heap(late_.begin(), late_.end(), std::greater<>{});
        return {slot, s.generation};
      }
      if (time < batch_time_) close_batch();
    }
    append(instant_at(time), slot);
    return {slot, s.generation};
  }

  /// True if the event was pending and will now not fire.
  bool cancel(EventHandle handle) {
    if (!pending(handle)) return false;
    Slot& s = slots_[handle.slot];
    s.live = false;
    ++s.generation;
    --live_;
    if (s.instant != kNone) --instants_[s.instant].live;
    return true;
  }

  [[nodiscard]] bool pending(EventHandle handle) const {
    return handle.slot < slots_.size() && slots_[handle.slot].live && slots_[handle.slot].generation == handle.generation;
  }

  [[nodiscard]] bool empty() const { return live_ == 0; }

  /// REQUIRES: !empty().
  [[nodiscard]] Time next_time() {
    drop_cancelled();
    return batch_is_open() ? batch_time_ : heap_.top().time;
  }

  /// Takes the first event. REQUIRES: !empty().
  Event pop() {
    drop_cancelled();
    return take_first();
  }

  /// Takes the first event into `event` if it is one of the instant `now`.
  [[nodiscard]] bool pop_at(Time now, Event& event) {
    if (live_ == 0) return false;
    drop_cancelled();
    if (batch_is_open() ? batch_time_ != now : heap_.top().time != now) return false;
    event = take_first();
    return true;
  }

  void reserve(std::size_t n) { slots_.reserve(n); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kRecent = 1024;  // a power of two
  struct Slot {
    std::uint64_t order = 0;
    std::uint32_t payload = 0;
    std::uint32_t next = kNone;     // in its instant's list, or in the list of free slots
    std::uint32_t instant = kNone;  // none while its instant is being handled
    std::uint32_t generation = 0;
    bool live = false;
  };
  struct Instant {
    Time time = Time::never();  // never: not in use
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t live = 0;
  };
  struct Pending {
    Time time;
    std::uint32_t instant = 0;
  };
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const { return a.time > b.time; }
  };
  struct Place {
    std::uint64_t order = 0;
    std::uint32_t slot = 0;
    bool operator>(const Place& o) const { return order > o.order; }
    bool operator<(const Place& o) const { return order < o.order; }
  };

  [[nodiscard]] bool batch_is_open() const { return next_ < batch_.size() || !late_.empty(); }

  std::uint32_t take_slot() {
    if (free_ == kNone) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_;
    free_ = slots_[slot].next;
    return slot;
  }
  void release(std::uint32_t slot) {
    slots_[slot].next = free_;
    free_ = slot;
  }

  std::uint32_t instant_at(Time time) {
    const auto ps = static_cast<std::uint64_t>(time.count_ps());
    std::uint32_t& recent = recent_[(ps * 0x9e3779b97f4a7c15ULL >> 40) & (kRecent - 1)];
    if (instants_[recent].time == time && instants_[recent].first != kNone) return recent;
    if (free_instants_.empty()) {
      recent = static_cast<std::uint32_t>(instants_.size());
      instants_.emplace_back();
    } else {
      recent = free_instants_.back();
      free_instants_.pop_back();
    }
    instants_[recent].time = time;
    heap_.push({time, recent});
    return recent;
  }
  void append(std::uint32_t instant, std::uint32_t slot) {
    Instant& i = instants_[instant];
    slots_[slot].instant = instant;
    slots_[slot].next = kNone;
    (i.first == kNone ? i.first : slots_[i.last].next) = slot;
    i.last = slot;
    ++i.live;
  }
  void close_instant(std::uint32_t instant) {
    instants_[instant] = Instant{};
    free_instants_.push_back(instant);
  }

  std::uint32_t pop_late() {
    std::pop_heap(late_.begin(), late_.end(), std::greater<>{});
    const std::uint32_t slot = late_.back().slot;
    late_.pop_back();
    return slot;
  }

  /// REQUIRES: a living event in front (drop_cancelled()).
  Event take_first() {
    if (!batch_is_open()) open_batch();
    std::uint32_t slot;
    if (next_ < batch_.size() && (late_.empty() || !(batch_[next_] > late_.front()))) {
      slot = batch_[next_++].slot;
    } else {
      slot = pop_late();
    }
    const Event event{batch_time_, slots_[slot].order, slots_[slot].payload};
    slots_[slot].live = false;
    ++slots_[slot].generation;
    --live_;
    release(slot);
    return event;
  }

  /// Leaves a living event in front, of the batch or of the heap.
  void drop_cancelled() {
    while (next_ < batch_.size() && !slots_[batch_[next_].slot].live) release(batch_[next_++].slot);
    while (!late_.empty() && !slots_[late_.front().slot].live) release(pop_late());
    if (batch_is_open()) return;
    while (!heap_.empty() && instants_[heap_.top().instant].live == 0) {
      const std::uint32_t instant = heap_.top().instant;
      heap_.pop();
      for (std::uint32_t slot = instants_[instant].first; slot != kNone;) {
        const std::uint32_t next = slots_[slot].next;
        release(slot);
        slot = next;
      }
      close_instant(instant);
    }
  }

  /// The events of the first instant become the batch, in order.
  void open_batch() {
    batch_.clear();
    next_ = 0;
    batch_time_ = heap_.top().time;
    while (!heap_.empty() && heap_.top().time == batch_time_) {
      const std::uint32_t instant = heap_.top().instant;
      heap_.pop();
      for (std::uint32_t slot = instants_[instant].first; slot != kNone;) {
        Slot& s = slots_[slot];
        const std::uint32_t next = s.next;
        s.instant = kNone;
        if (s.live) {
          batch_.push_back({s.order, slot});
        } else {
          release(slot);
        }
        slot = next;
      }
      close_instant(instant);
    }
    if (!std::is_sorted(batch_.begin(), batch_.end())) std::stable_sort(batch_.begin(), batch_.end());
  }

  /// An event before the batch has come: the batch waits in the heap again.
  void close_batch() {
    const std::uint32_t instant = instant_at(batch_time_);
    for (; next_ < batch_.size(); ++next_) put_back(instant, batch_[next_].slot);
    while (!late_.empty()) put_back(instant, pop_late());
  }
  void put_back(std::uint32_t instant, std::uint32_t slot) {
    if (slots_[slot].live) {
      append(instant, slot);
    } else {
      release(slot);
    }
  }

  boost::heap::d_ary_heap<Pending, boost::heap::arity<4>, boost::heap::compare<Later>> heap_;
  std::vector<std::uint32_t> recent_;  // instants, by a hash of their time
  std::vector<Instant> instants_;
  std::vector<std::uint32_t> free_instants_;
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNone;
  std::size_t live_ = 0;

  // The instant that is being handled.
  Time batch_time_;
  std::vector<Place> batch_;
  std::size_t next_ = 0;     // of batch_
  std::vector<Place> late_;  // a heap: events that came while the instant was being handled
};

}  // namespace traingraph::sim
